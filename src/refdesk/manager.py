"""Query in, fused hits out; ref in, document out.

CorpusManager owns what adapters do not: deadlines, limits on concurrent calls, the document
cache, background indexing and reload. Adapters block, so they run in its threads; everything
else happens on the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Protocol, Self, TypeVar

from watchfiles import awatch

from refdesk import manifest as manifests
from refdesk.adapters import dense, open_library
from refdesk.adapters.base import Adapter, Progress, Surveyed
from refdesk.adapters.folder import FolderLibrary
from refdesk.adapters.history import History
from refdesk.errors import (
    Busy,
    ConfigError,
    InvalidRef,
    NotFound,
    OpenError,
    RefdeskError,
    Unavailable,
    UnknownLibrary,
)
from refdesk.manifest import LibraryEntry, Manifest
from refdesk.model import (
    REF_SCHEME,
    Answer,
    Changes,
    Degraded,
    Document,
    Documented,
    Entry,
    Found,
    Hit,
    Library,
    Lifetime,
    PageHistory,
    Platform,
    Recorded,
    Ref,
    State,
    Survey,
)
from refdesk.ranking import diversity, fusion, snippets, titles
from refdesk.settings import Settings

log = logging.getLogger(__name__)

CALLS_PER_LIBRARY: Final = 8
"""Calls that one library may have under way: a library that hangs cannot take every thread."""
ENTRIES_PER_PAGE: Final = 100
CANDIDATES: Final = 10
"""Pages each library is asked for at least: fusion and exact titles need a choice."""
HISTORY_SECONDS: Final = 18.0
"""How long a question about history may take: git itself is asked, too."""
_SETTLE_MS: Final = 250
_RETRY_SECONDS: Final = 0.5
_BYTES_PER_CHARACTER: Final = 2

T = TypeVar("T")


class Opener(Protocol):
    """How an entry of corpus.toml becomes an open library."""

    def __call__(self, entry: LibraryEntry, data_dir: Path) -> Adapter:
        """The library that `entry` describes."""


@dataclass(slots=True)
class _Shelf:
    """One configured library: its adapter, or why there is none."""

    entry: LibraryEntry
    adapter: Adapter | None
    reason: str = ""
    calls: int = 0
    history: History | None = None

    @property
    def library(self) -> Library:
        if self.adapter is None:
            return Library(self.entry.name, self.entry.adapter, State.FAILED, reason=self.reason)
        return self.adapter.library


class CorpusManager:
    """Every configured library behind one door."""

    def __init__(self, manifest: Manifest, settings: Settings, opener: Opener = open_library):
        """Open the libraries of `manifest`.

        Raises:
            OpenError: one cannot be opened and `settings.allow_degraded` is off.
        """
        self._settings = settings
        self._opener = opener
        self._manifest = manifest
        self._encoder = dense.open_encoder(settings)
        self._shelves = self._open_all(manifest, {}, strict=not settings.allow_degraded)
        self._cache = _DocumentCache(settings.cache_bytes)
        self._threads = ThreadPoolExecutor(
            CALLS_PER_LIBRARY * max(4, len(self._shelves)), thread_name_prefix="library"
        )
        self._indexer = ThreadPoolExecutor(1, thread_name_prefix="indexer")
        self._tasks: set[asyncio.Task[None]] = set()
        self._restart = asyncio.Event()
        self._moved = asyncio.Event()

    @classmethod
    def load(cls, settings: Settings) -> Self:
        """The manager of the corpus that `settings` point at.

        Raises:
            ManifestError: corpus.toml is refused.
            OpenError: a library cannot be opened and `settings.allow_degraded` is off.
        """
        return cls(manifests.load(settings.corpus_config, settings.corpus_root), settings)

    @property
    def libraries(self) -> tuple[Library, ...]:
        """Every configured library as it is now, in the order of corpus.toml."""
        return tuple(shelf.library for shelf in self._shelves.values())

    @property
    def manifest(self) -> Manifest:
        """The corpus.toml being served."""
        return self._manifest

    @property
    def ready(self) -> bool:
        """Whether every library answers."""
        return all(library.state is State.READY for library in self.libraries)

    async def search(self, query: str, *, limit: int, library: str = "") -> Answer:
        """The best `limit` hits of all libraries, or of one.

        Libraries are asked side by side; one that fails or is late is named in `degraded`.

        Raises:
            UnknownLibrary: `library` is not configured.
        """
        shelves = [self._shelf(library)] if library else list(self._shelves.values())
        outcomes = await asyncio.gather(
            *(self._ask(shelf, query, max(limit, CANDIDATES)) for shelf in shelves)
        )
        found = [outcome for outcome in outcomes if isinstance(outcome, Found)]
        degraded = tuple(outcome for outcome in outcomes if isinstance(outcome, Degraded))
        hits = rank(query, found)[:limit]
        return Answer(
            hits=tuple(await self._in_thread(self._with_snippets, hits, found)) if hits else (),
            did_you_mean=_suggestion(found),
            degraded=degraded,
        )

    async def fetch(self, ref: str) -> Document:
        """The document that a ref, or a page URL some library knows, names.

        Raises:
            InvalidRef: `ref` is neither.
            UnknownLibrary: it names a library that is not configured.
            NotFound: nothing is there; near misses are suggested.
            Unavailable, Busy: the library cannot answer now.
        """
        target = self._target(ref.strip())
        shelf = self._shelf(target.library)
        cached = self._cache.get(target)
        if cached is not None:
            return cached
        document = await self._call(shelf, lambda adapter: adapter.fetch(target.path))
        self._cache.put(target, document)
        return document

    async def entries(
        self, library: str = "", prefix: str = "", cursor: str = ""
    ) -> tuple[list[Entry], str]:
        """One page of the table of contents and the cursor of the next page ("" at the end).

        Raises:
            UnknownLibrary: `library`, or the cursor's library, is not configured.
            InvalidRef: `cursor` is not one that this method returned.
        """
        names = [self._shelf(library).entry.name] if library else list(self._shelves)
        after = Ref.parse(cursor) if cursor else None
        if after is not None:
            names = names[names.index(self._shelf(after.library).entry.name) :]
        page: list[Entry] = []
        for name in names:
            start = after.path if after is not None and after.library == name else ""
            room = ENTRIES_PER_PAGE + 1 - len(page)
            page += await self._list(self._shelves[name], prefix, start, room)
            if len(page) > ENTRIES_PER_PAGE:
                return page[:ENTRIES_PER_PAGE], str(page[ENTRIES_PER_PAGE - 1].ref)
        return page, ""

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """What the libraries tell how to deploy on; the first library to name one has it."""
        found: dict[str, Platform] = {}
        for shelf in self._shelves.values():
            for platform in _platforms(shelf.adapter):
                found.setdefault(platform.name, platform)
        return tuple(found[name] for name in sorted(found))

    async def surveys(self) -> list[Survey]:
        """The make-up of every library whose kind knows it and that can answer now."""
        shelves = [shelf for shelf in self._shelves.values() if isinstance(shelf.adapter, Surveyed)]
        answers = await asyncio.gather(*(self._call(shelf, _survey) for shelf in shelves))
        return [answer for answer in answers if answer is not None]

    @property
    def histories(self) -> tuple[str, ...]:
        """The libraries whose history can be asked about."""
        return tuple(name for name, shelf in self._shelves.items() if shelf.history is not None)

    async def search_history(
        self, query: str, *, limit: int, only_removed: bool = False, library: str = ""
    ) -> list[Lifetime]:
        """Sections, past and present, that hold the words of `query`; libraries take turns.

        Raises:
            UnknownLibrary: `library` has no history.
            Unavailable, Busy: it cannot answer now.
        """
        answers = await asyncio.gather(
            *(
                self._ask_history(
                    shelf, partial(history.search, query, limit, only_removed=only_removed)
                )
                for shelf, history in self._recorded(library)
            )
        )
        return _in_turn(answers)[:limit]

    async def when_documented(self, text: str, *, library: str = "") -> list[Documented]:
        """For each library with history, the commits that wrote and removed a literal text.

        Raises:
            As `search_history`.
        """
        return await asyncio.gather(
            *(
                self._ask_history(shelf, partial(history.documented, text))
                for shelf, history in self._recorded(library)
            )
        )

    async def page_history(self, path: str, *, library: str = "") -> PageHistory:
        """The revisions of a page of the first library with history that ever held `path`.

        Raises:
            NotFound: none did; near misses are suggested.
            As `search_history`, besides.
        """
        missing = NotFound("no library with history is configured")
        for shelf, history in self._recorded(library):
            try:
                return await self._ask_history(shelf, partial(history.page, path))
            except NotFound as error:
                missing = error
        raise missing

    async def reindex(self, library: str = "") -> dict[str, Changes]:
        """Bring one library, or all, up to date; library -> what changed.

        Raises:
            UnknownLibrary: `library` is not configured.
            Unavailable: a library's source cannot be read or its index not be written.
            Busy: another process is indexing it.
        """
        shelves = [self._shelf(library)] if library else list(self._shelves.values())
        changes: dict[str, Changes] = {}
        for shelf in shelves:
            try:
                changes[shelf.entry.name] = await self._refresh(shelf)
            except OpenError as error:
                raise Unavailable(str(error)) from error
        return changes

    def refresh(
        self,
        *,
        only: str = "",
        force: bool = False,
        progress: Callable[[str], Progress] | None = None,
    ) -> dict[str, Changes]:
        """Bring every library, or `only` one, up to date in this thread; for the command line.

        Raises:
            OpenError, Busy: as `reindex`, for the first library that fails.
        """
        return {
            name: shelf.adapter.refresh(force=force, progress=progress(name) if progress else None)
            for name, shelf in self._shelves.items()
            if shelf.adapter is not None and only in ("", name)
        }

    def refresh_histories(
        self,
        *,
        only: str = "",
        force: bool = False,
        progress: Callable[[str], Progress] | None = None,
    ) -> dict[str, Recorded]:
        """Bring the history indexes up to date in this thread; for the command line.

        Raises:
            UnknownLibrary: `only` has no history.
            OpenError, Busy: the first one that fails.
        """
        return {
            shelf.entry.name: history.refresh(
                force=force, progress=progress(shelf.entry.name) if progress else None
            )
            for shelf, history in self._recorded(only)
        }

    async def start(self) -> None:
        """Bring every library up to date in the background and, if set, watch for changes."""
        self._spawn(self._index_all())
        if self._settings.watch:
            self._spawn(self._watch())
            self._spawn(self._watch_manifest())
            self._spawn(self._watch_histories())

    async def close(self) -> None:
        """Stop the background work and close every library."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.shut()

    def shut(self) -> None:
        """Close every library; for callers without an event loop."""
        self._indexer.shutdown(wait=True, cancel_futures=True)
        self._threads.shutdown(wait=False, cancel_futures=True)
        for shelf in self._shelves.values():
            if shelf.adapter is not None:
                shelf.adapter.close()
            if shelf.history is not None:
                shelf.history.close()
        self._encoder.close()

    def finish(self, progress: Callable[[str], Progress] | None = None) -> None:
        """Wait until the vectors of every library are computed or that has failed."""
        for name, shelf in self._shelves.items():
            if isinstance(shelf.adapter, FolderLibrary):
                shelf.adapter.finish(progress(name) if progress else None)

    # One library at a time

    async def _ask(self, shelf: _Shelf, query: str, limit: int) -> Found | Degraded:
        name = shelf.entry.name
        try:
            return await self._call(shelf, lambda adapter: adapter.search(query, limit))
        except RefdeskError as error:
            return Degraded(name, str(error))
        except Exception:
            log.exception("library %s failed in a search", name)
            return Degraded(name, "failed; the server's log says why")

    async def _list(self, shelf: _Shelf, prefix: str, after: str, limit: int) -> Sequence[Entry]:
        try:
            return await self._call(shelf, lambda a: a.documents(prefix, after, limit))
        except Unavailable:
            return ()

    async def _call(self, shelf: _Shelf, work: Callable[[Adapter], T]) -> T:
        """Run `work` on a library in a thread, within its deadline and its share of threads."""
        adapter = shelf.adapter
        if adapter is None:
            raise Unavailable(shelf.reason)
        return await self._bounded(shelf, partial(work, adapter), self._settings.search_timeout)

    async def _ask_history(self, shelf: _Shelf, work: Callable[[], T]) -> T:
        return await self._bounded(shelf, work, HISTORY_SECONDS)

    async def _bounded(self, shelf: _Shelf, work: Callable[[], T], seconds: float) -> T:
        if shelf.calls >= CALLS_PER_LIBRARY:
            raise Busy(f"library {shelf.entry.name!r} has too many calls under way; try again")
        shelf.calls += 1
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(lambda done: _settle(shelf, done))
        try:
            return await asyncio.wait_for(asyncio.shield(future), seconds)
        except TimeoutError:
            raise Unavailable(
                f"library {shelf.entry.name!r} did not answer within {seconds:g} s; try again"
            ) from None

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def _with_snippets(self, hits: Sequence[Hit], found: Sequence[Found]) -> list[Hit]:
        words = {hit.ref.library: answer.terms for answer in found for hit in answer.hits[:1]}
        matchers = {library: snippets.Matcher(terms) for library, terms in words.items()}
        return [replace(hit, snippet=self._snippet(matchers[hit.ref.library], hit)) for hit in hits]

    def _snippet(self, matcher: snippets.Matcher, hit: Hit) -> str:
        """The snippet of one hit; "" when its library fails now, after it found the hit."""
        shelf = self._shelves.get(hit.ref.library)
        if shelf is None or shelf.adapter is None:
            return ""
        try:
            return matcher.cut(shelf.adapter.passage(hit))
        except Exception:
            log.exception("library %s failed to show a hit", shelf.entry.name)
            return ""

    def _shelf(self, name: str) -> _Shelf:
        shelf = self._shelves.get(name)
        if shelf is not None:
            return shelf
        same = [known for known in self._shelves if known.casefold() == name.casefold()]
        if same:
            return self._shelves[same[0]]
        names = list(self._shelves)
        raise UnknownLibrary(
            f"no library is called {name!r}; configured are {', '.join(names)}",
            {"libraries": names},
        )

    def _recorded(self, library: str) -> list[tuple[_Shelf, History]]:
        """The libraries with history, or the one named."""
        shelves = [self._shelf(library)] if library else list(self._shelves.values())
        found = [(shelf, shelf.history) for shelf in shelves if shelf.history is not None]
        if library and not found:
            names = list(self.histories)
            raise UnknownLibrary(
                f"library {library!r} has no history; these have: {', '.join(names) or 'none'}",
                {"libraries": names},
            )
        return found

    def _target(self, ref: str) -> Ref:
        if ref.startswith(REF_SCHEME):
            return Ref.parse(ref)
        if not ref.startswith(("http://", "https://")):
            raise InvalidRef(
                "not a ref: pass a `ref` exactly as search returned it (corpus://Library/path), "
                "or the address of a page that a library holds"
            )
        for name, shelf in self._shelves.items():
            path = shelf.adapter.resolve(ref) if shelf.adapter is not None else None
            if path is not None:
                return Ref(name, path)
        raise NotFound(
            "no library holds that address; nothing is loaded from the web: "
            "search for the page's subject instead"
        )

    # Indexing and reload

    def _open_all(
        self, manifest: Manifest, kept: Mapping[str, _Shelf], *, strict: bool
    ) -> dict[str, _Shelf]:
        shelves: dict[str, _Shelf] = {}
        for entry in manifest.libraries:
            old = kept.get(entry.name)
            if old is not None and old.entry == entry and old.adapter is not None:
                shelves[entry.name] = old
                continue
            try:
                adapter = self._opener(entry, self._settings.data_dir)
            except OpenError as error:
                if strict:
                    raise
                log.error("library %s is left out: %s", entry.name, error)
                shelves[entry.name] = _Shelf(entry, None, str(error))
            else:
                if isinstance(adapter, FolderLibrary):
                    adapter.attach(self._encoder)
                shelves[entry.name] = _Shelf(entry, adapter)
                shelves[entry.name].history = self._history(entry, strict=strict)
        return shelves

    def _history(self, entry: LibraryEntry, *, strict: bool) -> History | None:
        """The history of a library that wants one; its pages are served without it if need be."""
        if not entry.history:
            return None
        try:
            return History(entry, self._settings.data_dir)
        except OpenError as error:
            if strict:
                raise
            log.error("%s; the library is served without its history", error)
            return None

    async def _index_all(self) -> None:
        """Pages first, histories next: a search must not wait for what is seldom asked."""
        await self._refresh_until_done(list(self._shelves))
        await self._record(list(self.histories))

    async def _record(self, names: Sequence[str]) -> None:
        """Bring histories up to date, again and again where another process is writing one."""
        waiting = list(names)
        while waiting:
            busy = []
            for name in waiting:
                shelf = self._shelves.get(name)
                if shelf is None or shelf.history is None:
                    continue
                try:
                    recorded = await asyncio.get_running_loop().run_in_executor(
                        self._indexer, shelf.history.refresh
                    )
                except Busy:
                    busy.append(name)
                except RefdeskError as error:
                    log.error("the history of library %s could not be indexed: %s", name, error)
                except Exception:
                    log.exception("the history of library %s could not be indexed", name)
                else:
                    if recorded.built:
                        log.info(
                            "history of library %s indexed: %d commits read, %d lifetimes",
                            name,
                            recorded.built,
                            recorded.lifetimes,
                        )
            waiting = busy
            if waiting:
                await asyncio.sleep(_RETRY_SECONDS)

    async def _watch_histories(self) -> None:
        """Follow branches and tags that move, until the task is cancelled."""
        while True:
            places = {
                name: os.fspath(shelf.history.repository.git_dir)
                for name, shelf in self._shelves.items()
                if shelf.history is not None
            }
            if not places:
                await self._moved.wait()
                self._moved.clear()
                continue
            async for changes in awatch(
                *_outermost(list(places.values())),
                watch_filter=lambda _, path: _is_ref(path),
                debounce=_SETTLE_MS * 2,
                step=_SETTLE_MS // 5,
                stop_event=self._moved,
                ignore_permission_denied=True,
            ):
                await self._record(_touched({path for _, path in changes}, places))
            self._moved.clear()

    async def _refresh(self, shelf: _Shelf) -> Changes:
        if shelf.adapter is None:
            raise Unavailable(shelf.reason)
        started = time.perf_counter()
        snapshot = shelf.library.snapshot
        changes = await asyncio.get_running_loop().run_in_executor(
            self._indexer, shelf.adapter.refresh
        )
        if shelf.library.snapshot != snapshot:
            self._cache.drop(shelf.entry.name)
        if changes.new or changes.updated or changes.removed:
            self._cache.drop(shelf.entry.name)
            log.info(
                "library %s indexed: %d new, %d updated, %d removed, %d unchanged in %.2f s",
                shelf.entry.name,
                changes.new,
                changes.updated,
                changes.removed,
                changes.unchanged,
                time.perf_counter() - started,
            )
        return changes

    async def _refresh_until_done(self, names: Sequence[str]) -> None:
        """Refresh libraries, again and again where another process is writing one."""
        waiting = list(names)
        while waiting:
            busy = []
            for name in waiting:
                shelf = self._shelves.get(name)
                if shelf is None or shelf.adapter is None:
                    continue
                try:
                    await self._refresh(shelf)
                except Busy:
                    busy.append(name)
                except RefdeskError as error:
                    log.error("library %s could not be indexed: %s", name, error)
                except Exception:
                    log.exception("library %s could not be indexed", name)
            waiting = busy
            if waiting:
                await asyncio.sleep(_RETRY_SECONDS)

    async def _watch(self) -> None:
        """Refresh libraries whose folders change, until the task is cancelled."""
        while True:
            self._restart.clear()
            roots = {
                name: os.fspath(shelf.entry.path)
                for name, shelf in self._shelves.items()
                if shelf.entry.path.exists()
            }
            if not roots:
                await self._restart.wait()
                continue
            watched = _identities(roots)
            async for changes in awatch(
                *_outermost(list(roots.values())),
                watch_filter=None,
                debounce=_SETTLE_MS * 2,
                step=_SETTLE_MS // 5,
                stop_event=self._restart,
                ignore_permission_denied=True,
            ):
                await self._refresh_until_done(_touched({path for _, path in changes}, roots))
                if _identities(roots) != watched:
                    break  # a folder was exchanged for another: watch the one that is there now

    async def _watch_manifest(self) -> None:
        """Reload when corpus.toml changes; its folder is watched, for editors replace files."""
        file = self._manifest.file
        async for _ in awatch(
            file.parent,
            watch_filter=lambda _, path: path == os.fspath(file),
            debounce=_SETTLE_MS * 2,
            step=_SETTLE_MS // 5,
            recursive=False,
        ):
            await self._reload()

    async def _reload(self) -> None:
        """Serve what corpus.toml says now; a file that is refused changes nothing."""
        try:
            manifest = manifests.load(self._settings.corpus_config, self._settings.corpus_root)
            shelves = await self._in_thread(self._reopened, manifest)
        except (ConfigError, OpenError) as error:
            log.error("corpus.toml was not reloaded, the libraries stay as they are: %s", error)
            return
        retired = [shelf for name, shelf in self._shelves.items() if shelves.get(name) is not shelf]
        fresh = [name for name, shelf in shelves.items() if self._shelves.get(name) is not shelf]
        self._manifest, self._shelves = manifest, shelves
        for shelf in retired:
            self._cache.drop(shelf.entry.name)
            self._spawn(self._retire(shelf))
        log.info("corpus.toml reloaded: %d libraries, %d opened", len(shelves), len(fresh))
        self._restart.set()
        self._moved.set()
        await self._refresh_until_done(fresh)
        await self._record(fresh)

    def _reopened(self, manifest: Manifest) -> dict[str, _Shelf]:
        return self._open_all(manifest, self._shelves, strict=not self._settings.allow_degraded)

    async def _retire(self, shelf: _Shelf) -> None:
        """Close a library once the calls it may still be answering are over."""
        await asyncio.sleep(self._settings.search_timeout)
        if shelf.adapter is not None:
            await self._in_thread(shelf.adapter.close)
        if shelf.history is not None:
            await self._in_thread(shelf.history.close)

    def _spawn(self, work: object) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def rank(query: str, found: Sequence[Found]) -> list[Hit]:
    """The hits of several libraries as one list, best first, a page's repeats behind.

    Answers on the same scale are merged by score. Different scales are fused by rank, which says
    nothing of how good a library's best hit is: there a title that covers the query counts up to
    twice. Pages whose title is the query come first.
    """
    scales: dict[str, list[Hit]] = {}
    for number, answer in enumerate(found):
        scales.setdefault(answer.scale or f"#{number}", []).extend(answer.hits)
    by_key = {(hit.ref, hit.passage): hit for hits in scales.values() for hit in hits}
    rankings = [
        (1.0, [(hit.ref, hit.passage) for hit in sorted(hits, key=lambda hit: -hit.score)])
        for hits in scales.values()
    ]
    scores = fusion.fuse(rankings)
    if len(scales) > 1:
        scores = {
            key: score * (1.0 + titles.coverage(query, by_key[key].title))
            for key, score in scores.items()
        }
    fused = [by_key[key] for key in sorted(scores, key=lambda key: -scores[key])]
    wanted = titles.key(query)
    fused.sort(key=lambda hit: not wanted or titles.key(hit.title) != wanted)
    return diversity.spread(fused, lambda hit: hit.ref)


