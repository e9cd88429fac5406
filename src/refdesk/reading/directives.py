"""An AsciiDoc page in, its lines out one by one: includes followed, conditionals taken out.

Both branches of every conditional are kept: a search index knows no build attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

Include = Callable[[str, str], tuple[str, str] | None]
"""(path of the including file, target) -> (library path, text) of that file, None if refused.

The caller guards paths; cycles, depth and size are guarded here.
"""
MAX_DEPTH: Final = 16
"""Files that may include one another in a chain."""
MAX_INCLUDES: Final = 1_000
"""Includes followed for one page."""
MAX_INCLUDED: Final = 4_000_000
"""Characters of included text for one page."""

_DIRECTIVES: Final = ("include::", "ifdef::", "ifndef::", "ifeval::", "endif::")

_include = re.compile(r"include::([^\s\[][^\[]*)\[(.*)\]\s*$").match
_condition = re.compile(r"(ifdef|ifndef|ifeval|endif)::([^\[\s]*)\[(.*)\]\s*$").match
_option = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|([^,\"]*))").findall
_range = re.compile(r"(\d+)(?:\.\.(-?\d*))?$").match
_tag_line = re.compile(r"(?:^|\s|\W)(tag|end)::(\S+?)\[\](?=$|\s|\W)").search


@dataclass(slots=True)
class Line:
    """One line as the parser meets it.

    `text` is None for a directive line, which says nothing itself. `branch` is 1 where a
    conditional opens, -1 where it closes; `sure` tells whether the line stands in no conditional
    but `ifndef`; `offset` is what included headings are moved down by.
    """

    file: str
    number: int
    source: str
    text: str | None
    offset: int = 0
    branch: int = 0
    sure: bool = True


@dataclass(slots=True)
class _File:
    path: str
    name: str
    lines: Sequence[tuple[int, str]]
    offset: int
    at: int = 0


@dataclass(slots=True)
class Lines:
    """Iterates over the lines of a page and of all it includes.

    `resolve` replaces attribute references in include targets. The parser sets `verbatim` while
    it is inside a comment block, where nothing is included.
    """

    path: str
    lines: Sequence[tuple[int, str]]
    include: Include | None
    resolve: Callable[[str], str]
    verbatim: bool = False
    _open: list[_File] = field(default_factory=list)
    _conditions: list[bool] = field(default_factory=list)
    _unsure: int = 0
    _followed: int = 0
    _budget: int = MAX_INCLUDED

    def __iter__(self) -> Iterator[Line]:
        self._open.append(_File(self.path, "", self.lines, 0))
        while self._open:
            file = self._open[-1]
            if file.at >= len(file.lines):
                self._open.pop()
                continue
            number, source = file.lines[file.at]
            file.at += 1
            line = Line(file.name, number, source, source, file.offset)
            if source.startswith(_DIRECTIVES) and not self.verbatim:
                self._direct(line, file)
            elif source.startswith("\\") and source[1:].startswith(_DIRECTIVES):
                line.text = source[1:]
            line.sure = not self._unsure
            yield line

    def _direct(self, line: Line, file: _File) -> None:
        """Carry out an include or conditional; what it leaves as text goes into the line."""
        found = _include(line.source)
        if found:
            line.text = None
            self._follow(file, self.resolve(found.group(1)).strip(), found.group(2))
            return
        found = _condition(line.source)
        if not found:
            return
        kind, names, inner = found.groups()
        line.text = None
        if kind == "endif":
            line.branch = -1
            if self._conditions:
                self._unsure -= self._conditions.pop()
        elif inner and kind != "ifeval":
            line.text = inner
        elif names or kind == "ifeval":
            line.branch = 1
            self._conditions.append(kind != "ifndef")
            self._unsure += kind != "ifndef"

    def _follow(self, file: _File, target: str, attributes: str) -> None:
        """Open an included file, unless it is refused, one too many, too deep or open already."""
        if self.include is None or not target or "://" in target:
            return
        if len(self._open) > MAX_DEPTH or self._followed >= MAX_INCLUDES:
            return
        self._followed += 1
        found = self.include(file.path, target)
        if found is None or any(found[0] == opened.path for opened in self._open):
            return
        path, text = found
        if len(text) > self._budget:
            return
        self._budget -= len(text)
        options = {key: double or bare for key, double, bare in _option(attributes)}
        offset = _offset(options.get("leveloffset", ""), file.offset)
        self._open.append(_File(path, path, _selected(text, options), offset))


def _offset(value: str, outer: int) -> int:
    try:
        number = int(value)
    except ValueError:
        return outer
    return outer + number if value.strip()[:1] in "+-" else number


def _selected(text: str, options: dict[str, str]) -> Sequence[tuple[int, str]]:
    """The numbered lines of a file that `lines=` or `tags=` ask for; all without either."""
    lines = list(enumerate(text.removesuffix("\n").split("\n"), 1))
    if "lines" in options:
        return _by_number(lines, options["lines"])
    tags = options.get("tags", options.get("tag", ""))
    if tags:
        return _by_tag(lines, re.split(r"[,;]\s*", tags))
    if "tag::" in text or "end::" in text:
        return [line for line in lines if not _tag_line(line[1])]
    return lines


def _by_number(lines: Sequence[tuple[int, str]], ranges: str) -> Sequence[tuple[int, str]]:
    wanted: set[int] = set()
    for part in re.split(r"[,;]\s*", ranges):
        found = _range(part.strip())
        if found:
            low = int(found.group(1)[:9])
            last = found.group(2)
            high = low if last is None else len(lines)
            if last and not last.startswith("-"):
                high = int(last[:9])
            wanted.update(range(low, min(high, len(lines)) + 1))
    return [line for line in lines if line[0] in wanted]


def _by_tag(lines: Sequence[tuple[int, str]], tags: Sequence[str]) -> Sequence[tuple[int, str]]:
    """Lines in the tagged regions asked for: `a;b`, `!a`, `*` (any region), `**` (any line)."""
    names = {tag.strip().lstrip("!"): not tag.strip().startswith("!") for tag in tags}
    everything = names.pop("**", None)
    anywhere = names.pop("*", None)
    if everything is None:
        everything = anywhere is None and not any(names.values()) if names else anywhere is False
    kept = []
    path: list[tuple[str, bool]] = []
    chosen = everything
    for line in lines:
        found = _tag_line(line[1]) if "::" in line[1] else None
        if not found:
            if chosen:
                kept.append(line)
            continue
        kind, name = found.groups()
        if kind == "tag":
            outer = chosen
            fallback = outer if anywhere is None else anywhere
            path.append((name, outer))
            chosen = names.get(name, fallback)
        elif path and path[-1][0] == name:
            chosen = path.pop()[1]
    return kept
