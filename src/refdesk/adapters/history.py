"""A library whose folder is in a git repository in; what its pages used to say out."""

from __future__ import annotations

import difflib
import json
import logging
import posixpath
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from refdesk import __version__
from refdesk.adapters.base import Progress
from refdesk.adapters.sectioning import Version, section_all
from refdesk.backends import generations, git
from refdesk.backends.git import FileChange, LoggedCommit, Repository
from refdesk.backends.lifetimes import (
    ChangeRow,
    CommitRow,
    EventRow,
    Life,
    Lifetimes,
    LifetimesWriter,
)
from refdesk.errors import NotFound, OpenError, Unavailable
from refdesk.manifest import LibraryEntry
from refdesk.model import (
    Commit,
    Documented,
    Lifetime,
    Mention,
    PageHistory,
    Recorded,
    Ref,
    Revision,
)
from refdesk.ranking import analysis
from refdesk.ranking.snippets import Matcher
from refdesk.reading import liara, read

log = logging.getLogger(__name__)

FOLDER: Final = "history"
"""Where the index lives, beside the library's own generations."""
FORMAT: Final = "1"
"""Raise it when the meaning of stored rows changes: histories are then built anew."""
LITERAL_LIMIT: Final = 2_000
"""Characters of a literal that are looked for."""
MOST_MENTIONS: Final = 40
"""Commits named for one literal on each line, the newest ones."""
MOST_REVISIONS: Final = 300
RETIREMENT: Final = 60.0
"""Seconds for which a replaced index stays open: longer than any call may last."""
_PER_SECTION: Final = 2
"""Versions of one section among the first results; further ones come last."""
_CANDIDATES: Final = 20
_MOVED_CHARS: Final = 60
"""A section this long that leaves one page and enters another in one commit has moved; shorter
ones are headings and phrases that many pages share."""
_NEAR_MISSES: Final = 3
_LIARA: Final = "public/llms/"
"""Where Liara's repository keeps the pages that its library serves."""
_NAME_LIMIT: Final = 400
"""Characters of an author's name or a subject that are looked at."""
_EMAIL: Final = re.compile(r"[^\s<>()@,;:\"]+@[^\s<>()@,;:\"]+\.[^\s<>()@,;:\"]+")
_MASK: Final = "(address hidden)"
_SHALLOW: Final = (
    "the repository was cloned without its older commits: "
    "what its oldest commit holds may have been written earlier"
)
_GAPS: Final = "the repository lacks some files of older commits: what they said is not known"
_UNSEARCHED: Final = "no section ever held that text; git could not look outside of sections"
_EMPTY: Final = "the repository has no commit yet"

_Sections = tuple[tuple[int, str, tuple[str, ...]], ...]
"""(text, section id, breadcrumb) of each section of a page, in order."""