def _suggestion(found: Sequence[Found]) -> str:
    """A better spelling, when no library gives a strong answer to this one."""
    if any(answer.hits and not answer.weak for answer in found):
        return ""
    return next((answer.did_you_mean for answer in found if answer.did_you_mean), "")


def _survey(adapter: object) -> Survey | None:
    return adapter.survey() if isinstance(adapter, Surveyed) else None


def _platforms(adapter: object) -> Sequence[Platform]:
    return adapter.platforms() if isinstance(adapter, Surveyed) else ()


def _settle(shelf: _Shelf, future: asyncio.Future[T]) -> None:
    shelf.calls -= 1
    with suppress(asyncio.CancelledError):
        future.exception()  # a late failure was reported as a timeout already


def _in_turn(answers: Sequence[Sequence[T]]) -> list[T]:
    """The best of each, then the second of each, and so on: their ranks do not compare."""
    longest = max((len(answer) for answer in answers), default=0)
    return [answer[place] for place in range(longest) for answer in answers if place < len(answer)]


def _is_ref(path: str) -> bool:
    """Whether a file in a git directory says where branches and tags stand."""
    name = os.path.basename(path)
    return name in ("HEAD", "packed-refs") or (
        f"{os.sep}refs{os.sep}" in path and not name.endswith(".lock")
    )


