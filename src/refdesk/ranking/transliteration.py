"""One word in Persian or Latin script in -> the consonant keys it shares with its spellings out.

Persian writes a foreign word by its sound and leaves most short vowels out, so what both scripts
keep is the order of consonants: داکر and docker are both `dkr`, دیپلوی and deploy are `dpl`. The
keys follow from how Persian hears English letters; no list of words stands behind them. Where a
letter has two sounds (c, g, w, و) a word has several keys. `likeness` then compares the vowels.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Final

_MOST_KEYS: Final = 5
_MOST_SOUNDS: Final = 12

_PERSIAN: Final = {
    # Letters that only words of Arabic origin have (ح خ ذ ص ض ظ ع) write no foreign word.
    **dict(zip("بپتطثسجچهدزرژشغقفکگلمن", "bpttssjChdzrjSggfkglmn", strict=True)),
    "و": "w",  # a vowel or v
    "ی": "y",  # a vowel or y
    "ا": "a",
}
_LATIN_RULES: Final = (
    # Letters -> sounds; the first rule that matches at a place is taken. A sound is written as one
    # of the codes above; "|" parts the sounds a spelling may have.
    (r"tch", ("C",)),
    (r"sch(?=[aeo])", ("sk", "S")),
    (r"ch", ("C", "k", "S")),
    (r"sh", ("S",)),
    (r"ph", ("f",)),
    (r"(?<=[aeiou])gh(?=t|$)", ("", "f")),
    (r"gh", ("g",)),
    (r"th", ("t", "s", "th", "d")),
    (r"wh", ("w", "h")),
    (r"ck", ("k",)),
    (r"^dj", ("j",)),
    (r"^kn", ("n",)),
    (r"^wr", ("r",)),
    (r"^ps", ("s",)),
    (r"ssion", ("Sen",)),
    (r"[ts]ion", ("Sen", "jen")),
    (r"ture", ("Cer",)),
    (r"sure", ("jer", "Sr")),
    (r"cc(?=[eiy])", ("ks",)),
    (r"sc(?=[eiy])", ("s",)),
    (r"c(?=[eiy])", ("s",)),
    (r"[cq]", ("k",)),
    (r"dge?", ("j", "dg")),
    (r"g(?=[eiy])", ("g", "j")),
    (r"^x", ("z",)),
    (r"(?<=[^aeiouy])x$", ("aks",)),
    (r"x", ("ks",)),
    (r"s(?=ual)", ("j",)),
    (r"d(?=ule|ual)", ("j", "d")),
    (r"(?<=[aeiouylmnrdgbvw])s$|(?<=[aeiouyw])s(?=[aeiouy])|s(?=m)", ("s", "z")),
    (r"s", ("s",)),
    (r"w", ("w",)),
    (r"v", ("v",)),
    (r"[bdfhjklmnprtz]", None),
    (r"g", ("g",)),
    (r"[aeiouy]", None),
)
_LATIN: Final = re.compile("|".join(f"({rule})" for rule, _ in _LATIN_RULES))
_LATIN_WORD: Final = re.compile(r"(?=[a-z]*[aeiouy])[a-z]{2,24}\Z")
_PERSIAN_WORD: Final = re.compile(f"[{''.join(_PERSIAN)}]{{2,24}}\\Z")
_VOWELS: Final = "aeiouyw"
_NO_VOWELS: Final = str.maketrans("", "", _VOWELS)
_REPEAT: Final = re.compile(r"([a-zA-Z])\1+")


def is_latin(word: str) -> bool:
    """Whether the folded word is of Latin letters and pronounced, not spelled out (html)."""
    return bool(_LATIN_WORD.match(word))


def is_persian(word: str) -> bool:
    """Whether the folded word is of Persian letters that may write a foreign word."""
    return bool(_PERSIAN_WORD.match(word))


def keys(word: str) -> tuple[str, ...]:
    """Consonant keys of a folded word, the likeliest first; () when it has none of two sounds.

    At most five. Words of the two scripts that sound alike share at least one.
    """
    found: dict[str, None] = {}
    for sound in _sounds(word):
        key = _key(sound)
        if len(key) >= 2:
            found[key] = None
    return tuple(islice(found, _MOST_KEYS))


def likeness(persian: str, latin: str) -> float:
    """How well the vowels of two folded words with a common key agree: 1.0 fully, 0.0 not at all.

    Persian may leave a short vowel out between consonants, never at either end of a word; it
    writes none where the foreign word has none, except before a first cluster (استرپی: strapi).
    """
    return max(
        (_agreement(a, b) for a in _sounds(persian) for b in _sounds(latin) if _key(a) == _key(b)),
        default=0.0,
    )


def spelled_out(words: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Runs of two or more spoken letter names: (first, end, the abbreviations they may spell).

    سی ال آی gives ("cli",), ای پی آی gives ("api", "epi"). `words` are folded Persian words.
    """
    start = 0
    while start < len(words):
        end = start
        while end < len(words) and words[end] in _NAMES and end - start < 6:
            end += 1
        if end - start >= 2:
            spellings = product(*(_NAMES[word] for word in words[start:end]))
            yield start, end, tuple("".join(letters) for letters in islice(spellings, 8))
        start = max(end, start + 1)


