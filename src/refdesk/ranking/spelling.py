"""A word that a vocabulary does not know in -> the known words it may have been meant for out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

_ALPHABETS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهی",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "αβγδεζηθικλμνξοπρςστυφχψω",
)
_SHORTEST: Final = 4
"""Of fewer letters nearly every string is one slip away from a word."""
_LONGEST: Final = 24
_LEAST: Final = 0.5
_LEAST_SHORT: Final = 0.6
"""Slips less likely than this are other words: the fewer the letters, the more there are."""

_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "ضصثقفغعهخحجچ", "شسیبلاتنمکگ", "ظطزرذدپو")
_NEAR: Final = frozenset(pair for row in _ROWS for a, b in pairwise(row) for pair in (a + b, b + a))
_ALIKE: Final = frozenset(
    a + b
    for group in (
        "زذضظ",
        "سصث",
        "تط",
        "قغ",
        "هح",
        "کگ",
        "اع",
        "جچ",
        "بپ",
        "رزژ",
        "خحجچ",
        "سش",
        "دذ",
    )
    for a in group
    for b in group
    if a != b
)
"""Persian letters of one sound or one outline."""


def corrections(
    word: str, frequency: Callable[[str], int], most: int = 3
) -> list[tuple[str, float]]:
    """Known words one slip from `word`, the likeliest first, each with a likelihood in 0.0-1.0.

    A slip is one letter wrong, missing or too many, or two neighbours exchanged. `word` is folded;
    `frequency` tells how many passages hold a folded word.
    """
    if not _SHORTEST <= len(word) <= _LONGEST:
        return []
    found: dict[str, tuple[float, int]] = {}
    least = _LEAST_SHORT if len(word) <= 5 else _LEAST
    for spelling, likelihood in _slips(word):
        if likelihood < least or found.get(spelling, (0.0, 0))[0] >= likelihood:
            continue
        if count := frequency(spelling):
            found[spelling] = (likelihood, count)
    ranked = sorted(found, key=lambda known: (-found[known][0] * _weight(found[known][1]), known))
    return [(known, found[known][0]) for known in ranked[:most]]


def split(word: str, frequency: Callable[[str], int]) -> tuple[str, str] | None:
    """The two known words that `word` joins: filesystem gives (file, system). None if none.

    Of several splits the one whose rarer half is the most frequent is taken.
    """
    if not 6 <= len(word) <= _LONGEST * 2:
        return None
    best: tuple[int, tuple[str, str]] | None = None
    for at in range(3, len(word) - 2):
        halves = word[:at], word[at:]
        count = min(frequency(halves[0]), frequency(halves[1]))
        if count and (best is None or count > best[0]):
            best = count, halves
    return best[1] if best else None


def _weight(count: int) -> float:
    """Frequent words are likelier, but a slip to a rare word must still win over a far one."""
    return 1.0 + 0.1 * min(count, 1_000).bit_length()


def _slips(word: str) -> Iterator[tuple[str, float]]:
    letters = next((known for known in _ALPHABETS if word[len(word) // 2] in known), "")
    for at in range(len(word)):
        head, letter, tail = word[:at], word[at], word[at + 1 :]
        first = at == 0
        yield head + tail, 0.9 if letter in (head[-1:], tail[:1]) else 0.6 if first else 0.75
        if tail and tail[0] != letter:
            yield head + tail[0] + letter + tail[1:], 0.9
        for other in letters:
            if other != letter:
                yield head + other + tail, _wrong_letter(letter + other, first=first)
    for at in range(1, len(word) + 1):
        for other in letters:
            doubled = other == word[at - 1] or other == word[at : at + 1]
            yield word[:at] + other + word[at:], 0.95 if doubled else 0.85
    for other in letters:
        yield other + word, 0.6


def _wrong_letter(pair: str, *, first: bool) -> float:
    likelihood = 0.95 if pair in _ALIKE else 0.85 if pair in _NEAR else 0.65
    return likelihood * (0.8 if first and pair not in _ALIKE else 1.0)
