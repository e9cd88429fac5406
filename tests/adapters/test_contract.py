"""What every corpus kind promises the manager. A new kind adds one line to KINDS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from refdesk.adapters import ADAPTERS, open_library
from refdesk.adapters.base import Adapter
from refdesk.errors import NotFound, OpenError
from refdesk.manifest import LibraryEntry
from refdesk.model import LEAD, State


def markdown(root: Path) -> LibraryEntry:
    (root / "guides").mkdir(parents=True)
    (root / "guides" / "deploy.md").write_text(
        "# Deploying\n\nBefore anything else.\n\n## Health checks\n\nThe probe asks the server.\n",
        encoding="utf-8",
    )
    (root / "index.md").write_text("# Home\n\nStart here.\n", encoding="utf-8")
    return LibraryEntry("Docs", "markdown", root, base_url="https://docs.example/")


def liara(root: Path) -> LibraryEntry:
    (root / "guides").mkdir(parents=True)
    (root / "guides" / "deploy.md").write_text(
        "Original link: https://docs.liara.ir/guides/deploy/\n\n# Deploying\n\nBefore anything "
        "else.\n\n## Health checks\n\nThe probe asks the server.\n",
        encoding="utf-8",
    )
    (root / "index.md").write_text("# Home\n\nStart here.\n", encoding="utf-8")
    return LibraryEntry("Docs", "liara", root)


KINDS: dict[str, Callable[[Path], LibraryEntry]] = {"markdown": markdown, "liara": liara}


def test_every_corpus_kind_is_under_contract() -> None:
    assert set(KINDS) == set(ADAPTERS)


@pytest.fixture(params=KINDS)
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Adapter]:
    entry = KINDS[request.param](tmp_path / "source")
    opened = open_library(entry, tmp_path / "data")
    opened.refresh()
    yield opened
    opened.close()


def test_a_library_reports_its_counts(library: Adapter) -> None:
    status = library.library
    assert (status.name, status.state, status.documents) == ("Docs", State.READY, 2)
    assert status.sections >= 2
    assert status.snapshot


def test_a_hit_leads_to_its_document_section_and_text(library: Adapter) -> None:
    hit = library.search("health probe", 5).hits[0]
    document = library.fetch(hit.ref.path)
    assert hit.ref.library == "Docs"
    assert hit.title == document.title == "Deploying"
    assert hit.breadcrumb == ("Deploying", "Health checks")
    assert hit.sections[0].id in {section.id for section in document.sections}
    assert "The probe asks the server." in library.passage(hit)
    assert hit.snippet == ""


def test_hits_come_best_first_and_no_more_pages_than_wanted(library: Adapter) -> None:
    hits = library.search("server home deploying", 1).hits
    assert len({hit.ref for hit in hits}) == 1
    scores = [hit.score for hit in library.search("server home deploying", 5).hits]
    assert scores == sorted(scores, reverse=True)


def test_sections_are_unique_and_in_reading_order(library: Adapter) -> None:
    document = library.fetch(library.documents("", "", 10)[0].path)
    ids = [section.id for section in document.sections]
    assert len(set(ids)) == len(ids)
    assert LEAD not in ids[1:]


def test_documents_are_listed_in_order_and_paged(library: Adapter) -> None:
    everything = library.documents("", "", 10)
    assert [entry.path for entry in everything] == sorted(entry.path for entry in everything)
    first = library.documents("", "", 1)
    assert [*first, *library.documents("", first[0].path, 10)] == list(everything)
    assert all(library.fetch(entry.path).title == entry.title for entry in everything)


def test_a_known_address_resolves_and_a_foreign_one_does_not(library: Adapter) -> None:
    hit = library.search("health probe", 1).hits[0]
    assert library.resolve(hit.url) == hit.ref.path
    assert library.resolve(hit.url.rstrip("/") + "#health") == hit.ref.path
    for url in (
        "https://docs.example.evil/guides/deploy/",
        "https://docs.example/nowhere/",
        "https://user@evil.example/guides/deploy/",
        "https://[",
        "https://docs.example:99999/guides/deploy/",
    ):
        assert library.resolve(url) is None


def test_a_missing_document_comes_with_near_misses(library: Adapter) -> None:
    path = library.documents("", "", 1)[0].path
    with pytest.raises(NotFound) as missing:
        library.fetch(path + "x")
    assert str(library.documents("", "", 1)[0].ref) in str(missing.value.details["suggestions"])


@pytest.mark.parametrize(
    "query",
    ["", " ", "\0", '"', "NOT (", "a" * 10_000, "*:*", "title:x", "🦀", "\ud800", "((((", "%"],
)
def test_any_query_is_answered(library: Adapter, query: str) -> None:
    assert library.search(query, 5).hits is not None


def test_nothing_is_reindexed_twice(library: Adapter) -> None:
    changes = library.refresh()
    assert (changes.new, changes.updated, changes.removed, changes.unchanged) == (0, 0, 0, 2)


def test_a_missing_source_is_refused_with_the_library_named(tmp_path: Path) -> None:
    for kind in KINDS:
        entry = LibraryEntry("Docs", kind, tmp_path / "nowhere")
        with pytest.raises(OpenError, match="'Docs'"):
            open_library(entry, tmp_path / "data")