class History:
    """The history of one library. Blocking and safe to call from many threads."""

    def __init__(self, entry: LibraryEntry, data_dir: Path) -> None:
        """Open the history; an index that is already there answers at once.

        Raises:
            OpenError: the library's folder is not in a usable git repository.
        """
        self._entry = entry
        try:
            self.repository = _repository(entry)
        except OpenError as error:
            raise OpenError(f"library {entry.name!r}: key 'history': {error}") from None
        self._home = data_dir.absolute() / entry.name / FOLDER
        self._swap = threading.Lock()
        self._retired: list[tuple[float, Lifetimes]] = []
        self._current = self._open_current()
        self._progress = ""

    @property
    def name(self) -> str:
        """The library's name."""
        return self._entry.name

    @property
    def recorded(self) -> Recorded:
        """What the index holds now; all zero before the first one is built."""
        return _recorded(self._current.meta if self._current else {}, 0)

    def refresh(self, *, force: bool = False, progress: Progress | None = None) -> Recorded:
        """Bring the index up to date with the repository's branches and tags.

        Raises:
            Busy: another process is doing it.
            OpenError: the repository cannot be read, or DATA_DIR not be written.
        """
        source = _Source(self.repository, self._entry)
        built = update(source, self._home, force=force, progress=self._noted(progress))
        self._reopen()
        return _recorded(self._current.meta if self._current else {}, built)

    def search(self, query: str, limit: int, *, only_removed: bool = False) -> list[Lifetime]:
        """The sections, past and present, that hold the words of `query`, best first.

        Raises:
            Unavailable: the first index is still being built.
        """
        store = self._store()
        lives = store.search(query, max(limit * 2, _CANDIDATES), only_removed=only_removed)
        chosen = _spread(lives)[:limit]
        commits = store.commits({n for life in chosen for n in _numbers(life)})
        matcher = Matcher([frozenset(analysis.terms(word)) for word in query.split()])
        return [self._lifetime(store, life, commits, matcher.cut) for life in chosen]

    def documented(self, text: str) -> Documented:
        """The commits that wrote and removed a literal text, white space aside.

        Raises:
            Unavailable: the first index is still being built.
        """
        store = self._store()
        literal = " ".join(text[:LITERAL_LIMIT].split())
        counts = store.holding(literal)
        if not counts:
            return self._outside(literal)
        lives = store.lives_of(counts)
        main = [life for life in lives if not life.branch]
        deltas = _main_deltas(main, counts)
        sides = _side_deltas(store.events_of(counts), counts)
        commits = store.commits({commit for commit, _ in (*deltas, *sides)})
        standing = sorted({life.path for life in main if not life.removed})
        return Documented(
            library=self.name,
            status="live" if standing else "removed" if main else "branch",
            paths=tuple(standing),
            main_line=self._mentions(deltas, commits, literal, main=True),
            branches=self._mentions(sides, commits, literal, main=False),
            note=_note(store.meta),
        )

    def page(self, path: str) -> PageHistory:
        """Every revision of the page that has, or had, the name `path`.

        Raises:
            NotFound: no page ever had that name; near misses are suggested.
            Unavailable: the first index is still being built.
        """
        store = self._store()
        wanted = self._page_path(path)
        changes = self._followed(store, wanted)
        if not changes:
            near = difflib.get_close_matches(wanted, store.paths(), _NEAR_MISSES, 0.6)
            raise NotFound(
                f"no page of library {self.name!r} ever had that path; "
                "give it as search_history returns it, or try a suggestion",
                near,
            )
        commits = store.commits({change.commit for change in changes})
        changes.sort(key=lambda change: (commits[change.commit].time, change.commit), reverse=True)
        note = _note(store.meta)
        if len(changes) > MOST_REVISIONS:
            note = f"{note}; " * bool(note) + f"the newest {MOST_REVISIONS} of {len(changes)}"
        return PageHistory(
            self.name,
            wanted,
            tuple(_revision(row, commits[row.commit]) for row in changes[:MOST_REVISIONS]),
            note,
        )

    def close(self) -> None:
        """Close the index."""
        with self._swap:
            alive = [store for _, store in self._retired]
            current, self._current, self._retired = self._current, None, []
        for store in (*alive, current):
            if store is not None:
                store.close()

    def _lifetime(
        self,
        store: Lifetimes,
        life: Life,
        commits: Mapping[int, CommitRow],
        cut: Callable[[str], str],
    ) -> Lifetime:
        return Lifetime(
            library=self.name,
            path=life.path,
            section=life.section,
            breadcrumb=life.breadcrumb,
            status="branch" if life.branch else "removed" if life.removed else "live",
            added=_commit(commits.get(life.added)) or Commit("", "", "", ""),
            removed=_commit(commits.get(life.removed)),
            written=_commit(commits.get(life.written)),
            text=cut(store.text(life.text)),
        )

    def _mentions(
        self,
        deltas: Mapping[tuple[int, str], int],
        commits: Mapping[int, CommitRow],
        literal: str,
        *,
        main: bool,
    ) -> tuple[Mention, ...]:
        """The net changes, newest first, each checked against git's own pickaxe."""
        found: dict[tuple[int, str], list[str]] = defaultdict(list)
        for (commit, path), delta in deltas.items():
            if delta and commit in commits:
                found[commit, "wrote" if delta > 0 else "removed"].append(path)
        newest = sorted(found, key=lambda key: (commits[key[0]].time, *key), reverse=True)
        newest = newest[:MOST_MENTIONS]
        oids = list(dict.fromkeys(commits[commit].oid for commit, _ in newest))
        try:
            seen: frozenset[str] | None = self.repository.holds(literal, oids, main=main)
        except OpenError as error:
            log.warning("library %s: pickaxe: %s", self.name, error)
            seen = None
        return tuple(
            Mention(
                _as_commit(commits[commit]),
                change,
                tuple(sorted(found[commit, change])),
                None if seen is None else commits[commit].oid in seen,
            )
            for commit, change in newest
        )

    def _outside(self, literal: str) -> Documented:
        """What git itself finds of a text that no section holds: front matter, several sections."""
        try:
            tips = list(self.repository.tips().values())
            found = self.repository.search(literal, tips, MOST_MENTIONS)
        except OpenError as error:
            log.warning("library %s: pickaxe: %s", self.name, error)
            return Documented(self.name, "unknown", (), (), (), _UNSEARCHED)
        mentions = tuple(
            Mention(
                Commit(one.oid, _day(one.time), _masked(one.author), _masked(one.subject)),
                "changed",
                tuple(sorted({change.path for change in one.changes})),
                True,
            )
            for one in found
        )
        note = "found by git outside of sections: front matter, or across sections"
        return Documented(
            self.name, "git" if found else "never", (), (), mentions, note if found else ""
        )

    def _page_path(self, path: str) -> str:
        """A path as it is stored: refs and paths from the top of the repository do too."""
        path = path.strip()
        if path.startswith("corpus://"):
            path = Ref.parse(path).path
        path = path.removeprefix("./").lstrip("/")
        return path.removeprefix(self.repository.prefix)

    def _followed(self, store: Lifetimes, path: str) -> list[ChangeRow]:
        """The changes of `path` and of the names it had before and after renames."""
        names = {path}
        pending = [path]
        while pending:
            name = pending.pop()
            for change in store.changes_of([name]):
                if change.kind == "renamed" and name in (change.path, change.previous):
                    fresh = {change.path, change.previous} - names
                    names |= fresh
                    pending += fresh
        return store.changes_of(names)

    def _store(self) -> Lifetimes:
        store = self._current
        if store is None:
            raise Unavailable(
                f"the history of library {self.name!r} is being indexed for the first time"
                + (f" ({self._progress})" if self._progress else "")
                + "; try again in a moment"
            )
        return store

    def _noted(self, progress: Progress | None) -> Progress:
        def note(done: int, total: int) -> None:
            self._progress = f"{done} of {total} file versions"
            if progress is not None:
                progress(done, total)

        return note

    def _reopen(self) -> None:
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
        for store in finished:
            store.close()

    def _open_current(self) -> Lifetimes | None:
        folder = generations.current(self._home)
        store = Lifetimes.open_if_sound(folder) if folder is not None else None
        if store is not None and not store.meta.get("stamp", "").startswith(_version()):
            store.close()
            return None
        return store


