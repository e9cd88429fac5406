"""A ranking in, the same ranking out, with repeats of one page and of one text moved back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")

ALIKE: Final = 0.8
"""Share of common words from which two texts count as one: a page copied for another product
differs by its name and a command or two."""


def spread(
    items: Sequence[Item], group: Callable[[Item], Hashable], per_group: int = 1
) -> list[Item]:
    """Items beyond the first `per_group` of their group move behind all others, in order.

    Nothing is lost: a list that holds one group only comes back as it was.
    """
    seen: dict[Hashable, int] = {}
    first: list[Item] = []
    repeats: list[Item] = []
    for item in items:
        key = group(item)
        seen[key] = seen.get(key, 0) + 1
        (first if seen[key] <= per_group else repeats).append(item)
    return first + repeats


def copies(texts: Sequence[str], alike: float = ALIKE) -> set[int]:
    """Positions of texts that say what an earlier one says: Jaccard similarity of their words.

    Texts without words are nobody's copy.
    """
    kept: list[set[str]] = []
    found: set[int] = set()
    for number, text in enumerate(texts):
        words = set(text.split())
        if any(_similar(words, other, alike) for other in kept):
            found.add(number)
        elif words:
            kept.append(words)
    return found


def _similar(one: set[str], other: set[str], alike: float) -> bool:
    small, large = sorted((len(one), len(other)))
    if small < alike * large or not small:
        return False
    common = len(one & other)
    return common >= alike * (small + large - common)
