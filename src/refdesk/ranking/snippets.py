"""A query's words and a passage's text in, the piece of it that shows why it matched out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from refdesk.ranking import analysis

LIMIT: Final = 600
"""Characters of a snippet at most, the ellipses included."""
SHORTEST: Final = 40
"""A snippet is not cut shorter than this where the text is longer."""
_LEAD: Final = 100
"""Characters of context wanted before the first matched word."""
_ELLIPSIS: Final = "…"
_SPACE: Final = re.compile(r"\s+")
_SENTENCE_END: Final = frozenset(".!?؟۔。！？:؛;")
_LONGEST_WORD: Final = 80
"""A longer run without a space (a hash, CJK text) may be cut anywhere."""


class Matcher:
    """Cuts snippets for one query; build it once for all hits of a library."""

    def __init__(self, words: Iterable[Collection[str]]) -> None:
        """`words` holds, for each word of the query, the tokens that meet it."""
        self._wanted: dict[str, int] = {}
        for number, terms in enumerate(words):
            for term in terms:
                self._wanted.setdefault(term, number)

    def cut(self, text: str, limit: int = LIMIT) -> str:
        """At most `limit` characters of `text` with as many of the query's words as possible.

        Runs of white space become one space; the cut falls on word boundaries and is marked
        with an ellipsis.
        """
        text = _SPACE.sub(" ", text).strip()
        if len(text) <= limit:
            return text
        room = limit - 2 * len(_ELLIPSIS)
        begin = self._begin(text, room)
        end = _last_boundary(text, begin, begin + room)
        head = _ELLIPSIS if begin else ""
        tail = _ELLIPSIS if end < len(text) else ""
        return head + text[begin:end].strip() + tail

    def _begin(self, text: str, room: int) -> int:
        first = self._densest(text, room - _LEAD)
        if first <= _LEAD:
            return 0
        if len(text) - first < room - _LEAD:
            return _first_boundary(text, len(text) - room, first)
        return _first_boundary(text, first - _LEAD, first)

    def _densest(self, text: str, width: int) -> int:
        """Where the `width` characters with the most different query words begin."""
        matches = self._matches(text)
        best, best_score = 0, (0, 0)
        counts: dict[int, int] = {}
        right = 0
        for left, (start, word) in enumerate(matches):
            while right < len(matches) and matches[right][0] < start + width:
                counts[matches[right][1]] = counts.get(matches[right][1], 0) + 1
                right += 1
            score = (len(counts), right - left)
            if score > best_score:
                best, best_score = start, score
            counts[word] -= 1
            if not counts[word]:
                del counts[word]
        return best

    def _matches(self, text: str) -> list[tuple[int, int]]:
        """(position, which query word) of every matched word, in order."""
        wanted = self._wanted
        found = []
        for start, _, word in analysis.surface(text):
            for term in analysis.word_terms(word):
                if term in wanted:
                    found.append((start, wanted[term]))
                    break
        return found


def _first_boundary(text: str, low: int, high: int) -> int:
    """The start of a sentence in text[low:high], else of a word, else `low`."""
    for position in range(low, high):
        if text[position] == " " and text[position - 1] in _SENTENCE_END:
            return position + 1
    space = text.find(" ", low, high)
    return space + 1 if space >= 0 else low


def _last_boundary(text: str, begin: int, end: int) -> int:
    """The end of the last word that fits, `end` itself where one word fills the room."""
    if end >= len(text) or text[end] == " ":
        return min(end, len(text))
    space = text.rfind(" ", max(begin + SHORTEST, end - _LONGEST_WORD), end)
    return space if space > begin else end
