"""Raw Markdown, AsciiDoc and text in, outlines and clean Markdown out. Pure: no I/O here."""

from __future__ import annotations

from typing import Final

from refdesk.reading import asciidoc, asciitext, markdown, marktext, plaintext
from refdesk.reading.directives import Include
from refdesk.reading.encoding import decode
from refdesk.reading.page import Page, Part, Passage
from refdesk.reading.spans import without_reserved

__all__ = ["Include", "Page", "Part", "Passage", "decode", "plain", "read"]

_ASCIIDOC: Final = (".adoc", ".asciidoc")
_TEXT: Final = (".txt",)


def read(path: str, text: str, include: Include | None = None) -> Page:
    """The page that `text` is, read by the suffix of `path`; other suffixes count as Markdown.

    `text` has LF line ends and no byte order mark, as `decode` gives it. `include` is asked for
    the files an AsciiDoc page includes: it guards paths, this room guards cycles, depth and size.
    Never fails, whatever the text holds.
    """
    name = path.lower()
    text = without_reserved(text)
    if name.endswith(_ASCIIDOC):
        return asciidoc.read(path, text, include)
    return plaintext.read(text) if name.endswith(_TEXT) else markdown.read(text)


def plain(text: str, path: str = "") -> str:
    """The words and code of a clean passage of the file `path`, none of its markup."""
    name = path.lower()
    if name.endswith(_ASCIIDOC):
        return asciitext.plain(text)
    return text.strip() if name.endswith(_TEXT) else marktext.plain(text)
