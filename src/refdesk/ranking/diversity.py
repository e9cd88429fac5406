"""A ranking in, the same ranking out, with repeats of one page and of one text moved back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


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
