"""A library that lives in memory: the adapter seam without files, with faults on demand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from refdesk.adapters.base import Progress
from refdesk.errors import NotFound
from refdesk.manifest import LibraryEntry, Manifest
from refdesk.model import (
    Changes,
    Document,
    Entry,
    Found,
    Hint,
    Hit,
    Kind,
    Library,
    Ref,
    Section,
    State,
)


@dataclass
class MemoryLibrary:
    """Pages held as title -> text; a page is found when it holds a word of the query."""

    name: str
    pages: dict[str, str]
    scale: str = "memory"
    scores: dict[str, float] = field(default_factory=dict)
    fault: Callable[[], None] | None = None
    weak: bool = False
    did_you_mean: str = ""
    state: State = State.READY
    closed: bool = False
    fetched: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    refreshed: int = 0

    @property
    def library(self) -> Library:
        return Library(self.name, "memory", self.state, len(self.pages), len(self.pages))

    def search(self, query: str, limit: int) -> Found:
        if self.fault is not None:
            self.fault()
        words = set(query.lower().split())
        hits = [
            self._hit(title, number)
            for number, (title, text) in enumerate(self.pages.items())
            if words & set(f"{title} {text}".lower().split())
        ]
        hits.sort(key=lambda hit: -hit.score)
        terms = tuple(frozenset({word}) for word in sorted(words))
        return Found(tuple(hits[:limit]), self.weak, self.did_you_mean, self.scale, terms)

    def passage(self, hit: Hit) -> str:
        self.cut.append(hit.title)
        return self.pages[hit.title]

    def fetch(self, path: str) -> Document:
        if self.fault is not None:
            self.fault()
        self.fetched.append(path)
        if path not in self.pages:
            raise NotFound("no such page", [str(Ref(self.name, title)) for title in self.pages])
        section = Section("", path, 1, (path,), 1, 1, self.pages[path])
        return Document(Ref(self.name, path), Kind.PAGE, path, "", "", (section,))

    def resolve(self, url: str) -> str | None:
        path = url.removeprefix(f"https://{self.name.lower()}.example/")
        return path if path in self.pages else None

    def documents(self, prefix: str, after: str, limit: int) -> Sequence[Entry]:
        titles = sorted(t for t in self.pages if t.startswith(prefix) and t > after)
        return [Entry(Ref(self.name, title), title, title) for title in titles[:limit]]

    def refresh(self, *, force: bool = False, progress: Progress | None = None) -> Changes:
        if self.fault is not None:
            self.fault()
        self.refreshed += 1
        self.state = State.READY
        return Changes(unchanged=len(self.pages))

    def close(self) -> None:
        self.closed = True

    def _hit(self, title: str, number: int) -> Hit:
        return Hit(
            ref=Ref(self.name, title),
            kind=Kind.PAGE,
            title=title,
            url="",
            snapshot="",
            breadcrumb=(title,),
            location="",
            score=self.scores.get(title, 1.0 / (number + 1)),
            passage=number,
            sections=(Hint("", title),),
        )


def manifest_of(tmp_path: Path, *names: str) -> Manifest:
    """A manifest that names libraries of one empty folder."""
    entries = tuple(LibraryEntry(name, "markdown", tmp_path) for name in names)
    return Manifest(tmp_path / "corpus.toml", tmp_path, entries)


class Opener:
    """Hands out prepared libraries by name."""

    def __init__(self, *libraries: MemoryLibrary) -> None:
        self.libraries = {library.name: library for library in libraries}

    def __call__(self, entry: LibraryEntry, data_dir: Path) -> MemoryLibrary:
        return self.libraries[entry.name]


class Gate:
    """A fault that holds calls until it is opened."""

    def __init__(self) -> None:
        self._open = threading.Event()

    def __call__(self) -> None:
        self._open.wait(30)

    def open(self) -> None:
        self._open.set()
