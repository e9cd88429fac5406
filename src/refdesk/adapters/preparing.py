"""One file of a library in, everything that needs no index done to it out: runs in workers.

What this module imports is paid for by every indexing run that starts workers: keep it light.
"""

from __future__ import annotations

import hashlib
import posixpath
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from refdesk.backends import files
from refdesk.backends.catalog import PassageRow, SectionRow, Source
from refdesk.backends.files import Stat
from refdesk.model import LEAD
from refdesk.ranking import analysis
from refdesk.reading import Include, Page, Part, Passage, decode, plain, read

Reader = Callable[[str, str, Include | None], Page]
"""Reads the text of one file: (path, text, who answers includes) -> its page. Never fails."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One file read, sectioned and analysed: `fields` holds the tokens of each passage."""

    path: str
    title: str
    url: str
    source: Source
    sections: tuple[SectionRow, ...]
    passages: tuple[PassageRow, ...]
    fields: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """One file that cannot be served, and why."""

    path: str
    reason: str


def prepare_all(root: Path, paths: Sequence[str], reader: Reader) -> list[Prepared | Refused]:
    """`prepare` each of the files."""
    return [prepare(root, path, reader) for path in paths]


def prepare(root: Path, path: str, reader: Reader = read) -> Prepared | Refused:
    """Read one file and do everything to it that needs no index."""
    seen = time.time_ns()
    status = files.status(root, path)
    try:
        data = files.read(root, path)
    except OSError:
        return Refused(path, files.UNREADABLE)
    text = decode(data)
    if text is None:
        return Refused(path, files.BINARY)
    stat = status or Stat(len(data), 0, 0)
    includes: dict[str, tuple[int, int]] = {}
    page = reader(path, text, _includer(root, includes))
    digest = hashlib.sha256(data).digest()
    source = Source(stat.size, stat.mtime, stat.ctime, seen, digest, includes)
    return _prepared(path, page, source)


def _prepared(path: str, page: Page, source: Source) -> Prepared:
    title = page.title or _title_from_path(path)
    sections: list[SectionRow] = []
    passages: list[PassageRow] = []
    tokens: list[Mapping[str, str]] = []
    for number, part in enumerate(_parts(page)):
        sections.append(
            SectionRow(part.id, part.title, part.level, part.breadcrumb, part.start, part.end)
        )
        for passage in part.passages:
            passages.append(
                PassageRow(number, passage.file, passage.start, passage.end, passage.text)
            )
            body = plain(passage.text, path)
            if number == 0 and len(passages) == 1 and page.description not in body:
                body = f"{page.description}\n{body}"
            tokens.append(
                analysis.fields(
                    title=title, breadcrumb=part.breadcrumb, path=path, body=body, tags=page.tags
                )
            )
    return Prepared(path, title, page.url, source, tuple(sections), tuple(passages), tuple(tokens))


def _parts(page: Page) -> Sequence[Part]:
    """The page's parts; a page that is all front matter is served by its description."""
    if any(part.passages for part in page.parts):
        return page.parts
    words = page.description or page.title
    lead = (Passage("", 0, 0, words),) if words else ()
    return (Part(LEAD, "", 0, (), 0, 0, lead),) if lead else ()


def _title_from_path(path: str) -> str:
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return stem.encode("utf-8", "replace").decode("utf-8") or path


def _includer(
    root: Path, includes: dict[str, tuple[int, int]]
) -> Callable[[str, str], tuple[str, str] | None]:
    """Answers AsciiDoc includes from inside the library and notes what they depend on."""

    def include(base: str, target: str) -> tuple[str, str] | None:
        if "\0" in target or target.startswith("/") or "://" in target:
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(base), target))
        if path.startswith("../") or path == "..":
            return None
        stat = files.status(root, path)
        includes[path] = (stat.size, stat.mtime) if stat else (-1, -1)
        try:
            text = decode(files.read(root, path))
        except OSError:
            return None
        return None if text is None else (path, text)

    return include
