"""Documents, sections and passages of one index generation, in one SQLite file.

A Catalog is either being built (one writer, nobody reads) or published (read only, immutable,
shared by any number of threads and processes). Paths are stored percent-encoded, so that every
file name survives. Passage and document ids are never used twice within a library.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote, unquote_to_bytes

from refdesk.errors import OpenError
from refdesk.model import Section, Skip

FILE: Final = "catalog.sqlite"
_SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE skips (reason TEXT, count INTEGER, examples TEXT);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    digest BLOB NOT NULL,
    includes TEXT NOT NULL
);
CREATE TABLE sections (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    id TEXT NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL, breadcrumb TEXT NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL, section INTEGER NOT NULL,
    file TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX passages_by_document ON passages (document);
"""


@dataclass(frozen=True, slots=True)
class Source:
    """How a document's file looked when it was read. Times are nanoseconds.

    `includes` are the files whose text was pulled in: path -> (size, mtime); (-1, -1) if absent.
    """

    size: int
    mtime: int
    ctime: int
    seen: int
    digest: bytes
    includes: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage to store: `section` counts the document's sections from 0."""

    section: int
    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section's heading as stored; its text is in its passages."""

    id: str
    title: str
    level: int
    breadcrumb: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Located:
    """One passage and where it stands."""

    passage: int
    document: int
    path: str
    document_title: str
    url: str
    mtime: int
    section: SectionRow
    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """One stored document."""

    path: str
    title: str
    url: str
    mtime: int
    sections: tuple[Section, ...]


class CatalogWriter:
    """The catalogue of the generation being built; `close` makes it complete."""

    def __init__(self, folder: Path, previous: Path | None = None) -> None:
        """Start from a copy of the catalogue in `previous`, or empty."""
        file = folder / FILE
        if previous is not None:
            shutil.copyfile(previous / FILE, file)
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=OFF")  # an unfinished generation is thrown away
        self._db.execute("PRAGMA synchronous=OFF")  # publishing syncs the finished file
        if previous is None:
            self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")

    def continue_ids(self, documents: int, passages: int) -> None:
        """Hand out ids above these, so that a rebuilt library repeats none."""
        self._db.executemany(
            "INSERT OR REPLACE INTO sqlite_sequence (name, seq) VALUES (?, ?)",
            [("documents", documents), ("passages", passages)],
        )

    def add(
        self,
        path: str,
        title: str,
        source: Source,
        sections: Sequence[SectionRow],
        passages: Sequence[PassageRow],
        url: str = "",
    ) -> tuple[int, list[int]]:
        """Store one document; its id and its passages' ids, in order."""
        cursor = self._db.execute(
            "INSERT INTO documents (path, title, url, size, mtime, ctime, seen, digest, includes)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                _encode(path),
                _clean(title),
                _clean(url),
                source.size,
                source.mtime,
                source.ctime,
                source.seen,
                source.digest,
                json.dumps({_encode(name): stat for name, stat in source.includes.items()}),
            ),
        )
        document = cursor.lastrowid or 0
        self._db.executemany(
            "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    document,
                    number,
                    _clean(row.id),
                    _clean(row.title),
                    row.level,
                    json.dumps([_clean(name) for name in row.breadcrumb], ensure_ascii=False),
                    row.start,
                    row.end,
                )
                for number, row in enumerate(sections)
            ],
        )
        first = self._next_passage()
        self._db.executemany(
            "INSERT INTO passages (id, document, section, file, first, last, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    first + number,
                    document,
                    row.section,
                    _encode(row.file),
                    row.start,
                    row.end,
                    _clean(row.text),
                )
                for number, row in enumerate(passages)
            ],
        )
        return document, list(range(first, first + len(passages)))

    def _next_passage(self) -> int:
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
        return int(row[0]) + 1 if row else 1

    def remove(self, document: int) -> None:
        """Forget one document."""
        self._db.execute("DELETE FROM documents WHERE id = ?", (document,))
        self._db.execute("DELETE FROM sections WHERE document = ?", (document,))
        self._db.execute("DELETE FROM passages WHERE document = ?", (document,))

    def touch(self, document: int, source: Source) -> None:
        """Note that a file whose stat changed still holds the same bytes."""
        self._db.execute(
            "UPDATE documents SET size = ?, mtime = ?, ctime = ?, seen = ? WHERE id = ?",
            (source.size, source.mtime, source.ctime, source.seen, document),
        )

    def close(self, meta: Mapping[str, str], skips: Iterable[Skip]) -> None:
        """Write the counts and complete the file."""
        db = self._db
        db.execute("DELETE FROM skips")
        db.executemany(
            "INSERT INTO skips VALUES (?, ?, ?)",
            [
                (skip.reason, skip.count, json.dumps([_encode(name) for name in skip.examples]))
                for skip in skips
            ],
        )
        (documents,) = db.execute("SELECT count(*) FROM documents").fetchone()
        (sections,) = db.execute("SELECT count(*) FROM sections").fetchone()
        (newest,) = db.execute("SELECT coalesce(max(mtime), 0) FROM documents").fetchone()
        counts = {"documents": documents, "sections": sections, "newest": newest}
        db.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [*meta.items(), *((key, str(value)) for key, value in counts.items())],
        )
        db.execute("COMMIT")
        db.close()

    def abort(self) -> None:
        """Leave the file unfinished; its folder is going to be removed."""
        self._db.close()


