"""A folder of pages in, a searchable library out: what the kinds that live in files share.

A kind is a subclass that says only what differs: where its pages lie, how one is read, what its
address is, and what the reader is shown of its place.
"""

from __future__ import annotations

import difflib
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from refdesk.adapters import dense, indexing
from refdesk.adapters.base import Progress
from refdesk.adapters.indexing import Folder
from refdesk.adapters.preparing import Reader
from refdesk.backends import generations
from refdesk.backends.catalog import Catalog, Located
from refdesk.backends.lexical import LexicalReader
from refdesk.errors import NotFound, OpenError, Unavailable
from refdesk.manifest import LibraryEntry
from refdesk.model import (
    Changes,
    Document,
    Entry,
    Found,
    Hint,
    Hit,
    Kind,
    Library,
    Plan,
    Ref,
    Scored,
    State,
)
from refdesk.ranking import diversity
from refdesk.ranking import plan as planner
from refdesk.ranking.dense import blend
from refdesk.reading import plain, read

HINTS: Final = 3
"""Sections of a page that a hit points at, at most."""
_NEAR_MISSES: Final = 3
HITS_PER_PAGE: Final = 2
RETIREMENT: Final = 60.0
"""Seconds for which a replaced index stays open: longer than any call may last."""
PASSAGES_PER_PAGE: Final = 4
CANDIDATES: Final = 100
"""Passages asked of the words where meaning has a say: it may lift any of them."""
COPY: Final = 0.8
"""What is left of the score of a page that says what a better one says."""
WEAK: Final = 0.4
"""An answer whose best page covers less is weak."""
SCALE: Final = "lexical"
"""Libraries with an index of our own: one analysis, one scoring, so scores compare."""


@dataclass(frozen=True, slots=True)
class _Generation:
    """One published index, open for reading."""

    folder: Path
    catalog: Catalog
    lexical: LexicalReader
    addresses: dict[str, str]

    def close(self) -> None:
        self.lexical.close()
        self.catalog.close()


