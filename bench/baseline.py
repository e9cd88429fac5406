"""A plain docs search to compare with: regex sections in SQLite FTS5, porter stems.

Headings weigh ten times the text; a query asks for all words and, if nothing has them, for any.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HEADING = re.compile(r"^(?:#{1,6}|={1,6})\s+(.+?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^(?P<mark>```+|~~~+).*?^(?P=mark)", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Row:
    """A section found: its file and lines (from 1)."""

    path: str
    start: int
    end: int


class Baseline:
    """The whole index in one SQLite file."""

    def __init__(self, file: Path) -> None:
        self.db = sqlite3.connect(file)
        self.db.execute(
            "CREATE VIRTUAL TABLE sections USING fts5("
            "heading, body, path UNINDEXED, first UNINDEXED, last UNINDEXED,"
            " tokenize = 'porter unicode61')"
        )

    def index(self, root: Path, paths: Sequence[str]) -> int:
        """Read and store every file; how many sections came of it."""
        count = 0
        for path in paths:
            text = (root / path).read_bytes().decode("utf-8", "replace")
            rows = [(head, body, path, first, last) for head, body, first, last in sections(text)]
            self.db.executemany("INSERT INTO sections VALUES (?, ?, ?, ?, ?)", rows)
            count += len(rows)
        self.db.commit()
        return count

    def search(self, query: str, limit: int) -> list[Row]:
        """The best sections."""
        words = [f'"{word}"' for word in WORD.findall(query)]
        if not words:
            return []
        return self._match(" AND ".join(words), limit) or self._match(" OR ".join(words), limit)

    def _match(self, expression: str, limit: int) -> list[Row]:
        rows = self.db.execute(
            "SELECT path, first, last FROM sections WHERE sections MATCH ?"
            " ORDER BY bm25(sections, 10.0, 1.0) LIMIT ?",
            (expression, limit),
        )
        return [Row(*row) for row in rows]


def sections(text: str) -> Iterator[tuple[str, str, int, int]]:
    """(heading path, text, first line, last line) of each section outside code fences."""
    masked = FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), text)
    trail: list[tuple[int, str]] = []
    starts = [(match.start(), match[0], match[1]) for match in HEADING.finditer(masked)]
    bounds = [0, *(start for start, _, _ in starts), len(text)]
    heads = [("", ""), *((line, title) for _, line, title in starts)]
    first = 1
    for number, (line, title) in enumerate(heads):
        body = text[bounds[number] : bounds[number + 1]]
        last = first + body.count("\n")
        if title:
            level = len(line) - len(line.lstrip("#="))
            trail = [(depth, name) for depth, name in trail if depth < level] + [(level, title)]
        if body.strip():
            yield " > ".join(name for _, name in trail), body, first, last
        first = last
