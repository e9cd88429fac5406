"""Headings and the passages between them in; the parts of a page out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refdesk.reading.page import Part, Passage
from refdesk.reading.titles import Ids

Cut = Callable[[int, int], tuple[Passage, ...]]
"""The passages of lines [start, end); asked for in reading order."""


@dataclass(frozen=True, slots=True)
class Head:
    """A heading that opens a part: the index of its first line, and its explicit id or ""."""

    at: int
    level: int
    title: str
    anchor: str


def parts(heads: Sequence[Head], size: int, cut: Cut) -> tuple[Part, ...]:
    """The parts of a page of `size` lines; no lead where nothing before the first heading shows."""
    ids = Ids()
    made: list[Part] = []
    lead = cut(0, heads[0].at if heads else size)
    if any(passage.text for passage in lead):
        made.append(_part("", "", 0, (), lead))
    path: list[Head] = []
    for index, head in enumerate(heads):
        end = heads[index + 1].at if index + 1 < len(heads) else size
        while path and path[-1].level >= head.level:
            path.pop()
        path.append(head)
        breadcrumb = tuple([above.title for above in path])
        name = ids.mint(head.title, head.anchor)
        made.append(_part(name, head.title, head.level, breadcrumb, cut(head.at, end)))
    return tuple(made)


def _part(
    name: str, title: str, level: int, breadcrumb: tuple[str, ...], found: tuple[Passage, ...]
) -> Part:
    first = found[0]
    end = max(passage.end for passage in found if passage.file == first.file)
    return Part(name, title, level, breadcrumb, first.start, end, found)


def top_title(made: Sequence[Part], top: int) -> str:
    """The title a page's own headings give: the first of level `top`, else the only outermost."""
    first = next((part.title for part in made if part.breadcrumb and part.level == top), "")
    outermost = [part.title for part in made if len(part.breadcrumb) == 1]
    return first or (outermost[0] if len(outermost) == 1 else "")