class FolderLibrary:
    """A library of files. Answers from its last index while a new one is built."""

    def __init__(self, entry: LibraryEntry, data_dir: Path) -> None:
        """Open the library; an index that is already there answers at once.

        Raises:
            OpenError: the pages are missing, or the rules leave nothing of them.
        """
        self._entry = entry
        self.folder = Folder(
            name=entry.name,
            adapter=entry.adapter,
            root=entry.path,
            include=entry.include,
            exclude=entry.exclude,
            home=data_dir.absolute() / entry.name,
            reader=self._reader(),
        )
        self._swap = threading.Lock()
        self._retired: list[tuple[float, _Generation]] = []
        self._current = self._open_current()
        self._progress = ""
        self._leg = dense.Leg(self.folder.home, dense.WORDS_ONLY)
        if self._current is None:
            self.folder = self._located()
            indexing.scan(self.folder)

    # What a kind may say of itself

    def _reader(self) -> Reader:
        """How one file is read: a function of a module, because worker processes call it."""
        return read

    def _located(self) -> Folder:
        """The folder as it is to be indexed now: where the pages lie and what is known of them.

        Raises:
            OpenError: they cannot be reached.
        """
        return self.folder

    def _addresses(self, catalog: Catalog) -> dict[str, str]:
        """Address key, as `resolve` looks it up -> path of the page."""
        return {}

    def _url(self, path: str, noted: str) -> str:
        """The web address of the page at `path`; `noted` is the one its text gives, or ""."""
        return noted

    def _snapshot(self, mtime: int) -> str:
        """How old a page is to be called whose file changed at `mtime`, as an ISO date."""
        return day(mtime)

    def _breadcrumb(self, place: Located) -> tuple[str, ...]:
        """The headings above a hit, outermost first, and whatever else tells where it stands."""
        return place.section.breadcrumb

    def resolve(self, url: str) -> str | None:
        """The path of the page at `url`; a kind without addresses knows none."""
        return None

    # What they share

    def attach(self, encoder: dense.Encoder) -> None:
        """Search by meaning too, with this model, from the next refresh on."""
        self._leg = dense.Leg(self.folder.home, encoder)

    def finish(self, progress: Progress | None = None) -> bool:
        """Wait until the vectors of the pages are computed; False when that has failed."""
        return self._leg.finish(progress)

    @property
    def library(self) -> Library:
        """Counts and state of the generation that answers now."""
        generation = self._current
        if generation is None:
            return Library(
                self._entry.name, self._entry.adapter, State.INDEXING, reason=self._progress
            )
        catalog = generation.catalog
        return Library(
            self._entry.name,
            self._entry.adapter,
            State.READY,
            documents=catalog.documents,
            sections=catalog.sections,
            snapshot=self._snapshot(catalog.newest),
            dense=self._leg.state,
        )

    def search(self, query: str, limit: int) -> Found:
        """The best sections of up to `limit` pages, at most a few of each, best first.

        Raises:
            Unavailable: the first index is still being built.
        """
        generation = self._generation()
        plan = planner.plan(query, generation.lexical)
        depth = CANDIDATES if self._leg.state.on else 0
        scored = generation.lexical.search(plan, max(limit * PASSAGES_PER_PAGE, depth))
        if scored and depth:
            scored = _blended(scored, self._leg.scores(query), generation.catalog.openings, limit)
        pages = _pages(scored, limit)
        located = generation.catalog.locate([one.passage for page in pages for one in page])
        best = [
            located[page[0].passage].text if page[0].passage in located else "" for page in pages
        ]
        copied = diversity.copies(best)
        hits = [
            hit
            for number, page in enumerate(pages)
            for hit in self._hits(page, located, COPY if number in copied else 1.0)
        ]
        hits.sort(key=lambda hit: -hit.score)
        weak = max((one.coverage for one in scored), default=0.0) < WEAK
        return Found(
            tuple(hits),
            weak=weak,
            did_you_mean=plan.suggestion,
            scale=SCALE,
            terms=_terms(plan),
        )

    def passage(self, hit: Hit) -> str:
        """The readable text of the passage that `hit` was found for."""
        alive = [generation for _, generation in reversed(self._retired)]
        for generation in (self._current, *alive):
            text = generation.catalog.passage(hit.passage) if generation is not None else None
            if text is not None:
                return plain(text, hit.ref.path)
        return ""

    def fetch(self, path: str) -> Document:
        """The document at `path`.

        Raises:
            NotFound: there is none; near misses are suggested.
            Unavailable: the first index is still being built.
        """
        catalog = self._generation().catalog
        page = catalog.page(path)
        if page is None:
            near = difflib.get_close_matches(path, catalog.paths(), _NEAR_MISSES, 0.6)
            hint = ", or try one of the suggestions" if near else ""
            raise NotFound(
                f"library {self._entry.name!r} holds no document at that ref; search for it{hint}",
                [str(Ref(self._entry.name, close)) for close in near],
            )
        return Document(
            ref=Ref(self._entry.name, path),
            kind=Kind.PAGE,
            title=page.title,
            url=self._url(path, page.url),
            snapshot=self._snapshot(page.mtime),
            sections=page.sections,
        )

    def documents(self, prefix: str, after: str, limit: int) -> Sequence[Entry]:
        """Up to `limit` entries whose path starts with `prefix`, in order, past `after`."""
        rows = self._generation().catalog.entries(prefix, after, limit)
        return [Entry(Ref(self._entry.name, path), path, title) for path, title in rows]

    def refresh(self, *, force: bool = False, progress: Progress | None = None) -> Changes:
        """Index what has changed in the folder and answer from the result.

        Raises:
            Busy: another process is indexing this library.
            OpenError: the folder cannot be read, or DATA_DIR not be written.
        """
        if self._current is None:
            self._reopen()
        unusable = self._current is None
        self.folder = self._located()
        changes = indexing.update(
            self.folder, force=force or unusable, progress=self._noted(progress)
        )
        self._reopen()
        if self._current is not None:
            catalog = self._current.catalog
            found = (catalog.page(path) for path in catalog.paths())
            self._leg.refresh(page for page in found if page is not None)
        return changes

    def close(self) -> None:
        """Close the index."""
        self._leg.close()
        with self._swap:
            alive = [generation for _, generation in self._retired]
            current, self._current, self._retired = self._current, None, []
        for generation in (*alive, current):
            if generation is not None:
                generation.close()

    def _hits(
        self, page: Sequence[Scored], located: Mapping[int, Located], weight: float
    ) -> list[Hit]:
        """The hits of one page: its best sections, each once."""
        sections: dict[str, tuple[float, Located]] = {}
        for one in page:
            place = located.get(one.passage)
            if place is not None:
                sections.setdefault(place.section.id, (one.score * weight, place))
        hints = tuple(
            Hint(place.section.id, place.section.title or place.document_title)
            for _, place in sections.values()
        )
        return [
            self._hit(score, place, hints)
            for score, place in list(sections.values())[:HITS_PER_PAGE]
        ]

    def _hit(self, score: float, place: Located, hints: tuple[Hint, ...]) -> Hit:
        lines = f":{place.start}-{place.end}" if place.start else ""
        own = Hint(place.section.id, place.section.title or place.document_title)
        return Hit(
            ref=Ref(self._entry.name, place.path),
            kind=Kind.PAGE,
            title=place.document_title,
            url=self._url(place.path, place.url),
            snapshot=self._snapshot(place.mtime),
            breadcrumb=self._breadcrumb(place),
            location=(place.file or place.path) + lines,
            score=score,
            passage=place.passage,
            sections=(own, *(hint for hint in hints if hint != own))[:HINTS],
        )

    def _generation(self) -> _Generation:
        generation = self._current
        if generation is None:
            raise Unavailable(
                f"library {self._entry.name!r} is being indexed for the first time"
                + (f" ({self._progress})" if self._progress else "")
                + "; try again in a moment"
            )
        return generation

    def _noted(self, progress: Progress | None) -> Progress:
        def note(done: int, total: int) -> None:
            self._progress = f"{done} of {total} files"
            if progress is not None:
                progress(done, total)

        return note

    def _reopen(self) -> None:
        """Answer from the published generation; the one before stays open for calls under way."""
        opened = self._open_current()
        if opened is None:
            return
        now = time.monotonic()
        with self._swap:
            if self._current is not None and opened.folder == self._current.folder:
                finished = [opened]
            else:
                finished = [old for retired, old in self._retired if now - retired > RETIREMENT]
                self._retired = [(t, old) for t, old in self._retired if now - t <= RETIREMENT]
                if self._current is not None:
                    self._retired.append((now, self._current))
                self._current = opened
        for generation in finished:
            generation.close()

    def _open_current(self) -> _Generation | None:
        folder = generations.current(self.folder.home)
        if folder is None:
            return None
        catalog = Catalog.open_if_sound(folder)
        if catalog is None:
            return None
        try:
            lexical = LexicalReader(folder / indexing.LEXICAL)
        except OpenError:
            lexical = None
        if lexical is None or catalog.meta.get("stamp") != indexing.stamp(self._entry.adapter):
            catalog.close()
            return None
        return _Generation(folder, catalog, lexical, self._addresses(catalog))


