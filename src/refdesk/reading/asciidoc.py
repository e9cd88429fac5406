"""An AsciiDoc page in, its Page out: sections, attributes, includes, both conditional branches."""

from __future__ import annotations

import html
import re
from typing import Final

from refdesk.reading import frontmatter, outline
from refdesk.reading.attributes import Attributes
from refdesk.reading.directives import Include, Line, Lines
from refdesk.reading.outline import Head
from refdesk.reading.page import Page, Passage
from refdesk.reading.passages import Slices, join_blanks

_UNDERLINES: Final = {"=": 0, "-": 1, "~": 2, "^": 3, "+": 4}
_DEEPEST: Final = 5
_DELIMITERS: Final = frozenset("-.=*_+/`|,:!")
_VERBATIM: Final = frozenset("-.+`")
_COMMENT: Final = "////"
_NEAR: Final = (1, 2)
_NOWHERE: Final = -9

_title = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)$").match
_underline = re.compile(r"([=~^+-])\1*$").match
_underlined = re.compile(r"(?!\.).*?\w").match
_delimiter = re.compile(r"(?:([-.=*_+/])\1{3,}|--|(```)[\w+-]*|[|,:!]={3,})$").match
_list = re.compile(r"\[(?:|[\w.#%{,\"'].*|\[(?:|[^\W\d][\w\-:.]*(?:, *.+)?)\])\]$").match
_entry = re.compile(r":(!?)(\w[\w-]*)(!?):(?:[ \t]+(.*))?$").match
_style = re.compile(r"\[([\w-]+)").match
_shorthand_id = re.compile(r"\[[^\s,=\"'\[\]{}#]*#([^\s.,%#\]]+)").match
_named_id = re.compile(r"[\[,]\s*id=\"?([^\s\",\]]+)").search
_block_id = re.compile(r"\[\[([^\W\d][\w\-:.]*)").match
_silent_list = re.compile(r"\[(?:\[.*\]|[.#%][^\s,]*|id=[^,]*|discrete[^,]*|float[^,]*)?\]$").match
_replaces = re.compile(r"subs=\"?[^\"]*(?:attributes|normal)").search
_last_id = re.compile(r"\[\[([^\W\d][\w\-:.]*)(?:, *[^\]]+)?\]\]$").search
_first_id = re.compile(r"\[\[([^\W\d][\w\-:.]*)(?:, *[^\]]+)?\]\][ \t]*").match
_heading_link = re.compile(r"(?:link:|xref:|https?://)[^\s\[\]]*\[([^\[\]]*)\]").sub
_block_title = re.compile(r"\.\.?[^ \t.]").match
_lone_block = re.compile(
    r"(?:'{3,}|-{3}|- - -|\*{3}|\* \* \*|<{3,}|(?:image|video|audio|toc)::\S*\[.*\])$"
).match


def read(path: str, text: str, include: Include | None) -> Page:
    """The outline of an AsciiDoc page with clean passages.

    `[discrete]` headings are text. A part whose heading stands in an included file has the lines
    of that file; it ends where the next heading starts, in whatever file that is.
    """
    lines = text.split("\n")
    matter = frontmatter.take(lines)
    reader = _Reader(path, list(enumerate(lines, 1))[matter.lines :], include)
    reader.run()
    parts = outline.parts(reader.heads, len(reader.lines), _cutter(reader))
    keywords = tuple(tag.strip() for tag in reader.attributes.get("keywords").split(","))
    return Page(
        matter.title or outline.top_title(parts, 0),
        matter.description or reader.attributes.get("description"),
        matter.tags or tuple(filter(None, keywords)),
        parts,
    )


def _cutter(reader: _Reader) -> outline.Cut:
    lines = reader.lines
    breaks = [
        at
        for at in range(1, len(lines))
        if lines[at].file != lines[at - 1].file
        or lines[at].number - lines[at - 1].number not in _NEAR
    ]
    slices = Slices(reader.shown, reader.fences, breaks)

    def cut(start: int, end: int) -> tuple[Passage, ...]:
        while end > start and not lines[end - 1].source.strip():
            end -= 1
        found = [
            Passage(lines[first].file, lines[first].number, lines[last].number, text)
            for first, last, text in slices.cut(start, end)
        ]
        return tuple([passage for passage in found if passage.text] or found[:1])

    return cut


