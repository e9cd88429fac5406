"""The nouns of refdesk: what adapters hand to the manager and tools hand to clients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self
from urllib.parse import quote, unquote_to_bytes

from refdesk.errors import InvalidRef

REF_SCHEME: Final = "corpus://"
LIBRARY_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
LEAD: Final = ""
"""Section id of the text that stands before the first heading."""


class Kind(StrEnum):
    """What a document is to its reader."""

    ARTICLE = "article"
    PAGE = "page"
    SECTION = "section"
    QUESTION = "question"


class State(StrEnum):
    """Whether a library answers: `/healthz` shows it, `/readyz` waits for READY."""

    READY = "ready"
    INDEXING = "indexing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Ref:
    """The address of one document: `corpus://Library/path`, percent-encoded but for slashes.

    Round-trips exactly for every path, undecodable file names (surrogate escapes) included.
    """

    library: str
    path: str

    def __str__(self) -> str:
        return REF_SCHEME + self.library + "/" + quote(self.path.encode("utf-8", "surrogateescape"))

    @classmethod
    def parse(cls, text: str) -> Self:
        """The ref that `text` spells.

        Raises:
            InvalidRef: `text` has another scheme, a bad library name or an empty path.
        """
        library, _, encoded = text.removeprefix(REF_SCHEME).partition("/")
        if not text.startswith(REF_SCHEME) or not LIBRARY_NAME.match(library) or not encoded:
            raise InvalidRef(
                "not a ref: pass a `ref` exactly as search returned it (corpus://Library/path)"
            )
        return cls(library, unquote_to_bytes(encoded).decode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and its text, as far as the next heading.

    `start` and `end` are lines of `file` counted from 1, both inclusive; 0 and 0 where the
    source has no lines. `file` is "" when the text lives in the document's own file, else the
    path (inside the library) of the included file that holds it. `text` is the source text of
    those lines, the heading line included.
    """

    id: str
    title: str
    level: int
    breadcrumb: tuple[str, ...]
    start: int
    end: int
    text: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A page with its sections in reading order; the lead section, if any, comes first."""

    ref: Ref
    kind: Kind
    title: str
    url: str
    snapshot: str
    sections: tuple[Section, ...]

    @property
    def size(self) -> int:
        """Characters held by the sections: what a cache must budget for."""
        return sum(len(section.text) for section in self.sections)


@dataclass(frozen=True, slots=True)
class Hint:
    """A section worth opening: its id for `fetch`, its title for the reader."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: a document with its best-matching section.

    `score` compares hits of the same library only. `passage` is the adapter's own key of the
    matching text; `snippet` stays empty until the hit has survived fusion.
    """

    ref: Ref
    kind: Kind
    title: str
    url: str
    snapshot: str
    breadcrumb: tuple[str, ...]
    location: str
    score: float
    passage: int
    sections: tuple[Hint, ...] = ()
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What one library answers to one query: hits best first.

    `weak` says that even the best hit covers little of the query; `did_you_mean` is a spelling
    that the library knows better, or "". Answers of the same non-empty `scale` have scores that
    can be compared across libraries. `terms` are the index tokens that met each word of the
    query, for the snippets.
    """

    hits: tuple[Hit, ...]
    weak: bool = False
    did_you_mean: str = ""
    scale: str = ""
    terms: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Dense:
    """Whether searches by meaning take part; `reason` says why not, or what is still missing."""

    on: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Library:
    """What is known of one configured library at this moment."""

    name: str
    adapter: str
    state: State
    documents: int = 0
    sections: int = 0
    snapshot: str = ""
    reason: str = ""
    dense: Dense = Dense()


@dataclass(frozen=True, slots=True)
class Platform:
    """Something to deploy on that a library documents in a folder of its own.

    `name` is what a configuration file calls it; `folder` is the path of its pages below the
    library, with a final slash.
    """

    name: str
    library: str
    folder: str