def _blended(
    scored: Sequence[Scored],
    meaning: Mapping[str, float],
    openings: Mapping[str, tuple[int, int]],
    limit: int,
) -> list[Scored]:
    """What words found, moved by how near its page is in meaning, and near pages they missed."""
    known = {openings[path]: share for path, share in meaning.items() if path in openings}
    near = {document: share for (document, _), share in known.items()}
    return blend(scored, near, dict(known.keys()), limit)


def _pages(scored: Sequence[Scored], limit: int) -> list[list[Scored]]:
    """The best passages of the best `limit` pages, the best page first."""
    pages: dict[int, list[Scored]] = {}
    for one in scored:
        page = pages.setdefault(one.document, []) if len(pages) < limit else pages.get(one.document)
        if page is not None and len(page) < HINTS:
            page.append(one)
    return list(pages.values())


def _terms(plan: Plan) -> tuple[frozenset[str], ...]:
    """For each word of the query, the tokens that meet it."""
    quoted = [frozenset(clause.terms) for clause in plan.required]
    return (
        *quoted,
        *(frozenset(t for c in group.clauses for t in c.terms) for group in plan.groups),
    )


def day(nanoseconds: int) -> str:
    """A file time as an ISO date, "" for 0."""
    if not nanoseconds:
        return ""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).date().isoformat()
