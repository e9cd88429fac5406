"""A query and a title in, whether and how far they are about the same thing out."""

from __future__ import annotations

from refdesk.ranking import analysis
from refdesk.ranking.persian import ZWNJ


def key(text: str) -> str:
    """What is left of `text` without case, blanks, punctuation and variants of spelling.

    A query whose key is not "" and equals a title's asks for that title.
    """
    words = (analysis.normalize(word) for _, _, word in analysis.surface(text))
    return "".join(words).replace(ZWNJ, "")


def coverage(query: str, title: str) -> float:
    """Share of the query's words that stand in the title, 0.0-1.0."""
    words = set(analysis.terms(query))
    return len(words & set(analysis.terms(title))) / len(words) if words else 0.0
