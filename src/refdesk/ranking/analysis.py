"""Text of any language in -> normalised words and the tokens an index and a query share out.

A word becomes several tokens: the word itself, its stem, its parts, its spelling without accents.
What depends on the word alone is computed once and remembered. Pure but for that memory.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import add
from typing import Final, TypeVar

import snowballstemmer

from refdesk.ranking import persian, transliteration

HEAD: Final = "head"
SLUG: Final = "slug"
BODY: Final = "body"
EXACT: Final = "exact"
GRAM: Final = "gram"
SKEL: Final = "skel"
FIELDS: Final = (HEAD, SLUG, BODY, EXACT, GRAM, SKEL)


def _runs_of_marks(start: int, end: int) -> Iterator[tuple[int, int]]:
    """First and last code of each run of combining marks from `start` to `end`."""
    codes = (code for code in range(start, end) if unicodedata.category(chr(code))[0] == "M")
    for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0]):
        found = [code for _, code in run]
        yield found[0], found[-1]


_MOST_REMEMBERED: Final = 50_000
"""Words kept in a memory before it starts anew: at half a kilobyte each, 25 MB. Documentation of
12 MB in six languages has 90,000 different words, a Persian one of 4 MB 20,000."""
_LONGEST: Final = 64
"""Letters of a word that are looked at; longer runs are data, not words."""
_GRAM: Final = 4

_MARKS: Final = "".join(
    f"{chr(first)}-{chr(last)}" for first, last in _runs_of_marks(0x300, 0xFE30)
)
_INVISIBLE: Final = "\u00ad\u061c\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_HYPHENS: Final = "\u2010\u2011"
_APOSTROPHES: Final = "'\u2019\u02bc"
_INNER: Final = rf"\w{_MARKS}{_INVISIBLE}"
_WORD: Final = re.compile(
    rf"\w[{_INNER}]*+(?:[-.{_HYPHENS}{_APOSTROPHES}]\w[{_INNER}]*+)*+(?:\+\+|#(?!\w))?"
)
_SLASHED: Final = re.compile(r"/([A-Za-z]{1,3})(?![\w/])")
# Scripts written without spaces: every two neighbouring letters are a word.
_DENSE: Final = (
    "\u0e00-\u0e4f\u0e80-\u0ecf\u1000-\u103f\u1050-\u108f\u1780-\u17df"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_HANGUL: Final = "\uac00-\ud7a3"
_RUNS: Final = re.compile(f"[{_DENSE}]+|[^{_DENSE}]+")
_IS_DENSE: Final = re.compile(f"[{_DENSE}]")
_IS_HANGUL: Final = re.compile(f"[{_HANGUL}]+\\Z")
_IS_ARABIC: Final = re.compile("[\u0600-\u06ff]")
_IS_CYRILLIC: Final = re.compile("[\u0400-\u04ff]+\\Z")
_VERSION: Final = re.compile(r"([a-z]*)(\d+(?:\.\d+)+)(?!\w)")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_CONNECTORS: Final = re.compile(rf"[-._\s{_HYPHENS}{_APOSTROPHES}{persian.ZWNJ}]+")
_SEPARATORS: Final = re.compile(rf"[-._\s{_HYPHENS}{_APOSTROPHES}]+")
_BEFORE_SLASH: Final = re.compile(r"(?<![\w/.])[A-Za-z]{1,3}\Z")
_CONTRACTED: Final = re.compile(rf"[{_APOSTROPHES}](?:s|re|ll|ve|d|m)\Z", re.IGNORECASE)
_NEGATED: Final = re.compile(rf"(?<=n)[{_APOSTROPHES}](?=t\Z)", re.IGNORECASE)
_LETTERS_DIGITS: Final = re.compile(r"([a-z]{3,})\d{1,4}\Z")
_FOREIGN_DIGIT: Final = re.compile(r"(?![0-9])\d")

Made = TypeVar("Made")

_english: Final = snowballstemmer.stemmer("english")
_russian: Final = snowballstemmer.stemmer("russian")


@dataclass(frozen=True, slots=True)
class Word:
    """What one written word is to an index.

    `whole` are the tokens of the word as one, the closest first. `parts` are the tokens of each
    of its parts, if it has more than one. `exact` are its plain spellings in a row, for phrases.
    """

    whole: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    exact: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """Every token, once."""
        if not self.parts:
            return self.whole
        return tuple(dict.fromkeys(chain(self.whole, *self.parts)))


def normalize(text: str) -> str:
    """One form for all spellings of a text: compatibility forms, case, letter forms, marks.

    Idempotent. ZWNJ stays: it parts words.
    """
    if text.isascii():
        return text.lower()
    while (folded := _folded(text)) != text:
        text = folded
    return text


def surface(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of a text as (start, end, word), where `text[start:end] == word`.

    In scripts without spaces every two neighbouring letters count as a word, so they overlap.
    """
    for match in _WORD.finditer(text):
        word = match.group()
        if word.isascii() or not _IS_DENSE.search(word):
            yield match.start(), match.end(), word
            continue
        for run in _RUNS.finditer(word):
            start = match.start() + run.start()
            yield from _windows(start, run.group())


