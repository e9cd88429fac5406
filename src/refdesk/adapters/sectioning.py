"""Versions of pages in, their sections with a digest of each text out: runs in workers.

What this module imports is paid for by every run that starts workers: keep it light.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from refdesk.adapters import workers
from refdesk.model import LEAD
from refdesk.reading import Page, decode

Read = Callable[[str, str], Page]
"""How a page is read: a function of a module, because worker processes call it."""

PARALLEL: Final = 2_000
"""Fewer versions are sectioned here: starting workers would cost more than they save."""
_BATCH_BYTES: Final = 400_000


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a page, and the path it stood at."""

    key: tuple[str, str]
    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """One section of a version. `digest` tells texts apart, white space aside; `body` is None
    where the same text has come before.
    """

    digest: bytes
    body: str | None
    section: str
    breadcrumb: tuple[str, ...]


Sectioned = tuple[tuple[str, str], str, list[Cut]]
"""Key, path and sections of one version."""


def section_all(versions: Iterable[Version], count: int, read: Read) -> Iterator[Sectioned]:
    """The sections of each version, in order; with `count` large, cut in worker processes."""
    if workers.CORES == 1 or count < PARALLEL:
        seen: set[bytes] = set()
        for version in versions:
            yield _section(version, read, seen)
        return
    yield from workers.each(_section_batch, ((batch, read) for batch in _batches(versions)))


_seen: set[bytes] = set()
"""The texts that this worker has handed over. A worker takes its batches in order and they are
read in order, so that a body always comes before those left out for it."""


def _section_batch(batch: Sequence[Version], read: Read) -> list[Sectioned]:
    return [_section(version, read, _seen) for version in batch]


def _section(version: Version, read: Read, seen: set[bytes]) -> Sectioned:
    text = decode(version.data)
    if not text:
        return version.key, version.path, []
    cuts = []
    for section, breadcrumb, body in _texts(read(version.path, text), text.split("\n")):
        plain = " ".join(body.split())
        digest = hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=16).digest()
        cuts.append(Cut(digest, None if digest in seen else body, section, breadcrumb))
        seen.add(digest)
    return version.key, version.path, cuts


def _texts(page: Page, lines: Sequence[str]) -> list[tuple[str, tuple[str, ...], str]]:
    """(id, breadcrumb, source text) of the sections that the library's own index has, too."""
    if any(part.passages for part in page.parts):
        return [
            (part.id, part.breadcrumb, "\n".join(lines[max(part.start - 1, 0) : part.end]))
            for part in page.parts
        ]
    words = page.description or page.title
    return [(LEAD, (), words)] if words else []


def _batches(versions: Iterable[Version]) -> Iterator[list[Version]]:
    batch: list[Version] = []
    size = 0
    for version in versions:
        batch.append(version)
        size += len(version.data)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
