"""Passages as tokens and query plans in -> scored passages out. The only importer of tantivy.

An index lives in one folder. Its segment files are written once and never changed, so a folder of
hard links to them, with meta.json and .managed.json beside, is an index of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import tantivy
from tantivy import Occur, Query

from refdesk.errors import OpenError
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
_LOOKED_AT: Final = 100
_FAIR: Final = 0.4
_FAINT: Final = 0.4
"""A passage is no answer if it covers less than FAIR of the query and scores less than FAINT times
the rarity of a word that stands nowhere."""
_MASK_BITS: Final = 24
"""A 32-bit float holds every sum of distinct powers of two below 2**24 exactly."""


class LexicalWriter:
    """The one writer of an index folder. Nothing is seen by readers before `commit`."""

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder`, or start one in it when it is empty.

        Raises:
            OpenError: the folder holds an index of another format, or cannot be written.
        """
        try:
            self._index = _registered(tantivy.Index(_schema(), str(folder)))
            self._writer = self._index.writer(_HEAP_BYTES, 1)
        except (ValueError, OSError) as error:
            raise OpenError(f"the word index in {folder} cannot be written: {error}") from error

    def add(self, passage: int, document: int, fields: Mapping[str, str]) -> None:
        """Add a passage: tokens joined by spaces for each field of FIELDS, as analysed."""
        row = tantivy.Document()
        row.add_unsigned(PASSAGE, passage)
        row.add_unsigned(DOCUMENT, document)
        for name in FIELDS:
            if text := fields.get(name):
                row.add_text(name, text)
        self._writer.add_document(row)

    def delete(self, document: int) -> None:
        """Remove every passage of the document; passages added afterwards stay."""
        self._writer.delete_documents_by_term(DOCUMENT, document)

    def commit(self) -> None:
        """Make everything so far durable and visible to readers that open the folder now."""
        self._writer.commit()

    def close(self) -> None:
        """Wait for merges under way and let the folder go. What was not committed is lost."""
        self._writer.wait_merging_threads()


class LexicalReader:
    """One committed state of an index. Safe for any number of threads; searches run without GIL."""

    def __init__(self, folder: Path) -> None:
        """Open the last committed state of the index in `folder`.

        Raises:
            OpenError: there is none, it is damaged, or it is of another format.
        """
        try:
            index = tantivy.Index.open(str(folder))
            index.config_reader("manual")
            _registered(index)
            self._schema = index.schema
            self._searcher = index.searcher()
        except (ValueError, OSError) as error:
            raise OpenError(f"the word index in {folder} cannot be read: {error}") from error
        self.passages = self._searcher.num_docs

    def frequency(self, field: str, term: str) -> int:
        """In how many passages' `field` the term stands."""
        return self._searcher.doc_freq(field, term)

    def beginning(self, field: str, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        """Up to `limit` terms of `field` that start with `prefix`, with their frequencies."""
        return self._searcher.terms_with_prefix(field, prefix, limit=limit)

    def search(self, plan: Plan, limit: int) -> list[Scored]:
        """Up to `limit` passages, the best first.

        A passage's score is its BM25 score times its coverage: a short passage that is all about
        one of the words would else stand before a long one that has them all.
        """
        query = self._query(plan)
        if query is None:
            return []
        hits = self._searcher.search(query, max(limit, _LOOKED_AT), count=False).hits
        if not hits:
            return []
        addresses = [address for _, address in hits]
        passages = self._ids(PASSAGE, addresses)
        documents = self._ids(DOCUMENT, addresses)
        masks = self._masks(plan.groups, passages)
        faint = _FAINT * math.log(1 + self.passages)
        found = []
        for (score, _), passage, document in zip(hits, passages, documents, strict=True):
            met = _coverage(plan.groups, masks[passage])
            if met >= _FAIR or score * met >= faint:
                found.append(Scored(passage, document, score * met, met))
        found.sort(key=lambda scored: (-scored.score, scored.passage))
        return found[:limit]

    def close(self) -> None:
        """Let go of the index."""
        with suppress(AttributeError):
            del self._searcher

    def _query(self, plan: Plan) -> Query | None:
        groups = [self._group(group) for group in plan.groups if group.clauses]
        if not groups and not plan.required:
            return None
        parts = [(Occur.Should, query) for query in groups]
        parts += [(Occur.Should, self._clause(clause)) for clause in plan.bonuses]
        if not plan.required:
            return Query.boolean_query(parts)
        return Query.boolean_query(
            [(Occur.Must, self._clause(clause)) for clause in plan.required] + parts
        )

    def _group(self, group: Group) -> Query:
        return Query.disjunction_max_query([self._clause(c) for c in group.clauses], _TIE)

    def _clause(self, clause: Clause) -> Query:
        if len(clause.terms) == 1:
            query = Query.term_query(self._schema, clause.field, clause.terms[0], "freq")
        elif clause.least:
            any_of = [Query.term_query(self._schema, clause.field, t, "freq") for t in clause.terms]
            query = Query.boolean_query([(Occur.Should, q) for q in any_of], clause.least)
        else:
            query = Query.phrase_query(self._schema, clause.field, list(clause.terms), clause.slop)
        return Query.boost_query(query, clause.weight)

    def _masks(self, groups: Sequence[Group], passages: Sequence[int]) -> dict[int, int]:
        """Which groups each passage meets, as bits: found with scores that are powers of two."""
        chosen = Query.boolean_query(
            [(Occur.Should, Query.term_query(self._schema, PASSAGE, p)) for p in passages]
        )
        masks: dict[int, int] = dict.fromkeys(passages, 0)
        for first in range(0, len(groups), _MASK_BITS):
            bits = [
                (Occur.Should, Query.const_score_query(self._group(group), float(1 << bit)))
                for bit, group in enumerate(groups[first : first + _MASK_BITS])
                if group.clauses
            ]
            query = Query.boolean_query([(Occur.Must, Query.const_score_query(chosen, 0.0)), *bits])
            hits = self._searcher.search(query, len(passages), count=False).hits
            found = self._ids(PASSAGE, [address for _, address in hits])
            for (score, _), passage in zip(hits, found, strict=True):
                masks[passage] |= int(score) << first
        return masks

    def _ids(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        return [int(value or 0) for value in self._searcher.fast_field_values(field, addresses)]


def _coverage(groups: Sequence[Group], mask: int) -> float:
    whole = sum(group.rarity for group in groups)
    if not whole:
        return 1.0  # quoted phrases alone: they are all there
    met = (group for bit, group in enumerate(groups) if mask >> bit & 1)
    return sum(group.rarity * group.credit for group in met) / whole


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
