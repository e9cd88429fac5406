"""A query and a title in, how much they are about the same thing out."""

from __future__ import annotations

from collections.abc import Sequence

from refdesk.ranking import analysis


def is_exact(query: str, title: str) -> bool:
    """Whether the query is the title, but for case, punctuation and spelling variants."""
    return bool(query.strip()) and _key(query) == _key(title)


def coverage(query: str, title: str) -> float:
    """Share of the query's words that stand in the title, 0.0-1.0."""
    words = set(analysis.terms(query))
    if not words:
        return 0.0
    return len(words & set(analysis.terms(title))) / len(words)


def _key(text: str) -> Sequence[str]:
    return [analysis.normalize(word) for _, _, word in analysis.surface(text)]