class Catalog:
    """A published catalogue. Safe to use from many threads."""

    def __init__(self, folder: Path) -> None:
        """Open the catalogue in `folder`.

        Raises:
            OpenError: the file is missing or is no catalogue.
        """
        uri = f"file:{quote(str(folder / FILE))}?mode=ro&immutable=1"
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self.meta: Mapping[str, str] = dict(self._db.execute("SELECT key, value FROM meta"))
        except sqlite3.Error as error:
            raise OpenError(
                f"{folder / FILE} cannot be read ({error}); run `refdesk index --force`"
            ) from None

    @classmethod
    def open_if_sound(cls, folder: Path) -> Self | None:
        """The catalogue in `folder`, None when it cannot be read."""
        try:
            return cls(folder)
        except OpenError:
            return None

    @property
    def documents(self) -> int:
        """How many documents the generation holds."""
        return int(self.meta.get("documents", "0"))

    @property
    def sections(self) -> int:
        """How many sections the generation holds."""
        return int(self.meta.get("sections", "0"))

    @property
    def newest(self) -> int:
        """Modification time of the newest file, nanoseconds since 1970; 0 when empty."""
        return int(self.meta.get("newest", "0"))

    def last_ids(self) -> tuple[int, int]:
        """The highest document and passage ids ever given out."""
        sequences = dict(self._query("SELECT name, seq FROM sqlite_sequence"))
        return int(sequences.get("documents", 0)), int(sequences.get("passages", 0))

    def sources(self) -> dict[str, tuple[int, Source]]:
        """Path -> (document id, Source) of every document."""
        rows = self._query(
            "SELECT path, id, size, mtime, ctime, seen, digest, includes FROM documents"
        )
        return {
            _decode(path): (int(document), Source(size, mtime, ctime, seen, digest, _includes(raw)))
            for path, document, size, mtime, ctime, seen, digest, raw in rows
        }

    @cached_property
    def openings(self) -> Mapping[str, tuple[int, int]]:
        """Path -> (document id, id of its first passage) of every document with a passage."""
        rows = self._query(
            "SELECT d.path, d.id, min(p.id) FROM documents d JOIN passages p ON p.document = d.id"
            " GROUP BY d.id"
        )
        return {_decode(path): (document, passage) for path, document, passage in rows}

    def skips(self) -> tuple[Skip, ...]:
        """What the last indexing run left out."""
        return tuple(
            Skip(reason, count, tuple(_decode(name) for name in json.loads(examples)))
            for reason, count, examples in self._query("SELECT reason, count, examples FROM skips")
        )

    def locate(self, passages: Sequence[int]) -> dict[int, Located]:
        """Passage id -> where it stands; ids this generation does not hold are left out."""
        rows = self._query(
            "SELECT p.id, d.id, d.path, d.title, d.mtime, p.file, p.first, p.last,"
            " s.id, s.title, s.level, s.breadcrumb, s.first, s.last, p.text, d.url"
            " FROM passages p JOIN documents d ON d.id = p.document"
            " JOIN sections s ON s.document = p.document AND s.ordinal = p.section"
            " WHERE p.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(passages)),),
        )
        return {
            row[0]: Located(
                passage=row[0],
                document=row[1],
                path=_decode(row[2]),
                document_title=row[3],
                url=row[15],
                mtime=row[4],
                file=_decode(row[5]),
                start=row[6],
                end=row[7],
                text=row[14],
                section=SectionRow(
                    row[8], row[9], row[10], tuple(json.loads(row[11])), row[12], row[13]
                ),
            )
            for row in rows
        }

    def passage(self, passage: int) -> str | None:
        """The text of one passage, None when this generation does not hold it."""
        rows = self._query("SELECT text FROM passages WHERE id = ?", (passage,))
        return str(rows[0][0]) if rows else None

    def page(self, path: str) -> Page | None:
        """One document with its sections, None when there is no such path."""
        rows = self._query(
            "SELECT id, title, url, mtime FROM documents WHERE path = ?", (_encode(path),)
        )
        if not rows:
            return None
        document, title, url, mtime = rows[0]
        texts: dict[int, list[tuple[str, str]]] = {}
        for section, file, text in self._query(
            "SELECT section, file, text FROM passages WHERE document = ? ORDER BY id", (document,)
        ):
            texts.setdefault(section, []).append((file, text))
        rows = self._query(
            "SELECT ordinal, id, title, level, breadcrumb, first, last FROM sections"
            " WHERE document = ? ORDER BY ordinal",
            (document,),
        )
        return Page(
            path, title, url, mtime, tuple(_section(row, texts.get(row[0], [])) for row in rows)
        )

    def entries(self, prefix: str, after: str, limit: int) -> list[tuple[str, str]]:
        """(path, title) of up to `limit` documents below `prefix`, in order, past `after`."""
        low = max(_encode(prefix), _encode(after)) if after else _encode(prefix)
        rows = self._query(
            "SELECT path, title FROM documents WHERE path >= ? AND path > ?"
            " AND substr(path, 1, ?) = ? ORDER BY path LIMIT ?",
            (low, _encode(after), len(_encode(prefix)), _encode(prefix), limit),
        )
        return [(_decode(path), title) for path, title in rows]

    def paths(self) -> list[str]:
        """Every document's path, in order."""
        return [
            _decode(path) for (path,) in self._query("SELECT path FROM documents ORDER BY path")
        ]

    def addresses(self) -> list[tuple[str, str]]:
        """(url, path) of every document that has a web address of its own, in order of path."""
        rows = self._query("SELECT url, path FROM documents WHERE url != '' ORDER BY path")
        return [(url, _decode(path)) for url, path in rows]

    def texts(self) -> list[tuple[int, str]]:
        """(document id, text) of every passage, in order."""
        return self._query("SELECT document, text FROM passages ORDER BY document, id")

    def close(self) -> None:
        """Close the file; a closed catalogue answers nothing."""
        with self._lock:
            self._db.close()

    def _query(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock:
            return self._db.execute(sql, tuple(values)).fetchall()


def _section(row: Sequence[Any], texts: Sequence[tuple[str, str]]) -> Section:
    _, identity, title, level, breadcrumb, start, end = row
    files = {file for file, _ in texts}
    return Section(
        id=identity,
        title=title,
        level=level,
        breadcrumb=tuple(json.loads(breadcrumb)),
        start=start,
        end=end,
        text="\n\n".join(stripped for _, text in texts if (stripped := text.strip("\n"))),
        file=_decode(files.pop()) if len(files) == 1 else "",
    )


def _includes(raw: str) -> dict[str, tuple[int, int]]:
    return {_decode(name): (size, mtime) for name, (size, mtime) in json.loads(raw).items()}


def _encode(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"))


def _decode(path: str) -> str:
    return unquote_to_bytes(path).decode("utf-8", "surrogateescape")


def _clean(text: str) -> str:
    """Text that SQLite can store: lone surrogates become U+FFFD."""
    return text.encode("utf-8", "replace").decode("utf-8") if _has_surrogate(text) else text


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
