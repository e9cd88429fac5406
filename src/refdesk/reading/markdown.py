"""A Markdown or MDX page in, its Page out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refdesk.reading import cleaning, frontmatter, outline
from refdesk.reading.blocks import Heading, scan
from refdesk.reading.outline import Head
from refdesk.reading.page import Page, Passage
from refdesk.reading.passages import Slices
from refdesk.reading.titles import anchor_of, html_id, title_of

_LINES_ABOVE: Final = 8
_WHOLE_KINDS: Final = 2


def read(text: str) -> Page:
    """The outline of a Markdown page with clean passages.

    Headings are CommonMark's top-level headings and, as an extension, HTML headings that start a
    line of a top-level HTML block. Front matter belongs to no part.
    """
    lines = text.split("\n")
    matter = frontmatter.take(lines)
    del lines[: matter.lines]
    blocks = scan(lines)
    heads = _heads(lines, blocks.headings)
    shown = cleaning.clean(lines, blocks, [head.title for head in heads])
    whole = [(start, end) for start, end, kind in blocks.html if kind <= _WHOLE_KINDS]
    slices = Slices(shown, sorted([*blocks.fences, *whole]))
    first_line = matter.lines + 1

    def cut(start: int, end: int) -> tuple[Passage, ...]:
        while end > start and not lines[end - 1].strip():
            end -= 1
        return tuple(
            [
                Passage("", first + first_line, last + first_line, piece)
                for first, last, piece in slices.cut(start, end)
            ]
        )

    parts = outline.parts(heads, len(lines), cut)
    title = matter.title or outline.top_title(parts, 1)
    return Page(title, matter.description, matter.tags, parts)


def _heads(lines: Sequence[str], headings: Sequence[Heading]) -> list[Head]:
    heads = []
    floor = 0
    for heading in headings:
        title, anchor = title_of(heading.text)
        if heading.tag:
            anchor = html_id(heading.tag) or anchor
        anchor = anchor or _anchor_above(lines, heading.line, floor)
        heads.append(Head(heading.line, heading.level, title, anchor))
        floor = heading.until
    return heads


def _anchor_above(lines: Sequence[str], line: int, floor: int) -> str:
    """The id of an empty anchor that stands just above a heading, "" if none does."""
    for at in range(line - 1, max(floor, line - _LINES_ABOVE) - 1, -1):
        text = lines[at]
        if "<" in text:
            return anchor_of(text)
        if text.strip():
            return ""
    return ""