def word(written: str) -> Word:
    """The tokens of one written word, as `surface` cuts it."""
    return _words[written]


def word_terms(written: str) -> tuple[str, ...]:
    """Every token of one written word."""
    return _words[written].terms


def terms(text: str) -> list[str]:
    """Every token of a text, in order, as the index holds them."""
    return " ".join([_tokens[written][0] for written in _written(text)]).split()


def exact_terms(text: str) -> list[str]:
    """The plain spellings of a text's words in order: what a quoted phrase must match."""
    return " ".join([_tokens[written][1] for written in _WORD.findall(text)]).split()


def fields(
    *, title: str, breadcrumb: Sequence[str], path: str, body: str, tags: Sequence[str] = ()
) -> dict[str, str]:
    """A passage as the index takes it: field name -> tokens joined by spaces.

    `breadcrumb` holds the headings over the passage, its own last; a title that repeats the
    first of them counts once. `path` is the document's own, its ending ignored.
    """
    heads = [title, *(heading for heading in breadcrumb if heading != title), *tags]
    headings = _written(" \n ".join(heads))
    slug = _written(_slug(path))
    words = _written(body)
    made = list(map(_tokens.__getitem__, words))
    above = list(map(_tokens.__getitem__, headings))
    beside = list(map(_tokens.__getitem__, slug))
    return {
        HEAD: " ".join([tokens[0] for tokens in above]),
        SLUG: " ".join([tokens[0] for tokens in beside]),
        BODY: " ".join([tokens[0] for tokens in made]),
        EXACT: " ".join([tokens[1] for tokens in (*above, *made)]),
        GRAM: " ".join(filter(None, map(_grams.__getitem__, dict.fromkeys((*headings, *slug))))),
        SKEL: " ".join({tokens[2] for tokens in (*above, *beside, *made)}),
    }


def grams(text: str) -> list[str]:
    """The 4-letter pieces of a text's words, as the gram field holds them."""
    return " ".join(map(_grams.__getitem__, _WORD.findall(text))).split()


def bridge(key: str, spelling: str) -> str:
    """The token of the skel field that says: `spelling` has this consonant key."""
    return f"{key}:{spelling}"


class _Memory(dict[str, Made]):
    """Remembers what a written word, or a folded part of one, was made into."""

    def __init__(self, make: Callable[[str], Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, written: str) -> Made:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        made = self[written] = self._make(written)
        return made


def _written(text: str) -> list[str]:
    """The words of a text; at the end, short ones with a slash between (CI/CD) as one word."""
    words = _WORD.findall(text)
    if "/" in text:
        for match in _SLASHED.finditer(text):
            before = _BEFORE_SLASH.search(text, max(0, match.start() - 4), match.start())
            if before:
                words.append(before.group() + match.group(1))
    return words


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.translate(persian.FOLD)).casefold()
    text = unicodedata.normalize("NFKC", text).translate(persian.FOLD)
    if _FOREIGN_DIGIT.search(text):
        text = "".join(_digit(letter) for letter in text)
    return text


def _digit(letter: str) -> str:
    value = unicodedata.decimal(letter, None)
    return letter if value is None else str(value)


def _windows(start: int, run: str) -> Iterator[tuple[int, int, str]]:
    if not _IS_DENSE.match(run) or len(run) <= 2:
        yield start, start + len(run), run
        return
    for at in range(len(run) - 1):
        yield start + at, start + at + 2, run[at : at + 2]


def _slug(path: str) -> str:
    """The path as words; an ending such as .md and index files say nothing."""
    stem, dot, ending = path.rpartition(".")
    words = stem if dot and "/" not in ending else path
    for name in ("/index", "/_index", "/readme", "/README"):
        words = words.removesuffix(name)
    return words.replace("/", " ").replace("_", " ")


def _analyse(written: str) -> Word:
    if written.isascii():
        written = written[:_LONGEST]
        if written.isalpha() and (written[1:].islower() or len(written) == 1):
            low = written.lower()
            return Word(_forms[low], (), (low,))
        if written.isdecimal():
            return Word((written,), (), (written,))
        return _identifier(written)
    if _IS_DENSE.search(written):
        return _joined_runs(written)
    return _identifier(unicodedata.normalize("NFKC", written[:_LONGEST].translate(persian.FOLD)))


