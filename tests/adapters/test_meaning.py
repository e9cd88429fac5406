"""A folder that is searched by meaning too: what it adds, and what stays when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from endpoints import BAD, WIDTH, Endpoint, serving
from refdesk.adapters.dense import open_encoder
from refdesk.adapters.markdown import MarkdownLibrary
from refdesk.manifest import LibraryEntry
from refdesk.settings import Settings

PAGES = {
    "disks.md": "# Disks\n\nWhat stays when a program is replaced.\n",
    "domains.md": "# Domain names\n\nA guide to records.\n",
    "mail.md": "# Mail server\n\nA guide to senders.\n",
    "prices.md": "# Price list\n\nA guide to invoices.\n",
    "logs.md": "# Logs of a program\n\nWhere lines go.\n",
}
QUERY = "quokka guide to records"
"""No page has the first word; to the model of these tests it is a disk."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


@pytest.fixture
def library(endpoint: Endpoint, tmp_path: Path) -> Iterator[MarkdownLibrary]:
    for name, text in PAGES.items():
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    encoder = open_encoder(
        Settings.load(dense="auto", avalai_base_url=endpoint.url, embed_dim=WIDTH)
    )
    opened = MarkdownLibrary(LibraryEntry("Docs", "markdown", tmp_path / "docs"), tmp_path / "data")
    opened.attach(encoder)
    opened.refresh()
    yield opened
    opened.close()
    encoder.close()


@pytest.fixture
def words_only(library: MarkdownLibrary, tmp_path: Path) -> Iterator[MarkdownLibrary]:
    """The same index without a model."""
    opened = MarkdownLibrary(LibraryEntry("Docs", "markdown", tmp_path / "docs"), tmp_path / "data")
    yield opened
    opened.close()


def found(library: MarkdownLibrary, query: str) -> list[str]:
    return list(dict.fromkeys(hit.ref.path for hit in library.search(query, 5).hits))


def test_a_page_that_words_missed_is_found_with_its_text(
    library: MarkdownLibrary, words_only: MarkdownLibrary
) -> None:
    assert "disks.md" not in found(words_only, QUERY)
    assert library.finish()
    assert library.library.dense.on
    assert "disks.md" in found(library, QUERY)
    [hit] = [hit for hit in library.search(QUERY, 5).hits if hit.ref.path == "disks.md"]
    assert "What stays" in library.passage(hit)
    assert hit.sections[0].title == "Disks"


def test_what_words_find_nothing_for_stays_unanswered(library: MarkdownLibrary) -> None:
    assert library.finish()
    assert found(library, "quokka") == []


@pytest.mark.parametrize("behaviour", BAD)
def test_an_endpoint_that_fails_leaves_what_the_words_found(
    library: MarkdownLibrary, words_only: MarkdownLibrary, endpoint: Endpoint, behaviour: str
) -> None:
    assert library.finish()
    endpoint.behave = BAD[behaviour]
    assert library.search(QUERY, 5) == words_only.search(QUERY, 5)
    assert not library.library.dense.on
    assert library.library.dense.reason
