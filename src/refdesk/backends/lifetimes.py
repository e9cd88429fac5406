"""Lifetimes of sections in, one SQLite file out; words, literals and paths in, lifetimes out.

A store is either being built (one writer, nobody reads) or published (read only, immutable, shared
by threads and processes). Each distinct text is kept once, compressed; words are indexed with
FTS5. Paths are stored percent-encoded, so that every file name survives.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote, unquote_to_bytes

from refdesk.errors import OpenError

FILE: Final = "lifetimes.sqlite"
_SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (
    id INTEGER PRIMARY KEY, oid TEXT NOT NULL UNIQUE, main INTEGER NOT NULL,
    time INTEGER NOT NULL, author TEXT NOT NULL, subject TEXT NOT NULL
);
CREATE TABLE texts (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL, body BLOB NOT NULL,
    section TEXT NOT NULL, breadcrumb TEXT NOT NULL, live INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE pages (id INTEGER PRIMARY KEY, path TEXT NOT NULL, live INTEGER NOT NULL);
CREATE TABLE lives (
    id INTEGER PRIMARY KEY, text INTEGER NOT NULL, page INTEGER NOT NULL, opened INTEGER NOT NULL,
    path TEXT NOT NULL, section TEXT NOT NULL, breadcrumb TEXT NOT NULL, position INTEGER NOT NULL,
    added INTEGER NOT NULL, removed INTEGER NOT NULL, branch INTEGER NOT NULL,
    written INTEGER NOT NULL
);
CREATE INDEX lives_by_text ON lives (text);
CREATE TABLE events (
    text INTEGER NOT NULL, "commit" INTEGER NOT NULL, path TEXT NOT NULL, delta INTEGER NOT NULL
);
CREATE INDEX events_by_text ON events (text);
CREATE TABLE changes (
    "commit" INTEGER NOT NULL, path TEXT NOT NULL, previous TEXT NOT NULL, kind TEXT NOT NULL
);
CREATE INDEX changes_by_path ON changes (path);
CREATE INDEX changes_by_previous ON changes (previous) WHERE previous != '';
CREATE VIRTUAL TABLE words USING fts5(
    head, body, content='', tokenize='porter unicode61 remove_diacritics 2'
);
"""
_HEAD_WEIGHT: Final = 3.0
"""Headings and path against the body, as in the libraries' own index."""
_COMPRESSION: Final = 1
"""zlib's quickest: 26 MB of text become 11.7 MB in 0.5 s, where level 6 makes 11.0 in 0.7 s."""
_MOST_WORDS: Final = 40
_FOLDED: Final = (
    ("\u064a", "\u06cc"),  # Arabic yeh, as Persian writes it
    ("\u0649", "\u06cc"),
    ("\u0643", "\u06a9"),  # Arabic kaf
    ("\u0640", ""),  # tatweel
)
_WORD: Final = re.compile(r"\w+")
_QUOTED: Final = re.compile(r'"([^"]+)"')
_EDGE: Final = re.compile(r"[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]")


@dataclass(slots=True)
class Life:
    """One section's text from the commit that added it to the one that removed it (0: none).

    `page` numbers the page it stands in last, `opened` the one it was added to: renames keep the
    number. Commits, texts and pages are the store's own numbers. `written` is the commit off the
    main line that wrote the text first, else 0.
    """

    text: int
    page: int
    opened: int
    path: str
    section: str
    breadcrumb: tuple[str, ...]
    position: int
    added: int
    removed: int = 0
    branch: bool = False
    written: int = 0
    id: int = 0


@dataclass(frozen=True, slots=True)
class CommitRow:
    """A stored commit. `time` is seconds since 1970; `main` says that the main line has it."""

    id: int
    oid: str
    main: bool
    time: int
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What a commit did to one file: `kind` is added, modified, renamed or removed."""

    commit: int
    path: str
    previous: str
    kind: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """A commit off the main line brought a text `delta` times more into a file (or fewer)."""

    text: int
    commit: int
    path: str
    delta: int


def fold(text: str) -> str:
    """One form for the letter forms that Persian is typed in; case is the tokenizer's business."""
    if not text.isascii():
        for written, read in _FOLDED:
            text = text.replace(written, read)
    return text


