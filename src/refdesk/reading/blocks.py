"""Lines of Markdown in, its block structure out: headings, fences, indented code, raw HTML.

One pass over the lines, following the block rules of CommonMark 0.31 and the tables of GFM. Only
what decides where a top-level heading stands is tracked: the open quotes and list items, and the
innermost open block.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from refdesk.reading.titles import unclosed

MAX_DEPTH: Final = 100
"""Quotes and list items that may be nested; deeper markers are text."""

_NONE, _PARAGRAPH, _TABLE, _FENCE, _HTML, _CODE = range(6)
_QUOTE: Final = -1
_BLANK: Final = " \t"
_MARKERS: Final = frozenset(["", *" \t#>-+*_=`~<|:0123456789"])
_LAST_PLAIN_HTML: Final = 5
_HEADING_LINES: Final = 12

_spaces = re.compile(" *").match
_atx = re.compile(r"(#{1,6})(?:[ \t]|$)").match
_fence = re.compile(r"(`{3,})[^`]*$|(~{3,})").match
_item = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?= |$)").match
_underline = re.compile(r"(?:=+|-+) *$").match
_delimiters = re.compile(r"(?:[|:]|-(?! ))[-:| ]+$").match
_pipe = re.compile(r"(?<!\\)\|")
_column = re.compile(r":?-+:?").fullmatch

_BLOCK_TAGS: Final = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|"
    "h6|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|"
    "option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE: Final = (
    r"\s++[a-zA-Z_:][a-zA-Z0-9:._-]*+"
    r"(?:\s*+=\s*+(?:[^\"'=<>`\x00-\x20]++|'[^']*+'|\"[^\"]*+\"))?+"
)
_html_starts: Final = (
    re.compile(r"<(?:script|pre|style|textarea)(?=\s|>|$)", re.IGNORECASE).match,
    re.compile(r"<!--").match,
    re.compile(r"<\?").match,
    re.compile(r"<![A-Za-z]").match,
    re.compile(r"<!\[CDATA\[").match,
    re.compile(rf"</?(?:{_BLOCK_TAGS})(?=\s|/?>|$)", re.IGNORECASE).match,
    re.compile(
        rf"(?:<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+\s*+/?>|</[A-Za-z][A-Za-z0-9-]*+\s*+>)\s*$"
    ).match,
)
_html_ends: Final = (
    re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE).search,
    re.compile(r"-->").search,
    re.compile(r"\?>").search,
    re.compile(r">").search,
    re.compile(r"\]\]>").search,
)
_html_heading = re.compile(r" {0,3}<h([1-6])((?:\s[^<>]*)?)>", re.IGNORECASE).match
_html_heading_ends: Final = tuple(
    re.compile(rf"</h{level}\s*>", re.IGNORECASE).search for level in range(1, 7)
)
_words = re.compile(r"\s*(?:<[^<>]*>\s*)*(?:[^\s<]|<img\s[^<>]*\balt=[\"'][^\"'])").match
_definition = re.compile(
    r"\[(?=[^\]]*[^\s\]])(?:[^\[\]\\]|\\.)+\]:\s*(?:<[^<>\n]*>|(?!<)\S+)", re.DOTALL
).match
_definition_title = re.compile(
    r"\s+(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))[ \t]*(?:\n|$)", re.DOTALL
).match
_line_end = re.compile(r"[ \t]*(?:\n|$)").match


@dataclass(frozen=True, slots=True)
class Heading:
    """A top-level heading: lines [line, until) counted from 0, and its raw text.

    Of an HTML heading, `tag` is what stands behind the tag's name and `rest` the text that
    follows the heading in its last line; `tag` is None for a Markdown heading.
    """

    line: int
    until: int
    level: int
    text: str
    tag: str | None = None
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a cleaner and a sectioner must know of a page; all line ranges are [start, until).

    `html` carries the CommonMark kind of each block: 1 script, pre, style, textarea; 2 comment;
    3-5 declarations; 6 block tags; 7 a lone tag. `headings` are top-level only; the others are
    given at any depth.
    """

    headings: list[Heading] = field(default_factory=list)
    fences: list[tuple[int, int]] = field(default_factory=list)
    indented: list[int] = field(default_factory=list)
    html: list[tuple[int, int, int]] = field(default_factory=list)