class _Reader:
    """The state of the parse: what the next line may start or go on with, and what was read."""

    def __init__(self, path: str, lines: list[tuple[int, str]], include: Include | None) -> None:
        self.attributes = Attributes()
        self.source = Lines(path, lines, include, self.attributes.replace)
        self.lines: list[Line] = []
        self.shown: list[str | None] = []
        self.fences: list[tuple[int, int]] = []
        self.heads: list[Head] = []
        self.open_references: list[int] = []  # lines with attributes that may be defined later
        self.fresh = True  # a block may start here
        self.lone = _NOWHERE  # the line that started a paragraph, as long as it is its only one
        self.headed = False  # inside the document header, behind its title
        self.style = ""  # what the block attribute lines just above say
        self.anchor = ""
        self.replaces = False
        self.until = ""  # the line that ends the open delimited block
        self.inner = ""  # the same for a verbatim block inside a compound one
        self.since = 0  # where the open verbatim block starts
        self.entry = ""  # the attribute whose value goes on in this line
        self.value: list[str] = []
        self.offset = 0  # :leveloffset:
        self.lists: list[int] = []  # the block attribute lines just above
        self.branches: list[bool] = []  # whether a block could start where a conditional opened

    def run(self) -> None:
        """Read every line."""
        for line in self.source:
            self.lines.append(line)
            self.shown.append(None)
            text = line.text
            if line.branch:
                self._branch(line.branch)
            elif text is not None:
                self.shown[-1] = self._line(line, text)
        if self.until:
            self._end_verbatim(len(self.lines))
        self._settle()

    def _settle(self) -> None:
        """Replace the attributes that are defined below their use."""
        for at in self.open_references:
            text = self.shown[at]
            if text:
                self.shown[at] = self.attributes.replace(text)
        for at, head in enumerate(self.heads):
            if "{" in head.title:
                title = self.attributes.replace(head.title)
                self.heads[at] = Head(head.at, head.level, title, head.anchor)
        join_blanks(self.shown)

    def _branch(self, branch: int) -> None:
        """Where one branch of a conditional could start a block, so can what comes after it."""
        if branch > 0:
            self.branches.append(self.fresh)
        elif self.branches:
            self.fresh = self.branches.pop() or self.fresh
        self.lone = _NOWHERE

    def _line(self, line: Line, text: str) -> str | None:
        if self.until:
            return self._inside(text)
        if self.entry:
            self._go_on(line, text)
            return None
        bare = text.rstrip()
        if not bare:
            if not self.fresh:
                self._start_block()
            self.fresh, self.headed = True, False
            return ""
        first = bare[0]
        if first == "/" and bare.startswith("//") and not bare.startswith("///"):
            return None
        if self.lone == len(self.lines) - 2 and first in _UNDERLINES and self._underlines(bare):
            return None
        if first in _DELIMITERS:
            found = _delimiter(bare)
            if found:
                return self._open(bare, "```" if found.group(2) else bare)
            if first == ":" and (self.fresh or self.headed):
                entry = _entry(bare)
                if entry:
                    self._define(line, entry)
                    return None
        if first == "[" and _list(bare):
            return self._attribute_list(bare)
        return self._text(bare, first)

    def _text(self, bare: str, first: str) -> str | None:
        """A line that is no metadata: a title, a block of one line, or text."""
        if self.headed:
            return self._replaced(bare)
        if self.fresh:
            found = _title(bare) if first in "=#" else None
            if found:
                marks, title = found.groups()
                title = _without_closing(title, marks)
                return self._head(len(marks) - 1, title, len(self.lines) - 1, bare)
            if first == "." and _block_title(bare):
                return self._replaced(bare)
            if first in "'-*<ivat" and _lone_block(bare):
                self._start_block()
                self.fresh = True
                return self._replaced(bare)
            self.lone = len(self.lines) - 1
            self.fresh = False
        else:
            self._start_block()
        return self._replaced(bare)

    def _replaced(self, text: str) -> str:
        if "{" not in text:
            return text
        text = self.attributes.replace(text)
        if "{" in text:
            self.open_references.append(len(self.lines) - 1)
        return text

    def _start_block(self) -> None:
        """Forget what was said of the block to come: it has come."""
        self.style = self.anchor = ""
        self.replaces = False
        self.lone = _NOWHERE
        self.lists.clear()

    def _head(self, level: int, title: str, at: int, source: str) -> str | None:
        """Record a section title unless it is a discrete one; what to show for its first line."""
        if self.style in ("discrete", "float"):
            self._start_block()
            self.fresh = True
            return self._replaced(source)
        level = min(max(level + self.offset + self.lines[at].offset, 0), _DEEPEST)
        title, anchor = _named(title)
        title = self._replaced(title)
        self.headed = level == 0 and not self.heads
        self.heads.append(Head(at, level, title, self.anchor or anchor))
        for above in self.lists:
            self.shown[above] = None
        self._start_block()
        self.fresh = True
        return f"{'=' * (level + 1)} {title}"

    def _underlines(self, bare: str) -> bool:
        """Whether this line makes the line above it a title, which it then records."""
        above = self.lines[-2]
        title = (above.text or "").rstrip()
        if above.file != self.lines[-1].file or abs(len(title) - len(bare)) > 1:
            return False
        if not _underline(bare) or not _underlined(title):
            return False
        level = _UNDERLINES[bare[0]]
        self.shown[-2] = self._head(level, title.strip(), len(self.lines) - 2, title)
        return True

    def _define(self, line: Line, entry: re.Match[str]) -> None:
        before, name, behind, value = entry.groups()
        if before or behind:
            self.attributes.unset(name)
            self.offset = 0 if name == "leveloffset" else self.offset
            return
        self.entry, self.value = name, []
        self._go_on(line, value or "")

    def _go_on(self, line: Line, text: str) -> None:
        """Take the value of an attribute entry as far as this line goes."""
        text = text.strip()
        more = text.endswith(" \\") or text == "\\"
        self.value.append(text[:-1].rstrip() if more else text)
        if more:
            return
        value = " ".join(self.value).strip()
        if self.entry == "leveloffset":
            self._move(value)
        self.attributes.set(self.entry, value.removesuffix("@"), sure=line.sure)
        self.entry = ""

    def _move(self, value: str) -> None:
        if re.fullmatch(r"[+-]?[0-9]{1,2}", value):
            self.offset = int(value) + (self.offset if value[0] in "+-" else 0)

    def _attribute_list(self, bare: str) -> str | None:
        if not self.fresh:
            self._start_block()
            self.fresh = True
        found = _block_id(bare)
        if not found:
            style = _style(bare)
            self.style = style.group(1) if style else self.style
            self.replaces = bool(_replaces(bare))
            found = _shorthand_id(bare) or _named_id(bare)
        if found:
            self.anchor = found.group(1)
        self.lists.append(len(self.lines) - 1)
        return None if _silent_list(bare) else self._replaced(bare)

    def _open(self, bare: str, until: str) -> str | None:
        """Open a delimited block: it goes on to the next line that equals `until`."""
        self.until = until
        self.since = len(self.lines) - 1
        replaces = self.replaces
        self._start_block()
        self.replaces = replaces
        self.headed = False
        if bare.startswith(_COMMENT):
            self.source.verbatim = True
            return None
        return bare

    def _inside(self, text: str) -> str | None:
        bare = text.rstrip()
        if bare == self.until:
            return self._close(bare)
        if self.until.startswith(_COMMENT):
            return None
        if self._is_verbatim(self.until):
            return self._replaced(text) if self.replaces else text
        return self._inside_compound(text, bare)

    def _is_verbatim(self, until: str) -> bool:
        return until[0] in _VERBATIM and until != "--"

    def _close(self, bare: str) -> str | None:
        comment = self.until.startswith(_COMMENT)
        self._end_verbatim(len(self.lines))
        self.until = self.inner = ""
        self.replaces = False
        self.fresh, self.lone = True, _NOWHERE
        self.source.verbatim = False
        return None if comment else bare

    def _end_verbatim(self, end: int) -> None:
        if self.inner or self._is_verbatim(self.until):
            self.fences.append((self.since, end))

    def _inside_compound(self, text: str, bare: str) -> str | None:
        """A line of an example, sidebar, quote, open block or table."""
        if self.inner:
            if bare == self.inner:
                self.fences.append((self.since, len(self.lines)))
                comment = self.inner.startswith(_COMMENT)
                self.inner = ""
                return None if comment else text
            return None if self.inner.startswith(_COMMENT) else text
        first = bare[:1]
        if first == "/" and bare.startswith("//") and not bare.startswith("///"):
            return None
        if first in _DELIMITERS and first:
            found = _delimiter(bare)
            if found and (first == "/" or self._is_verbatim(bare)):
                self.inner = "```" if found.group(2) else bare
                self.since = len(self.lines) - 1
                return None if first == "/" else text
        if first == "[" and _silent_list(bare):
            return None
        return self._replaced(text)


def _without_closing(title: str, marks: str) -> str:
    """A title without the marks that repeat those before it."""
    bare = title.removesuffix(marks)
    return bare.rstrip() if bare != title and bare[-1:].isspace() else title


def _named(title: str) -> tuple[str, str]:
    """A title without its inline anchors, and the id they give."""
    anchor = ""
    if "[[" in title:
        found = _last_id(title)
        if found:
            anchor, title = found.group(1), title[: found.start()].rstrip()
        found = _first_id(title)
        if found:
            anchor, title = found.group(1), title[found.end() :]
    if "[" in title:
        title = _heading_link(r"\1", title)
    return html.unescape(title), anchor