class LifetimesWriter:
    """The store of the generation being built; `close` makes it complete."""

    def __init__(self, folder: Path, previous: Path | None) -> None:
        """Start from a copy of the store in `previous`, or empty."""
        file = folder / FILE
        if previous is not None:
            shutil.copyfile(previous / FILE, file)
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=OFF")  # an unfinished generation is thrown away
        self._db.execute("PRAGMA synchronous=OFF")  # publishing syncs the finished file
        self._db.execute("PRAGMA cache_size=-65536")
        if previous is None:
            self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")
        self._lengths: dict[int, int] = {}
        self._texts: dict[bytes, int] = dict(self._db.execute("SELECT digest, id FROM texts"))
        self._commits: dict[str, int] = dict(self._db.execute("SELECT oid, id FROM commits"))
        (pages,) = self._db.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()
        self._pages = int(pages)

    def text(
        self, digest: bytes, body: str | None, section: str, breadcrumb: tuple[str, ...], path: str
    ) -> int:
        """The number of a text, stored and indexed if it is new; `body` may be None if not."""
        known = self._texts.get(digest)
        if known is not None:
            return known
        number = self._texts[digest] = len(self._texts) + 1
        clean = _clean(body or "")
        self._lengths[number] = len(clean)
        self._db.execute(
            "INSERT INTO texts (id, digest, body, section, breadcrumb) VALUES (?, ?, ?, ?, ?)",
            (
                number,
                digest,
                zlib.compress(clean.encode(), _COMPRESSION),
                _clean(section),
                _crumbs(breadcrumb),
            ),
        )
        head = f"{' '.join(breadcrumb)} {path}"
        self._db.execute(
            "INSERT INTO words (rowid, head, body) VALUES (?, ?, ?)",
            (number, fold(_clean(head)), fold(clean)),
        )
        return number

    def commit(self, oid: str, *, main: bool, time: int, author: str, subject: str) -> int:
        """The number of a commit; one that was on a branch may have come to the main line."""
        known = self._commits.get(oid)
        if known is not None:
            if main:
                self._db.execute("UPDATE commits SET main = 1 WHERE id = ?", (known,))
                self._db.execute('DELETE FROM events WHERE "commit" = ?', (known,))
                self._db.execute('DELETE FROM changes WHERE "commit" = ?', (known,))
            return known
        number = self._commits[oid] = len(self._commits) + 1
        self._db.execute(
            "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)",
            (number, oid, main, time, _clean(author), _clean(subject)),
        )
        return number

    def length(self, text: int) -> int:
        """Characters of a stored text."""
        if text not in self._lengths:
            row = self._db.execute("SELECT body FROM texts WHERE id = ?", (text,)).fetchone()
            self._lengths[text] = len(zlib.decompress(row[0]).decode()) if row else 0
        return self._lengths[text]

    def new_page(self) -> int:
        """The number of a page that was not there before."""
        self._pages += 1
        return self._pages

    def open_pages(self) -> dict[str, int]:
        """Path -> number of the pages that stand."""
        rows = self._db.execute("SELECT path, id FROM pages WHERE live = 1")
        return {_decode(path): int(number) for path, number in rows}

    def open_lives(self) -> list[Life]:
        """What stands on the main line, in the order of the pages' sections."""
        rows = self._db.execute(
            f"SELECT {_LIFE} FROM lives l WHERE removed = 0 AND branch = 0"  # noqa: S608 fixed
            " ORDER BY page, position"
        )
        return [_life(row) for row in rows]

    def write(
        self,
        *,
        pages: Mapping[str, int],
        lives: Iterable[Life],
        events: Iterable[EventRow],
        changes: Iterable[ChangeRow],
    ) -> None:
        """Store what a replay made: the standing pages, new and altered lives, side events."""
        db = self._db
        db.execute("UPDATE pages SET live = 0")
        db.executemany(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, 1)",
            [(number, _encode(path)) for path, number in pages.items()],
        )
        db.executemany(
            "INSERT OR REPLACE INTO lives VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
            [
                (
                    life.id or None,
                    life.text,
                    life.page,
                    life.opened,
                    _encode(life.path),
                    _clean(life.section),
                    _crumbs(life.breadcrumb),
                    life.position,
                    life.added,
                    life.removed,
                    life.written,
                )
                for life in lives
            ],
        )
        db.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?)",
            [(row.text, row.commit, _encode(row.path), row.delta) for row in events],
        )
        db.executemany(
            "INSERT INTO changes VALUES (?, ?, ?, ?)",
            [(row.commit, _encode(row.path), _encode(row.previous), row.kind) for row in changes],
        )

    def close(self, meta: Mapping[str, str]) -> None:
        """Derive what stood on branches only and who wrote what, count, and complete the file."""
        db = self._db
        db.execute(
            "UPDATE lives SET written = coalesce((SELECT c.id FROM events e"
            ' JOIN commits c ON c.id = e."commit" JOIN commits a ON a.id = lives.added'
            " WHERE e.text = lives.text AND e.delta > 0 AND c.time <= a.time"
            " ORDER BY c.time, c.id LIMIT 1), 0) WHERE branch = 0 AND written = 0"
        )
        self._write_branches()
        db.execute(
            "UPDATE texts SET live = 1 - live WHERE live != (SELECT count(*) > 0 FROM lives l"
            " WHERE l.text = texts.id AND l.removed = 0 AND l.branch = 0)"
        )
        counts = {
            "live": "SELECT count(*) FROM lives WHERE removed = 0 AND branch = 0",
            "lives": "SELECT count(*) FROM lives WHERE branch = 0",
            "branch": "SELECT count(*) FROM lives WHERE branch = 1",
            "texts": "SELECT count(*) FROM texts",
            "commits": "SELECT count(*) FROM commits",
        }
        found = {name: str(db.execute(sql).fetchone()[0]) for name, sql in counts.items()}
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [*meta.items(), *found.items()])
        db.execute("COMMIT")
        db.close()

    def abort(self) -> None:
        """Leave the file unfinished; its folder is going to be removed."""
        self._db.close()

    def _write_branches(self) -> None:
        """One life for each text and file that never came to the main line."""
        db = self._db
        db.execute("DELETE FROM lives WHERE branch = 1")
        rows = db.execute(
            "SELECT e.text, e.path, t.section, t.breadcrumb, c.id, e.delta FROM events e"
            ' JOIN commits c ON c.id = e."commit" JOIN texts t ON t.id = e.text'
            " WHERE NOT EXISTS (SELECT 1 FROM lives l WHERE l.text = e.text)"
            " ORDER BY c.time, c.id, e.delta"
        ).fetchall()
        spans: dict[tuple[int, str], list[Any]] = {}
        for text, path, section, breadcrumb, commit, delta in rows:
            span = spans.setdefault((text, path), [section, breadcrumb, 0, 0])
            if delta > 0 and not span[2]:
                span[2] = commit
            elif delta < 0:
                span[3] = commit
        db.executemany(
            "INSERT INTO lives VALUES (NULL, ?, 0, 0, ?, ?, ?, 0, ?, ?, 1, 0)",
            [(text, path, *span) for (text, path), span in spans.items()],
        )


