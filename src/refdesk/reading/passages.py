"""The clean lines of one part in, passages of readable size out, each with its line numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from refdesk.reading.page import PASSAGE_CHARS

Span = tuple[int, int, str]
"""First line, last line (indices into the lines given, both inclusive) and text."""
Range = tuple[int, int]
"""Lines [start, end)."""

_SMALL: Final = PASSAGE_CHARS // 4
_CLOSER: Final = 50  # characters of a line that may close a fence beyond the size of a passage
_MARKS: Final = (" ", "\N{IDEOGRAPHIC FULL STOP}", "\t")
_fence = re.compile(
    r"(?:[ \t]*(?:[-*+>]|[0-9]{1,9}[.)])[ \t]+)*[ \t]*(`{3,}|~{3,}|-{4,}|\.{4,})"
).match


def joined(lines: Sequence[str | None]) -> str:
    """The text of lines, without those that were dropped and without blank edges."""
    return "\n".join([line for line in lines if line is not None]).strip("\n")


def join_blanks(lines: list[str | None]) -> None:
    """Where dropped lines stand between blank ones, drop all but one of those too."""
    blank = True
    for at, line in enumerate(lines):
        if line is None:
            continue
        if line or at == 0:
            blank = False
        elif blank and lines[at - 1] is None:
            lines[at] = None
        else:
            blank = True


def cut(
    lines: Sequence[str | None], fences: Sequence[Range], breaks: Sequence[int] = ()
) -> list[Span]:
    """Split lines (None = dropped by cleaning) into passages of about PASSAGE_CHARS characters.

    Cuts fall on blank lines outside `fences` (in order) where they can, else between lines, else
    inside a line that is longer than a passage; and before each line of `breaks` in any case. A
    fence that is cut is closed in one passage and opened again in the next. Every line that is
    not blank lies in one span; spans do not overlap, but for the pieces of one line.
    """
    first, last = _edges(lines)
    if first > last:
        return []
    if not breaks:
        text = joined(lines[first : last + 1])
        if len(text) <= PASSAGE_CHARS:
            return [(first, last, text)]
    cutter = _Cutter(lines, fences)
    walls = frozenset(breaks)
    for start, end in _units(lines, first, last + 1, fences, walls):
        if start in walls:
            cutter.flush()
            cutter.walled = True
        cutter.take(start, end)
    cutter.flush()
    return cutter.spans


class Slices:
    """Cuts one part after another out of a page's lines; parts must come in reading order."""

    __slots__ = ("_breaks", "_fences", "_lines", "_next_break", "_next_fence")

    def __init__(
        self, lines: Sequence[str | None], fences: Sequence[Range], breaks: Sequence[int] = ()
    ) -> None:
        self._lines = lines
        self._fences = fences
        self._breaks = breaks
        self._next_fence = self._next_break = 0

    def cut(self, start: int, end: int) -> list[Span]:
        """The passages of lines [start, end), with line indices of the whole page."""
        fences = self._fences_in(start, end)
        breaks = self._breaks_in(start, end)
        spans = cut(self._lines[start:end], fences, breaks)
        return [(first + start, last + start, text) for first, last, text in spans]

    def _fences_in(self, start: int, end: int) -> list[Range]:
        fences, at = self._fences, self._next_fence
        while at < len(fences) and fences[at][1] <= start:
            at += 1
        self._next_fence = at
        found = []
        while at < len(fences) and fences[at][0] < end:
            found.append((fences[at][0] - start, min(fences[at][1], end) - start))
            at += 1
        return found

    def _breaks_in(self, start: int, end: int) -> list[int]:
        breaks, at = self._breaks, self._next_break
        while at < len(breaks) and breaks[at] <= start:
            at += 1
        found = []
        while at < len(breaks) and breaks[at] < end:
            found.append(breaks[at] - start)
            at += 1
        self._next_break = at
        return found


def _edges(lines: Sequence[str | None]) -> tuple[int, int]:
    first, last = 0, len(lines) - 1
    while first <= last and _is_blank(lines[first]):
        first += 1
    while last >= first and _is_blank(lines[last]):
        last -= 1
    return first, last


def _is_blank(line: str | None) -> bool:
    return line is not None and not line.strip()