# Building


def _repository(entry: LibraryEntry) -> Repository:
    """The repository and the folder in it whose pages the library serves."""
    repository = git.find(entry.path)
    if entry.adapter != "liara" or f"/{repository.prefix}".endswith(f"/{_LIARA}"):
        return repository
    inner = replace(repository, prefix=repository.prefix + _LIARA)
    head = inner.head()
    return inner if head and inner.files(head) else repository


class Selection:
    """Which files of a repository a library serves: its patterns, nothing hidden, no packages."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = GitIgnoreSpec.from_lines(include)
        self._exclude = GitIgnoreSpec.from_lines(exclude)
        self._known: dict[str, bool] = {}

    def holds(self, path: str) -> bool:
        """Whether the file at `path` is served."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._judge(path)
        return known

    def _judge(self, path: str) -> bool:
        parts = path.split("/")
        if any(part.startswith(".") or part in ("", "node_modules") for part in parts):
            return False
        return self._include.match_file(path.lower()) and not self._exclude.match_file(path)


class _Source:
    """A repository and the library's rules for it."""

    def __init__(self, repository: Repository, entry: LibraryEntry) -> None:
        self.repository = repository
        self.name = entry.name
        self.selection = Selection(entry.include, entry.exclude)
        self.read = liara.read if entry.adapter == "liara" else read
        self.rules = json.dumps([entry.adapter, entry.include, entry.exclude, repository.prefix])