def _outermost(paths: Sequence[str]) -> list[str]:
    """The paths that lie below none of the others: a folder is watched with all below it."""
    chosen: list[str] = []
    for path in sorted(set(paths)):
        if not any(path.startswith(root.rstrip(os.sep) + os.sep) for root in chosen):
            chosen.append(path)
    return chosen


def _identities(roots: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """What tells a folder from another at the same path; those that are gone are left out."""
    found = {}
    for name, root in roots.items():
        with suppress(OSError):
            status = os.stat(root)
            found[name] = status.st_dev, status.st_ino
    return found


def _touched(paths: set[str], roots: Mapping[str, str]) -> list[str]:
    """The libraries that the changed paths belong to."""
    return [
        name
        for name, root in roots.items()
        if any(path == root or path.startswith(root + os.sep) for path in paths)
    ]


@dataclass(slots=True)
class _DocumentCache:
    """The documents fetched last, within a budget of bytes."""

    budget: int
    _held: OrderedDict[Ref, Document] = field(default_factory=OrderedDict)
    _size: int = 0

    def get(self, ref: Ref) -> Document | None:
        document = self._held.get(ref)
        if document is not None:
            self._held.move_to_end(ref)
        return document

    def put(self, ref: Ref, document: Document) -> None:
        self._remove(ref)
        if document.size * _BYTES_PER_CHARACTER > self.budget:
            return
        self._held[ref] = document
        self._size += document.size * _BYTES_PER_CHARACTER
        while self._size > self.budget:
            self._remove(next(iter(self._held)))

    def drop(self, library: str) -> None:
        for ref in [ref for ref in self._held if ref.library == library]:
            self._remove(ref)

    def _remove(self, ref: Ref) -> None:
        document = self._held.pop(ref, None)
        if document is not None:
            self._size -= document.size * _BYTES_PER_CHARACTER