@dataclass(frozen=True, slots=True)
class Survey:
    """The make-up of a library: where it comes from and what it holds.

    `commit` and `committed` (ISO 8601) name the revision of its source, "" where the source has
    none. `ingested` is when its pages were last read, ISO 8601. `languages` counts documents by
    the language that most of their prose is in.
    """

    library: str
    commit: str
    committed: str
    ingested: str
    documents: int
    sections: int
    languages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a library's table of contents."""

    ref: Ref
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Files or folders left out for one reason: how many, and the first few by name."""

    reason: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """What one indexing run did to a library's documents, and what it left out."""

    new: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[Skip, ...] = ()


@dataclass(frozen=True, slots=True)
class Degraded:
    """A library that did not answer a search, and why."""

    library: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What one fused search returns."""

    hits: tuple[Hit, ...]
    did_you_mean: str = ""
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True)
class Clause:
    """Something a passage may hold: one token of a field, or several.

    Several must stand in a row, give or take `slop`; with `least` at least so many of them must
    stand anywhere. Worth `weight` times its BM25 score.
    """

    field: str
    terms: tuple[str, ...]
    weight: float
    slop: int = 0
    least: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """The ways in which one word of a query may be met: the best one counts.

    `rarity` is the word's share in a passage's coverage: how much it tells passages apart. A
    passage that meets the group is credited with `credit` of it: less than 1.0 for a guess.
    """

    word: str
    clauses: tuple[Clause, ...]
    rarity: float
    credit: float = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A query, ready for an index.

    `required` clauses must all be met (quoted phrases); `bonuses` only add to a score.
    `suggestion` is the query as it was perhaps meant: respelt, or else without its quotation
    marks. It is for empty and weak answers; "" when there is none.
    """

    groups: tuple[Group, ...] = ()
    bonuses: tuple[Clause, ...] = ()
    required: tuple[Clause, ...] = ()
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage that an index found.

    `coverage` is the share of the query's rarity that the passage meets, 0.0-1.0: what tells a
    weak answer from a good one.
    """

    passage: int
    document: int
    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a docs repository. `date` is the day it was committed, YYYY-MM-DD, UTC.

    Whatever looks like an e-mail address in `author` and `subject` is masked.
    """

    id: str
    date: str
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A section's text from the commit that added it to the main line to the one that removed it.

    `status` is live, removed, or branch: it never came to the main line; `added` and `removed` are
    then commits of branches. `written` is the commit on a branch that wrote it before `added`
    merged it. `removed` is None while the text stands, or where a merge dropped it.
    """

    library: str
    path: str
    section: str
    breadcrumb: tuple[str, ...]
    status: str
    added: Commit
    removed: Commit | None
    written: Commit | None
    text: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A commit that changed how often a text occurs. `change` is wrote, removed or changed.

    `confirmed` says whether git's own pickaxe sees the same change; None: it was not asked or did
    not answer in time.
    """

    commit: Commit
    change: str
    paths: tuple[str, ...]
    confirmed: bool | None


@dataclass(frozen=True, slots=True)
class Documented:
    """When a literal text stood. `status` is live, removed, branch (never on the main line), git
    (found by git outside of sections), never, or unknown: no section held it and git could not
    look further. `paths` are the pages that hold it now.
    """

    library: str
    status: str
    paths: tuple[str, ...]
    main_line: tuple[Mention, ...]
    branches: tuple[Mention, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """What one commit did to a page: added, modified, renamed (from `previous`) or removed.

    `line` is main or branch.
    """

    commit: Commit
    line: str
    change: str
    path: str
    previous: str


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The revisions of one page, newest first, through all its names."""

    library: str
    path: str
    revisions: tuple[Revision, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a history index holds: commits, distinct texts, lifetimes on the main line (`live` of
    them stand in HEAD) and on branches only. `built` counts the commits this run read.
    """

    commits: int
    texts: int
    lifetimes: int
    live: int
    branch: int
    built: int
    note: str = ""
