"""The seam: what every corpus kind offers to the manager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from refdesk.model import Changes, Document, Entry, Found, Hit, Library, Platform, Survey

Progress = Callable[[int, int], None]
"""Told (files done, files in all) while a library is indexed."""


class Adapter(Protocol):
    """An open library. Blocking and safe to call from many threads; the manager owns the rest."""

    @property
    def library(self) -> Library:
        """What is known of the library at this moment."""

    def search(self, query: str, limit: int) -> Found:
        """The best sections of up to `limit` pages, without snippets.

        Raises:
            Unavailable: the library cannot answer now.
        """

    def passage(self, hit: Hit) -> str:
        """The readable text that `hit` was found for: what its snippet is cut from."""

    def fetch(self, path: str) -> Document:
        """The document at `path`.

        Raises:
            NotFound: there is none; near misses are suggested.
            Unavailable: the library cannot answer now.
        """

    def resolve(self, url: str) -> str | None:
        """The path of the page that lives at `url`, None when it is not of this library."""

    def documents(self, prefix: str, after: str, limit: int) -> Sequence[Entry]:
        """Up to `limit` entries whose path starts with `prefix`, in order, past `after`."""

    def refresh(self, *, force: bool = False, progress: Progress | None = None) -> Changes:
        """Bring the library up to date with its source and answer from the result at once.

        Raises:
            Busy: another process is doing it.
            OpenError: the source cannot be read or the index cannot be written.
        """

    def close(self) -> None:
        """Let go of files and threads."""


@runtime_checkable
class Surveyed(Protocol):
    """What a kind offers besides, when it knows what its corpus is made of."""

    def platforms(self) -> Sequence[Platform]:
        """What the corpus tells how to deploy on, in order of name; quick to answer."""

    def survey(self) -> Survey | None:
        """Where the corpus comes from and what it holds; None while it is indexed first."""