def _units(
    lines: Sequence[str | None],
    start: int,
    end: int,
    fences: Sequence[Range],
    walls: Collection[int],
) -> Iterator[Range]:
    """Line ranges between the blank lines that lie outside every fence, none across a wall."""
    opened, fence = start, 0
    for at in range(start, end):
        while fence < len(fences) and fences[fence][1] <= at:
            fence += 1
        inside = fence < len(fences) and fences[fence][0] <= at
        wall = at in walls
        if wall or (not inside and _is_blank(lines[at])):
            if opened < at:
                yield opened, at
            opened = at if wall else at + 1
    if opened < end:
        yield opened, end


class _Cutter:
    """Packs line ranges into passages, splitting those that are too long for one."""

    def __init__(self, lines: Sequence[str | None], fences: Sequence[Range]) -> None:
        self.lines = lines
        self.fences = fences
        self.spans: list[Span] = []
        self.start = self.end = 0  # the lines gathered so far
        self.size = 0
        self.walled = True  # no passage since the last wall: none that could be made longer
        self.head = ""  # the fence line to open the passage with
        self.fence = 0  # index of the first fence that has not ended yet

    def take(self, start: int, end: int) -> None:
        """Add the unit [start, end): to the passage at hand, to a new one, or line by line."""
        size = sum(len(line) + 1 for line in self.lines[start:end] if line is not None)
        enough = _SMALL if size > PASSAGE_CHARS else 0
        if self.size + size > PASSAGE_CHARS and self.size > enough:
            self.flush()
        if self.size + size <= PASSAGE_CHARS:
            self._gather(start, end, size)
            return
        for at in range(start, end):
            self._take_line(at)

    def flush(self) -> None:
        """End the passage at hand."""
        if self.start < self.end:
            body = joined(self.lines[self.start : self.end])
            if body or self.walled:
                self._emit(self.start, self.end - 1, body)
            else:
                start, _, text = self.spans[-1]
                self.spans[-1] = (start, self.end - 1, text)
        self.start = self.end
        self.size = 0

    def _gather(self, start: int, end: int, size: int) -> None:
        if self.start == self.end:
            self.start = start
        self.end = end
        self.size += size

    def _take_line(self, at: int) -> None:
        line = self.lines[at] or ""
        size = len(line) + 1
        if size > PASSAGE_CHARS + 1:
            self.flush()
            self.start = self.end = at + 1
            for piece in _pieces(line):
                self._emit(at, at, piece)
            return
        fits = self.size + size <= PASSAGE_CHARS or (size < _CLOSER and self._closes(at))
        if self.size and not fits:
            self.flush()
        self._gather(at, at + 1, size)

    def _emit(self, start: int, last: int, body: str) -> None:
        text = f"{self.head}\n{body}" if self.head else body
        opener, closer = self._open_fence(last + 1)
        self.head = opener
        self.walled = False
        self.spans.append((start, last, f"{text}\n{closer}" if closer else text))

    def _closes(self, at: int) -> bool:
        """Whether line `at` is the last line of the fence it lies in."""
        self._pass(at)
        return self.fence < len(self.fences) and self.fences[self.fence][1] == at + 1

    def _pass(self, at: int) -> None:
        while self.fence < len(self.fences) and self.fences[self.fence][1] <= at:
            self.fence += 1

    def _open_fence(self, at: int) -> tuple[str, str]:
        """What opens and closes the fence that goes on in line `at`; "" and "" outside one."""
        self._pass(at)
        if self.fence == len(self.fences) or self.fences[self.fence][0] >= at:
            return "", ""
        opener = self.lines[self.fences[self.fence][0]] or ""
        found = _fence(opener)
        if not found:
            return "", ""
        indent = " " * found.start(1)
        return indent + opener[found.start(1) :], indent + found.group(1)


def _pieces(line: str) -> Iterator[str]:
    """A line longer than a passage, cut after a space or a full stop where there is one."""
    at = 0
    while len(line) - at > PASSAGE_CHARS:
        low, high = at + PASSAGE_CHARS // 2, at + PASSAGE_CHARS
        stop = max(line.rfind(mark, low, high) for mark in _MARKS)
        until = stop + 1 if stop >= 0 else high
        yield line[at:until]
        at = until
    yield line[at:]