def scan(lines: Sequence[str]) -> Blocks:
    """The block structure of a page without its front matter. Linear in its characters."""
    return _Scanner(lines).run()


class _Scanner:
    """The open blocks at some line: containers outermost first, and the innermost leaf."""

    __slots__ = (
        "hollow",
        "kind",
        "leaf",
        "lines",
        "mark",
        "out",
        "row",
        "row_line",
        "since",
        "size",
        "stack",
    )

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.out = Blocks()
        self.stack: list[int] = []  # _QUOTE, or the columns a list item's content is indented by
        self.leaf = _NONE
        self.since = 0  # first line of the leaf
        self.hollow = False  # the innermost list item is still empty
        self.mark, self.size = "", 0  # of the open fence
        self.kind = 0  # of the open HTML block
        self.row, self.row_line = "", -1  # the last line of text inside a container

    def run(self) -> Blocks:
        lines = self.lines
        at, end = 0, len(lines)
        while at < end:
            line = lines[at]
            if line[:1] not in _MARKERS:
                if self.leaf != _PARAGRAPH:
                    self._text(at)
                at += 1
            elif not line.strip(_BLANK):
                self._blank(at)
                at += 1
            else:
                at = self._line(at, line)
        self._leave(0, end)
        return self.out

    def _text(self, at: int) -> None:
        """A line that starts with text at the margin, where no paragraph is open."""
        if self.leaf == _TABLE and not self.stack:
            return
        self._leave(0, at)
        self.leaf, self.since = _PARAGRAPH, at

    def _blank(self, at: int) -> None:
        if _QUOTE in self.stack:
            self._leave(self.stack.index(_QUOTE), at)
        self._blank_inside(at)

    def _blank_inside(self, at: int) -> None:
        """A blank line that belongs to the innermost container."""
        if self.hollow:
            self.stack.pop()
            self.hollow = False
        if self.leaf == _FENCE or (self.leaf == _HTML and self.kind <= _LAST_PLAIN_HTML):
            return
        self._close(at)

    def _close(self, at: int) -> None:
        if self.leaf == _FENCE:
            self.out.fences.append((self.since, at))
        elif self.leaf == _HTML:
            self.out.html.append((self.since, at, self.kind))
        self.leaf = _NONE

    def _leave(self, depth: int, at: int) -> None:
        """Close the leaf and every container from `depth` on."""
        self._close(at)
        if depth < len(self.stack):
            del self.stack[depth:]
            self.hollow = False

    def _line(self, at: int, line: str) -> int:
        """Take a line that may open or continue something; the next line to look at."""
        text = line.expandtabs(4) if "\t" in line else line
        depth, start, first = self._matched(text)
        if first >= len(text):
            self._leave_unmatched(depth, at)
            self._blank_inside(at)
            return at + 1
        if depth < len(self.stack):
            if self.leaf != _PARAGRAPH:
                self._leave(depth, at)
        elif self.leaf == _FENCE:
            if first - start <= 3 and self._ends_fence(text[first:]):
                self._close(at + 1)
            return at + 1
        elif self.leaf == _HTML:
            if self.kind <= _LAST_PLAIN_HTML and _html_ends[self.kind - 1](text, first):
                self._close(at + 1)
            return at + 1
        self.hollow = False
        return self._open(at, text, depth, start, first)

    def _matched(self, text: str) -> tuple[int, int, int]:
        """How many containers go on in this line, where their content starts, its first mark."""
        depth = start = 0
        first = _behind_spaces(text, 0)
        for need in self.stack:
            if need == _QUOTE:
                if first - start > 3 or text[first : first + 1] != ">":
                    break
                start = first + 1
                if text[start : start + 1] == " ":
                    start += 1
                first = _behind_spaces(text, start)
            elif first - start >= need:
                start += need
            elif first < len(text):
                break
            depth += 1
        return depth, start, first

    def _leave_unmatched(self, depth: int, at: int) -> None:
        if depth < len(self.stack):
            self._leave(depth, at)

    def _ends_fence(self, rest: str) -> bool:
        rest = rest.rstrip(_BLANK)
        return len(rest) >= self.size and rest == self.mark * len(rest)

    def _open(self, at: int, text: str, depth: int, start: int, first: int) -> int:
        """Open what the rest of the line starts, containers first; the next line to look at."""
        if self.leaf == _PARAGRAPH and depth == len(self.stack):
            if self._is_table(at, text, start, first):
                self.leaf = _TABLE
                return at + 1
            if self._is_underline(at, text, start, first):
                return at + 1
        while True:
            if first - start > 3:
                return self._indented(at, depth)
            mark = text[first]
            if mark == ">" and depth < MAX_DEPTH:
                self._leave(depth, at)
                self.stack.append(_QUOTE)
                start = first + 2 if text[first + 1 : first + 2] == " " else first + 1
            elif mark in "-+*0123456789":
                if self._is_rule(text, first):
                    self._leave(depth, at)
                    return at + 1
                width = self._item_width(text, depth, first)
                if not width:
                    return self._continue(at, text, depth, first)
                self._leave(depth, at)
                start = self._open_item(text, start, first, width)
            else:
                return self._open_leaf(at, text, depth, first, mark)
            depth += 1
            first = _behind_spaces(text, start)
            if first >= len(text):
                return at + 1

    def _indented(self, at: int, depth: int) -> int:
        if self.leaf != _PARAGRAPH:
            self._leave(depth, at)
            self.leaf = _CODE
            self.out.indented.append(at)
        return at + 1

    def _item_width(self, text: str, depth: int, first: int) -> int:
        """Characters of the list marker at `first`; 0 where none may stand."""
        found = _item(text, first)
        if not found or depth >= MAX_DEPTH:
            return 0
        width = found.end() - first
        if self.leaf == _PARAGRAPH and depth == len(self.stack):
            number = found.group(1)
            if number is not None and int(number) != 1:
                return 0
            if not text[first + width :].strip():
                return 0
        return width

    def _open_item(self, text: str, start: int, first: int, width: int) -> int:
        behind = first + width
        gap = _behind_spaces(text, behind) - behind
        self.hollow = behind + gap >= len(text)
        if self.hollow or gap > 4:
            gap = 1
        self.stack.append(first - start + width + gap)
        return behind + gap

    def _is_rule(self, text: str, first: int) -> bool:
        mark = text[first]
        if mark not in "-*_" or text[first + 1 : first + 2] not in (mark, " "):
            return False
        marks = text[first:].replace(" ", "")
        return len(marks) >= 3 and marks == mark * len(marks)

    def _open_leaf(self, at: int, text: str, depth: int, first: int, mark: str) -> int:
        if mark == "#":
            found = _atx(text, first)
            if found:
                self._leave(depth, at)
                if depth == 0:
                    level = len(found.group(1))
                    title = unclosed(self.lines[at].strip(_BLANK)[level:].strip(_BLANK))
                    self.out.headings.append(Heading(at, at + 1, level, title))
                return at + 1
        elif mark in "`~":
            found = _fence(text, first)
            if found:
                self._leave(depth, at)
                return self._open_fence(at, depth, found.group(1) or found.group(2))
        elif mark == "<":
            kind = self._html_kind(text, first)
            if kind:
                self._leave(depth, at)
                return self._open_html(at, text, depth, first, kind)
        elif mark == "_" and self._is_rule(text, first):
            self._leave(depth, at)
            return at + 1
        return self._continue(at, text, depth, first)

    def _continue(self, at: int, text: str, depth: int, first: int) -> int:
        """A line of text: it goes on with an open paragraph or table, else starts a paragraph."""
        if self.stack:
            self.row, self.row_line = text[first:], at
        if self.leaf == _PARAGRAPH or (self.leaf == _TABLE and depth == len(self.stack)):
            return at + 1
        self._leave(depth, at)
        self.leaf, self.since = _PARAGRAPH, at
        return at + 1

    def _open_fence(self, at: int, depth: int, fence: str) -> int:
        self.leaf, self.since = _FENCE, at
        self.mark, self.size = fence[0], len(fence)
        if depth:
            return at + 1
        for line in range(at + 1, len(self.lines)):
            if fence in self.lines[line] and self._closes_at_margin(self.lines[line]):
                self._close(line + 1)
                return line + 1
        return len(self.lines)

    def _closes_at_margin(self, line: str) -> bool:
        text = line.expandtabs(4)
        first = len(text) - len(text.lstrip(" "))
        return first <= 3 and self._ends_fence(text[first:])

    def _html_kind(self, text: str, first: int) -> int:
        for kind, start in enumerate(_html_starts, 1):
            if start(text, first):
                return 0 if kind == 7 and self.leaf in (_PARAGRAPH, _TABLE) else kind
        return 0

    def _open_html(self, at: int, text: str, depth: int, first: int, kind: int) -> int:
        self.leaf, self.since, self.kind = _HTML, at, kind
        plain = kind <= _LAST_PLAIN_HTML
        if plain and _html_ends[kind - 1](text, first):
            self._close(at + 1)
        if depth or self.leaf == _NONE:
            return at + 1
        until = self._html_end(at + 1, kind)
        self._close(until)
        if not plain:
            self._html_headings(at, until)
        return until

    def _html_end(self, at: int, kind: int) -> int:
        for line in range(at, len(self.lines)):
            text = self.lines[line]
            if kind > _LAST_PLAIN_HTML:
                if not text.strip(_BLANK):
                    return line
            elif _html_ends[kind - 1](text):
                return line + 1
        return len(self.lines)

    def _html_headings(self, at: int, until: int) -> None:
        """Record the headings that start a line of an HTML block and say something."""
        while at < until:
            found = _html_heading(self.lines[at])
            if not found:
                at += 1
                continue
            level = int(found.group(1))
            block = "\n".join(self.lines[at : min(until, at + _HEADING_LINES)])
            closed = _html_heading_ends[level - 1](block, found.end())
            inner = block[found.end() : closed.start()] if closed else self.lines[at][found.end() :]
            ends = at + 1 + inner.count("\n")
            if _words(inner):
                rest = block[closed.end() :].partition("\n")[0].strip() if closed else ""
                text = " ".join(inner.split())
                self.out.headings.append(Heading(at, ends, level, text, found.group(2), rest))
            at = ends

    def _is_underline(self, at: int, text: str, start: int, first: int) -> bool:
        """Whether this line makes the open paragraph a heading, which it then records."""
        if text[first] not in "=-" or first - start > 3 or not _underline(text, first):
            return False
        if self.stack:
            self._close(at)
            return True
        title = self.lines[self.since : at]
        skipped = _definitions(title)
        if skipped == len(title):
            return False
        text = " ".join(line.strip(_BLANK) for line in title[skipped:])
        level = 1 if self.lines[at].lstrip(_BLANK)[0] == "=" else 2
        self.out.headings.append(Heading(self.since + skipped, at + 1, level, text))
        self._close(at)
        return True

    def _is_table(self, at: int, text: str, start: int, first: int) -> bool:
        """Whether this line is the delimiter row of a table that the line before it heads."""
        if text[first] not in "|:-" or first - start > 3:
            return False
        head = self.lines[at - 1]
        if self.stack:
            head = self.row if self.row_line == at - 1 else ""
        if "|" not in head or head.startswith(("    ", "\t")) or not _delimiters(text, first):
            return False
        cells = [cell.strip() for cell in text[first:].split("|")]
        cells = cells[not cells[0] : len(cells) - (not cells[-1] and len(cells) > 1)]
        return all(_column(cell) for cell in cells) and len(cells) == _columns(head)


def _behind_spaces(text: str, at: int) -> int:
    if text[at : at + 1] != " ":
        return at
    found = _spaces(text, at)
    return found.end() if found else at


def _columns(row: str) -> int:
    cells = _pipe.split(row.strip())
    if cells and not cells[0]:
        cells.pop(0)
    if cells and not cells[-1]:
        cells.pop()
    return len(cells)


def _definitions(paragraph: Sequence[str]) -> int:
    """How many of the first lines of a paragraph are link reference definitions."""
    if not paragraph[0].lstrip(_BLANK).startswith("["):
        return 0
    text = "\n".join(line.strip(_BLANK) for line in paragraph)
    at = 0
    while found := _definition(text, at):
        end = _definition_title(text, found.end()) or _line_end(text, found.end())
        if not end:
            break
        at = end.end()
        if at >= len(text):
            return len(paragraph)
    return text.count("\n", 0, at)