@dataclass(frozen=True, slots=True)
class _State:
    """Where a repository's branches stand."""

    head: str
    tips: tuple[str, ...]
    stamp: str
    note: str

    @property
    def meta(self) -> dict[str, str]:
        return {"head": self.head, "tips": " ".join(self.tips), "stamp": self.stamp}


@dataclass(frozen=True, slots=True)
class _Work:
    """The commits to replay, oldest first."""

    main: tuple[LoggedCommit, ...]
    side: tuple[LoggedCommit, ...]


def update(source: _Source, home: Path, *, force: bool, progress: Progress | None) -> int:
    """Publish a store that matches the repository; how many commits were read for it.

    Raises:
        Busy: another process is writing this history.
        OpenError: the repository cannot be read, or DATA_DIR is not writable.
    """
    with generations.writing(home):
        try:
            state = _state(source)
            published = generations.current(home)
            previous = Lifetimes.open_if_sound(published) if published else None
            meta = dict(previous.meta) if previous is not None else {}
            if previous is not None:
                previous.close()
            if not force and meta and all(meta.get(k) == v for k, v in state.meta.items()):
                return 0
            known = meta if not force and _continues(source.repository, state, meta) else {}
            return _build(source, state, known, home, published if known else None, progress)
        except BrokenProcessPool as error:
            raise OpenError(
                f"library {source.name!r}: a worker died while history was read, perhaps for lack "
                "of memory; the last good index stays in use"
            ) from error
        except OSError as error:
            raise OpenError(
                f"library {source.name!r}: the history index in {home} cannot be written "
                f"({error.strerror or error}); the last good one stays in use"
            ) from error


def _version() -> str:
    return f"{FORMAT}/{__version__}/"


def _state(source: _Source) -> _State:
    found = source.repository.tips()
    head, tips = found.get("HEAD", ""), set(found.values())
    shallow = source.repository.shallow()
    stamp = f"{_version()}{shallow}/{source.rules}"
    return _State(head, tuple(sorted(tips)), stamp, "" if head else _EMPTY)


def _continues(repository: Repository, state: _State, meta: Mapping[str, str]) -> bool:
    """Whether the main line only grew since the store was made."""
    known = meta.get("head", "")
    if meta.get("stamp") != state.stamp or not known or not state.head:
        return False
    if known == state.head:
        return True
    if not repository.resolve([known]):
        return False
    chain = repository.chain(state.head, known)
    return bool(chain) and chain[-1][1] == known


def _build(
    source: _Source,
    state: _State,
    known: Mapping[str, str],
    home: Path,
    base: Path | None,
    progress: Progress | None,
) -> int:
    work, exact = _work(source, state, known)
    building = generations.begin(home)
    store = LifetimesWriter(building, base)
    try:
        pages = _Pages(source, store)
        gaps = pages.load(_wanted(source.selection, work), progress)
        replay = _Replay(source.selection, store, pages)
        for commit in work.main:
            replay.main(commit)
        for commit in work.side:
            replay.side(commit)
        replay.write()
        shallow = f"/{True}/" in state.stamp
        notes = [state.note, _SHALLOW if shallow else "", _GAPS if gaps or exact else ""]
        kept = known.get("note", "")
        note = "; ".join(note for note in notes if note) or kept
        store.close({**state.meta, "note": note})
    except BaseException:
        store.abort()
        raise
    generations.publish(building)
    return len(work.main) + len(work.side)


