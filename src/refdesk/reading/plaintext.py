"""Plain text in, a page of one lead part out."""

from __future__ import annotations

from refdesk.reading import passages
from refdesk.reading.page import Page, Part, Passage


def read(text: str) -> Page:
    """A page without headings: its text is the lead, cut into passages at blank lines."""
    found = tuple(
        Passage("", first + 1, last + 1, piece)
        for first, last, piece in passages.cut(text.split("\n"), ())
    )
    lead = (Part("", "", 0, (), found[0].start, found[-1].end, found),) if found else ()
    return Page("", "", (), lead)
