"""A query or a title in, what makes two of them the same out."""

from __future__ import annotations

from refdesk.ranking import analysis
from refdesk.ranking.persian import ZWNJ


def key(text: str) -> str:
    """What is left of `text` without case, blanks, punctuation and variants of spelling.

    A query whose key is not "" and equals a title's asks for that title.
    """
    words = (analysis.normalize(word) for _, _, word in analysis.surface(text))
    return "".join(words).replace(ZWNJ, "")
