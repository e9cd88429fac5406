"""Passages as tokens and query plans in -> scored passages out. The only importer of tantivy.

An index lives in one folder. Its segment files are written once and never changed, and meta.json
and .managed.json are replaced by rename, so a folder of hard links to another index's files is an
index of its own: what is added, deleted or merged there leaves the other as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

import tantivy
from tantivy import Occur, Query

from refdesk.errors import OpenError, Unavailable
from refdesk.model import Clause, Group, Plan, Scored

FIELDS: Final = {
    "head": "freq",
    "slug": "freq",
    "body": "freq",
    "exact": "position",
    "gram": "freq",
    "skel": "basic",
}
"""Text fields, and what their postings hold."""
PASSAGE: Final = "passage"
DOCUMENT: Final = "document"

_TOKENIZER: Final = "spaced"
_HEAP_BYTES: Final = 64_000_000
_TIE: Final = 0.3
"""Share of the lesser clauses of a group. 0.1 to 0.5 rank alike: `bench/quality.py`."""
_LOOKED_AT: Final = 100
"""Passages that are weighed by coverage, of those that BM25 finds best."""
_FAIR: Final = 0.4
_FAINT: Final = 0.4
"""A passage is no answer if it covers less than FAIR of the query and scores less than FAINT times
the rarity of a word that stands nowhere. Of 30 unanswerable questions 12 then get an empty answer,
of 125 answerable ones none: `python bench/quality.py`."""
_MASK_BITS: Final = 24
"""A 32-bit float holds every sum of distinct powers of two below 2**24 exactly."""


class LexicalWriter:
    """The one writer of an index folder. Readers see nothing of it before `commit`."""

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder`, or start one in it when it is empty.

        Raises:
            OpenError: the folder holds an index of another format, cannot be written, or is
                being written by somebody else.
        """
        try:
            self._index = _registered(tantivy.Index(_schema(), str(folder)))
            self._writer = self._index.writer(_HEAP_BYTES, 1)
        except (ValueError, OSError) as error:
            raise OpenError(f"the word index in {folder} cannot be written: {error}") from error

    def add(self, passage: int, document: int, fields: Mapping[str, str]) -> None:
        """Add a passage: for each of FIELDS its tokens, joined by spaces. Ids are not negative."""
        row = tantivy.Document()
        row.add_unsigned(PASSAGE, passage)
        row.add_unsigned(DOCUMENT, document)
        for name in FIELDS:
            if tokens := fields.get(name):
                row.add_text(name, tokens)
        self._writer.add_document(row)

    def delete(self, document: int) -> None:
        """Remove the document's passages added so far; those added afterwards stay."""
        # delete_documents_by_term takes a number for a signed one and finds nothing here.
        self._writer.delete_documents_by_query(
            Query.term_query(self._index.schema, DOCUMENT, document)
        )

    def commit(self) -> None:
        """Make everything so far durable, and visible to readers that open the folder now.

        Raises:
            OSError: it could not be written.
        """
        try:
            self._writer.commit()
        except ValueError as error:
            raise OSError(f"the word index cannot be committed: {error}") from error

    def close(self) -> None:
        """Wait for merges under way and let the folder go. What was not committed is lost."""
        self._writer.wait_merging_threads()