_NAMES: Final = {
    name: letters
    for names, letters in (
        ("ای", "ae"),
        ("بی", "b"),
        ("سی", "c"),
        ("دی", "d"),
        ("اف", "f"),
        ("جی", "gj"),
        ("اچ ایچ هاش", "h"),
        ("ای", "aei"),
        ("کی کا", "k"),
        ("ال", "l"),
        ("ام", "m"),
        ("ان", "n"),
        ("او", "o"),
        ("پی", "p"),
        ("کیو", "q"),
        ("ار", "r"),
        ("اس", "s"),
        ("تی", "t"),
        ("یو", "u"),
        ("وی", "v"),
        ("دبلیو دابلیو", "w"),
        ("ایکس اکس", "x"),
        ("وای", "y"),
        ("زد زی", "z"),
        ("زیرو", "0"),
        ("وان", "1"),
        ("تو", "2"),
        ("تری", "3"),
        ("فور", "4"),
        ("فایو", "5"),
        ("سیکس", "6"),
        ("سون", "7"),
        ("ایت", "8"),
        ("ناین", "9"),
    )
    for name in names.split()
}


@lru_cache(maxsize=8192)
def _sounds(word: str) -> tuple[str, ...]:
    if _LATIN_WORD.match(word):
        return _latin_sounds(word)
    if _PERSIAN_WORD.match(word):
        return _persian_sounds(word)
    return ()


def _persian_sounds(word: str) -> tuple[str, ...]:
    heard = "".join(_PERSIAN[letter] for letter in word)
    if heard.endswith("h") and len(heard) > 2:
        heard = heard[:-1] + "e"  # a final heh is a vowel: کوکیه, مقاله
    vs = [place for place, sound in enumerate(heard) if sound == "w"]
    choices = [("v",) if place == 0 else ("w", "v") for place in vs[:2]]
    found = []
    for choice in product(*choices):
        letters = list(heard)
        for place, sound in zip(vs, choice, strict=False):
            letters[place] = sound
        found.append("".join(letters))
    return tuple(found)


def _latin_sounds(word: str) -> tuple[str, ...]:
    parts = [
        _LATIN_RULES[(match.lastindex or 1) - 1][1] or (match.group(),)
        for match in _LATIN.finditer(word)
    ]
    found = ["".join(choice) for choice in islice(product(*parts), _MOST_SOUNDS)]
    return tuple(dict.fromkeys([_REPEAT.sub(r"\1", sound) for sound in found]))


def _key(sound: str) -> str:
    """The consonants; w counts where it begins the word, a final or inner one is a vowel."""
    if sound.startswith("w"):
        sound = "v" + sound[1:]
    return sound.translate(_NO_VOWELS)


def _slots(sound: str) -> list[str]:
    """The vowels before, between and behind the consonants of `sound`."""
    slots = [""]
    for place, letter in enumerate(sound):
        if letter in _VOWELS and not (letter == "w" and place == 0):
            slots[-1] += letter
        else:
            slots.append("")
    return slots


_HEARD: Final = {"a": "aou", "w": "ouw", "y": "iyea", "e": "aey", "v": "ouw"}
_LEFT_OUT: Final = {"e": 0.05, "a": 0.1, "o": 0.1, "ea": 0.15, "u": 0.2, "i": 0.25}
"""What it costs that Persian does not write this vowel between consonants."""


def _agreement(persian: str, latin: str) -> float:
    ours, theirs = _slots(persian), _slots(latin)
    if len(ours) != len(theirs):
        return 0.6
    last = len(ours) - 1
    cost = sum(
        _disagreement(heard, written, first=place == 0, last=place == last)
        for place, (heard, written) in enumerate(zip(ours, theirs, strict=True))
    )
    return max(0.0, 1.0 - cost)


def _disagreement(heard: str, written: str, *, first: bool, last: bool) -> float:
    """0.0-0.7 for the vowels of one place: `heard` in Persian, `written` in Latin."""
    if not heard and not written:
        return 0.0
    if not heard:
        if first or last:
            return 0.0 if last and written == "e" else 0.7
        return _LEFT_OUT.get(written, 0.35)
    if not written:
        return 0.05 if first else 0.5
    if first and heard[0] == "a":
        return 0.0
    alike = any(letter in _HEARD.get(sound, "") for sound in heard for letter in written)
    return 0.0 if alike else 0.4