def _joined_runs(written: str) -> Word:
    whole: list[str] = []
    exact: list[str] = []
    for run in _RUNS.findall(written):
        if _IS_DENSE.match(run):
            run = normalize(run)
            exact.extend(run)
            whole.extend(map(add, run, run[1:]) if len(run) > 1 else run)
        else:
            made = _analyse(run)
            whole.extend(made.terms)
            exact.extend(made.exact)
    return Word(tuple(whole), (), tuple(exact))


def _identifier(shown: str) -> Word:
    """Names, versions, hyphens, camel case, accents, ZWNJ: everything but a plain ASCII word."""
    if "'" in shown or not shown.isascii():
        shown = _NEGATED.sub("", _CONTRACTED.sub("", shown))
    low = normalize(shown)
    if low.endswith(("++", "#")):
        return Word((low,), (), (low,))
    exact = tuple(filter(None, _CONNECTORS.split(low)))
    joined = "".join(exact)
    whole, pieces = _versions(low), _pieces(shown)
    if whole:
        pieces = [piece for piece in pieces if not piece[0].isdigit()]
    else:
        whole = list(_forms[joined])
    several = len(pieces) > 1 or (pieces and pieces[0][0] not in whole)
    return Word(tuple(whole), tuple(pieces) if several else (), exact)


def _pieces(shown: str) -> list[tuple[str, ...]]:
    pieces: list[tuple[str, ...]] = []
    for piece in _SEPARATORS.split(shown):
        for part in _CAMEL.findall(piece) if _is_camel(piece) else (piece,):
            low = normalize(part)
            if persian.ZWNJ in low:
                pieces.extend(_forms[stem] for stem in persian.pieces(low))
            elif low:
                pieces.append(_forms[low])
    return pieces


def _is_camel(piece: str) -> bool:
    return not piece.islower() and not piece.isupper() and any("A" <= c <= "Z" for c in piece[1:])


def _versions(low: str) -> list[str]:
    """The version numbers of a word: python3.11.2 is also found as 3.11.2 and as 3.11."""
    found: dict[str, None] = {}
    for name, number in _VERSION.findall(low) if "." in low else ():
        parts = number.split(".")
        found.update(dict.fromkeys((name + number, number, ".".join(parts[:2]))))
    return list(found)


def _forms_of(low: str) -> tuple[str, ...]:
    """A folded word and what else it should be found by."""
    if low.isascii():
        if low.isalpha():
            # The stem in place of the word: section MRR of the folder questions .940, with both
            # .920, without stems .860 (Liara: .880, .874, .875).
            return (str(_english.stemWord(low)),) if len(low) > 2 else (low,)
        match = _LETTERS_DIGITS.match(low)
        return (low, match.group(1)) if match else ((low,) if low else ())
    if _IS_ARABIC.search(low):
        return (low, *persian.stems(low))
    if _IS_HANGUL.match(low):
        return (low, *(low[at : at + 2] for at in range(len(low) - 1) if len(low) > 2))
    if _IS_CYRILLIC.match(low):
        return tuple(dict.fromkeys((low, str(_russian.stemWord(low)))))
    bare = _without_accents(low)
    if bare == low:
        return (low,)
    return (low, *(_forms[bare] if bare.isascii() else (bare,)))


def _without_accents(low: str) -> str:
    split = unicodedata.normalize("NFD", low)
    return unicodedata.normalize(
        "NFC", "".join(letter for letter in split if not unicodedata.combining(letter))
    )


def _joined(written: str) -> tuple[str, str, str]:
    """What the body, exact and skel fields hold for one written word."""
    made = _analyse(written)
    exact = made.exact
    if len(exact) > 1 and not exact[0].isascii():
        joined = "".join(exact)
        if _IS_DENSE.search(joined):
            return " ".join(made.whole), " ".join(exact), ""
        spellings = dict.fromkeys((joined, *exact, *(part[0] for part in made.parts)))
        return " ".join(made.terms), " ".join(exact), _all_bridges(spellings)
    return " ".join(made.terms), " ".join(exact), _all_bridges(exact)


def _all_bridges(spellings: Iterable[str]) -> str:
    return " ".join(filter(None, map(_bridges.__getitem__, spellings)))


def _bridges_of(spelling: str) -> str:
    return " ".join(bridge(key, spelling) for key in transliteration.keys(spelling))


def _grams_of(written: str) -> str:
    letters = f"^{normalize(written).replace(persian.ZWNJ, '')}$"[:_LONGEST]
    if len(letters) <= _GRAM or not written[0].isalpha():
        return ""
    return " ".join(letters[at : at + _GRAM] for at in range(len(letters) - _GRAM + 1))


_words: Final = _Memory(_analyse)
_tokens: Final = _Memory(_joined)
_forms: Final = _Memory(_forms_of)
_bridges: Final = _Memory(_bridges_of)
_grams: Final = _Memory(_grams_of)