class LexicalReader:
    """One committed state of an index: a vocabulary to plan with, and a search.

    Safe for any number of threads; a search runs without the interpreter's lock.
    """

    def __init__(self, folder: Path) -> None:
        """Open the last committed state of the index in `folder`.

        Raises:
            OpenError: there is none, it is damaged, or it is of another format.
        """
        try:
            index = tantivy.Index.open(str(folder))
            if index.schema != _schema():
                raise OpenError(f"the word index in {folder} is of another format; index anew")
            index.config_reader("manual")
            self._searcher = _registered(index).searcher()
        except (ValueError, OSError) as error:
            raise OpenError(f"the word index in {folder} cannot be read: {error}") from error
        self._schema = index.schema
        self.passages = self._searcher.num_docs

    def frequency(self, field: str, term: str) -> int:
        """In how many passages' `field` the term stands."""
        return self._searcher.doc_freq(field, term)

    def beginning(self, field: str, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        """Up to `limit` terms of `field` that start with `prefix`, with their frequencies."""
        return self._searcher.terms_with_prefix(field, prefix, limit=limit)

    def search(self, plan: Plan, limit: int) -> list[Scored]:
        """Up to `limit` passages, the best first; [] when nothing in the index is about the query.

        A passage's score is its BM25 score times its coverage: a short passage that is all about
        one of the words would else stand before a long one that has them all.

        Raises:
            Unavailable: the index is damaged.
        """
        with _Damage():
            return self._search(plan, limit)

    def close(self) -> None:
        """Let go of the index: its files are unmapped when the last search is over."""
        self.__dict__.pop("_searcher", None)

    def _search(self, plan: Plan, limit: int) -> list[Scored]:
        groups = [(group, self._group(group)) for group in plan.groups if group.clauses]
        parts = [(Occur.Must, self._clause(clause)) for clause in plan.required]
        parts += [(Occur.Should, query) for _, query in groups]
        if not parts:
            return []
        parts += [(Occur.Should, self._clause(clause)) for clause in plan.bonuses]
        depth = max(limit, _LOOKED_AT)
        hits = self._searcher.search(Query.boolean_query(parts), depth, count=False).hits
        addresses = [address for _, address in hits]
        passages = self._ids(PASSAGE, addresses)
        masks = self._masks([query for _, query in groups], passages)
        coverage = _Coverage(plan, [group for group, _ in groups])
        faint = _FAINT * math.log(1 + self.passages)
        found = []
        for (score, _), passage, document in zip(
            hits, passages, self._ids(DOCUMENT, addresses), strict=True
        ):
            covered = coverage[masks[passage]]
            if covered >= _FAIR or score * covered >= faint:
                found.append(Scored(passage, document, score * covered, covered))
        found.sort(key=lambda scored: (-scored.score, scored.passage))
        return found[:limit]

    def _group(self, group: Group) -> Query:
        return Query.disjunction_max_query([self._clause(c) for c in group.clauses], _TIE)

    def _clause(self, clause: Clause) -> Query:
        if len(clause.terms) == 1:
            query = self._term(clause.field, clause.terms[0])
        elif clause.least:
            terms = [(Occur.Should, self._term(clause.field, term)) for term in clause.terms]
            query = Query.boolean_query(terms, clause.least)
        else:
            query = Query.phrase_query(self._schema, clause.field, list(clause.terms), clause.slop)
        return Query.boost_query(query, clause.weight)

    def _term(self, field: str, term: str | int) -> Query:
        return Query.term_query(self._schema, field, term, "freq")

    def _masks(self, groups: Sequence[Query], passages: Sequence[int]) -> dict[int, int]:
        """Which groups each passage meets, as bits: found with scores that are powers of two."""
        masks = dict.fromkeys(passages, 0)
        chosen = Query.boolean_query([(Occur.Should, self._term(PASSAGE, p)) for p in passages])
        for first in range(0, len(groups) if passages else 0, _MASK_BITS):
            bits = [
                (Occur.Should, Query.const_score_query(group, float(1 << bit)))
                for bit, group in enumerate(groups[first : first + _MASK_BITS])
            ]
            query = Query.boolean_query([(Occur.Must, Query.const_score_query(chosen, 0.0)), *bits])
            hits = self._searcher.search(query, len(passages), count=False).hits
            found = self._ids(PASSAGE, [address for _, address in hits])
            for (score, _), passage in zip(hits, found, strict=True):
                masks[passage] |= int(score) << first
        return masks

    def _ids(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        return [int(value or 0) for value in self._searcher.fast_field_values(field, addresses)]


class _Coverage(dict[int, float]):
    """The share of a plan's rarity that a passage meets, by the mask of the groups it meets."""

    def __init__(self, plan: Plan, searched: Sequence[Group]) -> None:
        super().__init__()
        self._whole = sum(group.rarity for group in plan.groups)
        self._credits = [group.rarity * group.credit for group in searched]

    def __missing__(self, mask: int) -> float:
        met = sum(credit for bit, credit in enumerate(self._credits) if mask >> bit & 1)
        # Without words the quoted phrases are the query, and they are all there.
        self[mask] = covered = met / self._whole if self._whole else 1.0
        return covered


class _Damage:
    """Translates what tantivy raises when a file under it is not what it wrote.

    Its panics are no `Exception` and their class has no importable name.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        if kind is not None and (kind is ValueError or kind.__name__ == "PanicException"):
            raise Unavailable("the word index is damaged: index the library anew") from error


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name, postings in FIELDS.items():
        builder.add_text_field(name, tokenizer_name=_TOKENIZER, index_option=postings)
    builder.add_unsigned_field(PASSAGE, indexed=True, fast=True)
    builder.add_unsigned_field(DOCUMENT, indexed=True, fast=True)
    return builder.build()


def _registered(index: tantivy.Index) -> tantivy.Index:
    spaced = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_TOKENIZER, spaced)
    return index