def _work(source: _Source, state: _State, known: Mapping[str, str]) -> tuple[_Work, bool]:
    """The commits since the store was made, and whether renames had to be exact."""
    repository = source.repository
    before = known.get("head", "")
    old = repository.resolve(known["tips"].split()) if known else {}
    for exact in (False, True):
        try:
            main = repository.main_line(state.head, before, exact=exact) if state.head else ()
            kept = tuple(_trimmed(commit, source.selection) for commit in main)
            chain = {oid for oid, _ in repository.chain(state.head, before)} if state.head else ()
            lines = (
                repository.all_lines(state.tips, list(old.values()), exact=exact)
                if state.tips
                else ()
            )
            side = tuple(_trimmed(c, source.selection) for c in lines if c.oid not in chain)
        except OpenError:
            # Looking for similar files reads them, and partial clones lack some.
            if exact:
                raise
            continue
        return _Work(_with_changes(kept), _with_changes(side)), exact
    raise OpenError("unreachable")


def _with_changes(commits: Iterable[LoggedCommit]) -> tuple[LoggedCommit, ...]:
    return tuple(commit for commit in commits if commit.changes)


def _trimmed(commit: LoggedCommit, selection: Selection) -> LoggedCommit:
    """The commit with the changes of served files only."""
    changes: list[FileChange] = []
    for change in commit.changes:
        held = selection.holds(change.path)
        came = bool(change.previous) and selection.holds(change.previous)
        if held:
            previous = change.previous if came else ""
            nothing = tuple("" for _ in change.old)
            old = change.old if came or not change.previous else nothing
            changes.append(FileChange(change.path, previous, old, change.new))
        elif came:
            changes.append(FileChange(change.previous, "", change.old, ""))
    return LoggedCommit(
        commit.oid, commit.parents, commit.time, commit.author, commit.subject, tuple(changes)
    )


def _wanted(selection: Selection, work: _Work) -> dict[tuple[str, str], str]:
    """(blob, kind of page) -> a path it stood at, for every version that must be read."""
    wanted: dict[tuple[str, str], str] = {}
    for commits, with_old in ((work.main, False), (work.side, True)):
        for commit in commits:
            for change in commit.changes:
                for oid in (*(change.old if with_old else ()), change.new):
                    if git.selected_blob(oid):
                        wanted.setdefault((oid, _kind(change.path)), change.path)
    return wanted


def _kind(path: str) -> str:
    """Pages of one kind are read alike: Markdown, AsciiDoc or text."""
    suffix = posixpath.splitext(path)[1].lower()
    return suffix if suffix in (".adoc", ".asciidoc", ".txt") else ""


class _Pages:
    """The sections of each version of each page, by blob."""

    def __init__(self, source: _Source, store: LifetimesWriter) -> None:
        self._source = source
        self._store = store
        self._held: dict[tuple[str, str], _Sections] = {}

    def load(self, wanted: Mapping[tuple[str, str], str], progress: Progress | None) -> int:
        """Read and section every version once; how many could not be read."""
        missing: list[str] = []
        versions = self._versions(wanted, missing)
        sectioned = section_all(versions, len(wanted), self._source.read)
        for done, (key, path, cuts) in enumerate(sectioned, start=1):
            self._held[key] = tuple(
                (
                    self._store.text(cut.digest, cut.body, cut.section, cut.breadcrumb, path),
                    cut.section,
                    cut.breadcrumb,
                )
                for cut in cuts
            )
            if progress is not None:
                progress(done, len(wanted))
        return len(missing)

    def _versions(
        self, wanted: Mapping[tuple[str, str], str], missing: list[str]
    ) -> Iterator[Version]:
        keys: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for key in wanted:
            keys[key[0]].append(key)
        for oid, data in self._source.repository.blobs(keys):
            if data is None:
                missing.append(oid)
            for key in keys[oid]:
                yield Version(key, wanted[key], data or b"")

    def of(self, oid: str, path: str) -> _Sections:
        """The sections of one version; none where it could not be read or is no text."""
        return self._held.get((oid, _kind(path)), ())


