"""Ranked lists from sources whose scores cannot be compared in, one ranking out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, TypeVar

Key = TypeVar("Key", bound=Hashable)

K: Final = 10
"""The rank at which a vote has lost half its weight. Cormack, Clarke and Büttcher (SIGIR 2009)
fuse hundreds of hits with 60; for lists of ten, 60 makes first and tenth nearly equal."""


def fuse(rankings: Iterable[tuple[float, Sequence[Key]]], k: int = K) -> dict[Key, float]:
    """Weighted reciprocal rank fusion: key -> sum of weight x (k + 1) / (k + rank), best first.

    A key ranked first in one list of weight 1 gets 1.0. Every key of every list is kept; a key
    repeated within one list counts at its best rank only. Ties keep the order of appearance.
    """
    scores: dict[Key, float] = {}
    for weight, ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + weight * (k + 1) / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
