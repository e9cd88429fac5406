"""The shapes a read page comes out in: Page, Part, Passage. Nothing goes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PASSAGE_CHARS: Final = 2_000
"""Characters a passage aims to stay under; fence lines repeated around cut code may exceed it."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive lines of one part, small enough to be found and quoted by themselves.

    `file` is "" for the page's own file, else the library path of the included AsciiDoc file the
    lines stand in. `start` and `end` are lines of that file from 1, both inclusive. `text` is
    what those lines say as clean Markdown or AsciiDoc. The passages of a part tile its lines;
    only the pieces of one line longer than PASSAGE_CHARS share a line number.
    """

    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """One section of the outline: a heading and its text, as far as the next heading.

    The lead (text before the first heading) has id "", title "", level 0 and breadcrumb ().
    Any other part has an id unique in its page: an explicit anchor, else the GitHub slug of its
    heading. `level` is 1-6 in Markdown, 0-5 in AsciiDoc; `breadcrumb` runs from the outermost
    heading to the part's own. `start` (the heading's first line) and `end` (the last line that
    is not blank) are lines, from 1, of the file of its first passage.
    """

    id: str
    title: str
    level: int
    breadcrumb: tuple[str, ...]
    start: int
    end: int
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page. `title` is "" where neither front matter nor a top heading gives one.

    `url` is the web address that the text itself gives, where its kind trusts it to; else "".
    """

    title: str
    description: str
    tags: tuple[str, ...]
    parts: tuple[Part, ...]
    url: str = ""