@dataclass(slots=True)
class _Replay:
    """Commits replayed, oldest first, into lives, events and changes."""

    selection: Selection
    store: LifetimesWriter
    sections: _Pages
    pages: dict[str, int] = field(default_factory=dict)
    standing: dict[int, list[Life]] = field(default_factory=dict)
    lives: list[Life] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    changes: list[ChangeRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pages = self.store.open_pages()
        for life in self.store.open_lives():
            self.standing.setdefault(life.page, []).append(life)
            self.lives.append(life)

    def main(self, commit: LoggedCommit) -> None:
        """One step of the main line."""
        number = self._commit(commit, main=True)
        self._rename(commit.changes)
        closed: list[Life] = []
        opened: list[tuple[list[Life], int]] = []
        for change in commit.changes:
            page = self.pages.get(change.path)
            if page is None:
                page = self.pages[change.path] = self.store.new_page()
            stands = self.sections.of(change.new, change.path) if change.new else ()
            before = self.standing.get(page, [])
            after, gone, fresh = _matched(before, stands, change.path, page, number)
            self.standing[page] = after
            closed += gone
            opened += [(after, place) for place in fresh]
            if not git.selected_blob(change.new):
                del self.pages[change.path]
        self._settle(closed, opened, number)

    def side(self, commit: LoggedCommit) -> None:
        """One commit off the main line: what it wrote and what it took out."""
        number = self._commit(commit, main=False)
        for change in commit.changes:
            new = Counter(text for text, _, _ in self.sections.of(change.new, change.path))
            olds = [
                Counter(text for text, _, _ in self.sections.of(oid, change.path))
                for oid in change.old
            ]
            texts = set(new).union(*olds)
            for text in texts:
                most = max((old[text] for old in olds), default=0)
                least = min((old[text] for old in olds), default=0)
                delta = max(new[text] - most, 0) or min(new[text] - least, 0)
                if delta:
                    self.events.append(EventRow(text, number, change.path, delta))

    def write(self) -> None:
        """Hand everything to the store."""
        self.store.write(
            pages=self.pages, lives=self.lives, events=self.events, changes=self.changes
        )

    def _commit(self, commit: LoggedCommit, *, main: bool) -> int:
        number = self.store.commit(
            commit.oid, main=main, time=commit.time, author=commit.author, subject=commit.subject
        )
        self.changes += [
            ChangeRow(number, change.path, change.previous, _change_kind(change))
            for change in commit.changes
        ]
        return number

    def _rename(self, changes: Sequence[FileChange]) -> None:
        """Pages keep their number and their lives under a new name."""
        renamed = [
            (change.path, self.pages.pop(change.previous))
            for change in changes
            if change.previous and change.previous in self.pages
        ]
        for path, page in renamed:
            self.pages[path] = page
            for life in self.standing.get(page, []):
                life.path = path

    def _settle(
        self, closed: Sequence[Life], opened: Sequence[tuple[list[Life], int]], commit: int
    ) -> None:
        """End and begin lives; a text that left one page for another in this commit has moved."""
        leaving: dict[int, list[Life]] = defaultdict(list)
        for life in closed:
            leaving[life.text].append(life)
        for page, place in opened:
            life = page[place]
            moved = leaving.get(life.text)
            if moved and self.store.length(life.text) >= _MOVED_CHARS:
                old = moved.pop()
                old.page, old.path, old.position = life.page, life.path, life.position
                old.section, old.breadcrumb = life.section, life.breadcrumb
                page[place] = old
            else:
                self.lives.append(life)
        for lives in leaving.values():
            for life in lives:
                life.removed = commit


def _matched(
    before: Sequence[Life], stands: _Sections, path: str, page: int, commit: int
) -> tuple[list[Life], list[Life], list[int]]:
    """What stands on a page now, what left it, and which places of it are new."""
    held: dict[int, list[Life]] = defaultdict(list)
    for life in before:
        held[life.text].append(life)
    after: list[Life] = []
    fresh: list[int] = []
    for position, (text, section, breadcrumb) in enumerate(stands):
        same = held.get(text)
        if same:
            place = next((n for n, life in enumerate(same) if life.section == section), 0)
            life = same.pop(place)
            life.section, life.breadcrumb, life.position = section, breadcrumb, position
        else:
            life = Life(text, page, page, path, section, breadcrumb, position, commit)
            fresh.append(position)
        after.append(life)
    return after, [life for lives in held.values() for life in lives], fresh


def _change_kind(change: FileChange) -> str:
    if not git.selected_blob(change.new):
        return "removed"
    if change.previous:
        return "renamed"
    return "modified" if any(git.selected_blob(oid) for oid in change.old) else "added"


# Answering


def _main_deltas(lives: Iterable[Life], counts: Mapping[int, int]) -> dict[tuple[int, str], int]:
    """(commit, path) -> how much more often the main line's page says it since that commit.

    A page is known by its number: its name may have changed between two commits.
    """
    deltas: Counter[tuple[int, int]] = Counter()
    names: dict[tuple[int, int], str] = {}
    for life in lives:
        deltas[life.added, life.opened] += counts[life.text]
        names.setdefault((life.added, life.opened), life.path)
        if life.removed:
            deltas[life.removed, life.page] -= counts[life.text]
            names[life.removed, life.page] = life.path
    found: Counter[tuple[int, str]] = Counter()
    for (commit, page), delta in deltas.items():
        found[commit, names[commit, page]] += delta
    return found


def _side_deltas(
    events: Iterable[EventRow], counts: Mapping[int, int]
) -> dict[tuple[int, str], int]:
    deltas: Counter[tuple[int, str]] = Counter()
    for event in events:
        deltas[event.commit, event.path] += counts[event.text] * event.delta
    return deltas


def _spread(lives: Sequence[Life]) -> list[Life]:
    """The lives in order, all but the first few versions of any one section behind."""
    seen: Counter[tuple[str, str]] = Counter()
    first: list[Life] = []
    later: list[Life] = []
    for life in lives:
        seen[life.path, life.section] += 1
        (first if seen[life.path, life.section] <= _PER_SECTION else later).append(life)
    return first + later


def _numbers(life: Life) -> tuple[int, int, int]:
    return life.added, life.removed, life.written


def _revision(change: ChangeRow, commit: CommitRow) -> Revision:
    return Revision(
        commit=_as_commit(commit),
        line="main" if commit.main else "branch",
        change=change.kind,
        path=change.path,
        previous=change.previous,
    )


def _commit(row: CommitRow | None) -> Commit | None:
    return None if row is None else _as_commit(row)


def _as_commit(row: CommitRow) -> Commit:
    return Commit(row.oid, _day(row.time), _masked(row.author), _masked(row.subject))


def _masked(text: str) -> str:
    return _EMAIL.sub(_MASK, text[:_NAME_LIMIT])


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _note(meta: Mapping[str, str]) -> str:
    return meta.get("note", "")


def _recorded(meta: Mapping[str, str], built: int) -> Recorded:
    def count(name: str) -> int:
        return int(meta.get(name, "0"))

    return Recorded(
        commits=count("commits"),
        texts=count("texts"),
        lifetimes=count("lives"),
        live=count("live"),
        branch=count("branch"),
        built=built,
        note=_note(meta),
    )