class Lifetimes:
    """A published store. Safe to use from many threads."""

    def __init__(self, folder: Path) -> None:
        """Open the store in `folder`.

        Raises:
            OpenError: the file is missing or is no store.
        """
        self.folder = folder
        uri = f"file:{quote(str(folder / FILE))}?mode=ro&immutable=1"
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self.meta: Mapping[str, str] = dict(self._db.execute("SELECT key, value FROM meta"))
        except sqlite3.Error as error:
            raise OpenError(
                f"{folder / FILE} cannot be read ({error}); run `refdesk history index --force`"
            ) from None

    @classmethod
    def open_if_sound(cls, folder: Path) -> Self | None:
        """The store in `folder`, None when it cannot be read."""
        try:
            return cls(folder)
        except OpenError:
            return None

    def search(self, query: str, limit: int, *, only_removed: bool) -> list[Life]:
        """Lives of up to `limit` texts that hold words of `query`, best first.

        Texts that hold all the words come first; `"quoted words"` must stand together.
        `only_removed` leaves out texts that stand somewhere on the main line.
        """
        quoted, words = _query_words(query)
        texts: list[int] = []
        for joined in (" AND ", " OR "):
            terms = f"({joined.join(words)})" if words else ""
            match = " AND ".join(part for part in (*quoted, terms) if part)
            if match and len(texts) < limit // 2:
                found = self._match(match, limit, only_removed=only_removed)
                texts += [text for text in found if text not in texts]
        rows = self._lives(texts[:limit])
        order = {text: number for number, text in enumerate(texts)}
        rows.sort(key=lambda life: (order[life.text], life.branch, bool(life.removed), -life.added))
        return rows

    def holding(self, literal: str) -> dict[int, int]:
        """Text -> how often it holds `literal`, where runs of white space count as one space."""
        for candidates in (self._candidates(literal), None):
            if candidates is not None and not candidates:
                continue
            found = {
                text: count
                for text, body in self._bodies(candidates)
                if (count := _count(body, literal))
            }
            if found or candidates is None:
                return found
        return {}

    def lives_of(self, texts: Iterable[int]) -> list[Life]:
        """Every life of these texts, on the main line and on branches."""
        return self._lives(list(texts))

    def events_of(self, texts: Iterable[int]) -> list[EventRow]:
        """What commits off the main line did to these texts."""
        rows = self._query(
            'SELECT text, "commit", path, delta FROM events'
            " WHERE text IN (SELECT value FROM json_each(?))",
            (json.dumps(list(texts)),),
        )
        return [EventRow(text, commit, _decode(path), delta) for text, commit, path, delta in rows]

    def commits(self, numbers: Iterable[int]) -> dict[int, CommitRow]:
        """Number -> commit."""
        rows = self._query(
            "SELECT id, oid, main, time, author, subject FROM commits"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        return {row[0]: CommitRow(row[0], row[1], bool(row[2]), *row[3:]) for row in rows}

    def text(self, number: int) -> str:
        """One text as it was written when it was first seen."""
        return next((body for _, body in self._bodies([number])), "")

    def changes_of(self, paths: Iterable[str]) -> list[ChangeRow]:
        """Every change of files that had one of these names, before or after it."""
        wanted = json.dumps([_encode(path) for path in paths])
        rows = self._query(
            'SELECT "commit", path, previous, kind FROM changes'
            " WHERE path IN (SELECT value FROM json_each(?))"
            ' UNION SELECT "commit", path, previous, kind FROM changes'
            " WHERE previous != '' AND previous IN (SELECT value FROM json_each(?))",
            (wanted, wanted),
        )
        return [ChangeRow(row[0], _decode(row[1]), _decode(row[2]), row[3]) for row in rows]

    def paths(self) -> list[str]:
        """Every name that a page ever had."""
        rows = self._query("SELECT DISTINCT path FROM changes ORDER BY path")
        return [_decode(path) for (path,) in rows]

    def close(self) -> None:
        """Close the file; a closed store answers nothing."""
        with self._lock:
            self._db.close()

    def _match(self, match: str, limit: int, *, only_removed: bool) -> list[int]:
        live = " AND t.live = 0" if only_removed else ""
        rows = self._query(
            "SELECT w.rowid FROM words w JOIN texts t ON t.id = w.rowid"  # noqa: S608 fixed parts
            f" WHERE words MATCH ?{live} ORDER BY bm25(words, {_HEAD_WEIGHT}, 1.0) LIMIT ?",
            (match, limit),
        )
        return [row[0] for row in rows]

    def _candidates(self, literal: str) -> list[int] | None:
        """Texts that can hold `literal`, by its inner words; None where it has none."""
        edges = list(_EDGE.finditer(literal))
        inner = literal[edges[0].end() : edges[-1].start()] if len(edges) > 1 else ""
        if not _WORD.search(inner.replace("_", " ")):
            return None
        phrase = fold(inner).replace('"', " ")
        return [
            row[0]
            for row in self._query("SELECT rowid FROM words WHERE words MATCH ?", (f'"{phrase}"',))
        ]

    def _bodies(self, texts: Sequence[int] | None) -> Iterator[tuple[int, str]]:
        if texts is None:
            rows = self._query("SELECT id, body FROM texts")
        else:
            rows = self._query(
                "SELECT id, body FROM texts WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(texts)),),
            )
        for number, body in rows:
            yield number, zlib.decompress(body).decode()

    def _lives(self, texts: Sequence[int]) -> list[Life]:
        rows = self._query(
            f"SELECT {_LIFE} FROM lives l"  # noqa: S608 fixed
            " WHERE text IN (SELECT value FROM json_each(?))",
            (json.dumps(list(texts)),),
        )
        return [_life(row) for row in rows]

    def _query(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock:
            return self._db.execute(sql, tuple(values)).fetchall()


_LIFE: Final = (
    "text, page, opened, path, section, breadcrumb, position, added, removed, branch, written, id"
)


def _life(row: Sequence[Any]) -> Life:
    text, page, opened, path, section, crumbs, position, added, removed, branch, written, key = row
    return Life(
        text=text,
        page=page,
        opened=opened,
        path=_decode(path),
        section=section,
        breadcrumb=tuple(json.loads(crumbs)),
        position=position,
        added=added,
        removed=removed,
        branch=bool(branch),
        written=written,
        id=key,
    )


def _query_words(query: str) -> tuple[list[str], list[str]]:
    """The quoted phrases and the single words of a query, as FTS5 strings."""
    query = fold(query)
    quoted = [f'"{phrase}"' for phrase in _QUOTED.findall(query) if _WORD.search(phrase)]
    rest = _QUOTED.sub(" ", query)
    words = list(dict.fromkeys(_WORD.findall(rest)))[:_MOST_WORDS]
    return quoted, [f'"{word}"' for word in words if word.strip("_")]


def _count(body: str, literal: str) -> int:
    """How often `literal`, whose white space is single spaces, stands in `body`."""
    found = body.count(literal)
    return found if found and "\n" not in body else " ".join(body.split()).count(literal)


@lru_cache(maxsize=20_000)
def _crumbs(breadcrumb: tuple[str, ...]) -> str:
    return json.dumps([_clean(name) for name in breadcrumb], ensure_ascii=False)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _encode(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"))


def _decode(path: str) -> str:
    return unquote_to_bytes(path).decode("utf-8", "surrogateescape")
