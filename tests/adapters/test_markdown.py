"""Folders as libraries: freshness, odd trees, real documentation."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from refdesk.adapters import indexing
from refdesk.adapters.markdown import MarkdownLibrary
from refdesk.backends import files
from refdesk.errors import OpenError, Unavailable
from refdesk.manifest import LibraryEntry
from refdesk.model import Ref, State


class Shelf:
    """A folder and the library that serves it."""

    def __init__(self, home: Path) -> None:
        self.root = home / "docs"
        self.data = home / "data"
        self.root.mkdir()
        self._open: list[MarkdownLibrary] = []

    def put(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def open(self, **keys: object) -> MarkdownLibrary:
        entry = LibraryEntry("Docs", "markdown", self.root, **keys)  # type: ignore[arg-type]
        library = MarkdownLibrary(entry, self.data)
        self._open.append(library)
        return library

    def close(self) -> None:
        for library in self._open:
            library.close()


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()


def found(library: MarkdownLibrary, query: str) -> list[str]:
    return [hit.ref.path for hit in library.search(query, 10).hits]


def state(library: MarkdownLibrary) -> State:
    return library.library.state


def test_a_new_library_answers_once_it_is_indexed(shelf: Shelf) -> None:
    shelf.put("a.md", "# Apples\n")
    library = shelf.open()
    assert state(library) is State.INDEXING
    with pytest.raises(Unavailable, match="first time"):
        library.search("apples", 5)
    library.refresh()
    assert state(library) is State.READY
    assert found(library, "apples") == ["a.md"]


def test_an_index_that_is_there_answers_at_once(shelf: Shelf) -> None:
    shelf.put("a.md", "# Apples\n")
    shelf.open().refresh()
    again = shelf.open()
    assert again.library.state is State.READY
    assert found(again, "apples") == ["a.md"]


def test_edits_additions_and_removals_are_taken_in(shelf: Shelf) -> None:
    page = shelf.put("a.md", "# Apples\n")
    shelf.put("b.md", "# Pears\n")
    shelf.put("c.md", "# Plums\n")
    library = shelf.open()
    library.refresh()
    page.write_text("# Quinces\n", encoding="utf-8")
    (shelf.root / "b.md").unlink()
    shelf.put("d.md", "# Figs\n")
    changes = library.refresh()
    assert (changes.new, changes.updated, changes.removed, changes.unchanged) == (1, 1, 1, 1)
    assert found(library, "quinces figs plums") == ["d.md", "c.md", "a.md"] or set(
        found(library, "quinces figs plums")
    ) == {"a.md", "c.md", "d.md"}
    assert found(library, "apples") == found(library, "pears") == []


def test_a_file_changed_in_place_with_its_times_put_back_is_noticed(shelf: Shelf) -> None:
    page = shelf.put("a.md", "# Apples\n")
    library = shelf.open()
    library.refresh()
    before = page.stat()
    page.write_text("# Grapes\n", encoding="utf-8")
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert library.refresh().updated == 1
    assert found(library, "grapes") == ["a.md"]


def test_a_file_only_touched_keeps_its_passages(shelf: Shelf) -> None:
    page = shelf.put("a.md", "# Apples\n")
    library = shelf.open()
    library.refresh()
    hit = library.search("apples", 1).hits[0]
    os.utime(page, (1, 1))
    changes = library.refresh()
    assert (changes.new, changes.updated, changes.unchanged) == (0, 0, 1)
    assert library.search("apples", 1).hits[0].passage == hit.passage
    assert library.fetch("a.md").snapshot == "1970-01-01"


def test_force_reads_everything_again_and_reuses_no_id(shelf: Shelf) -> None:
    shelf.put("a.md", "# Apples\n")
    library = shelf.open()
    library.refresh()
    old = library.search("apples", 1).hits[0]
    assert library.refresh(force=True).new == 1
    assert library.search("apples", 1).hits[0].passage > old.passage
    assert library.passage(old) == library.passage(library.search("apples", 1).hits[0])


def test_a_damaged_index_is_built_anew(shelf: Shelf) -> None:
    shelf.put("a.md", "# Apples\n")
    shelf.open().refresh()
    for catalog in shelf.data.rglob("catalog.sqlite"):
        catalog.write_bytes(b"not a database" * 100)
    library = shelf.open()
    assert library.library.state is State.INDEXING
    library.refresh()
    assert found(library, "apples") == ["a.md"]


def test_a_damaged_word_index_is_built_anew(shelf: Shelf) -> None:
    shelf.put("a.md", "# Apples\n")
    shelf.open().refresh()
    for file in shelf.data.rglob("lexical/meta.json"):
        file.write_text("{", encoding="utf-8")
    library = shelf.open()
    library.refresh()
    assert found(library, "apples") == ["a.md"]


def test_an_index_of_another_version_is_built_anew(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("a.md", "# Apples\n")
    shelf.open().refresh()
    monkeypatch.setattr(indexing, "FORMAT", "another")
    library = shelf.open()
    assert library.library.state is State.INDEXING
    assert library.refresh().new == 1


def test_a_folder_without_documents_is_refused_and_says_which_rule_left_them_out(
    shelf: Shelf,
) -> None:
    shelf.put(".hidden/a.md", "# A\n")
    shelf.put("image.png", "x")
    with pytest.raises(OpenError) as refusal:
        shelf.open()
    for part in ("'Docs'", "1 hidden", "1 not matched by include", "`include`"):
        assert part in str(refusal.value)


def test_searches_go_on_while_the_index_is_replaced(shelf: Shelf) -> None:
    page = shelf.put("a.md", "# Apples 0\n")
    library = shelf.open()
    library.refresh()
    failures: list[BaseException] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                hits = library.search("apples", 5).hits
                assert len(hits) == 1
                assert "Apples" in library.passage(hits[0])
                library.fetch("a.md")
            except BaseException as error:
                failures.append(error)
                return

    readers = [threading.Thread(target=ask) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(1, 15):
        page.write_text(f"# Apples {number}\n", encoding="utf-8")
        library.refresh()
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []


def test_another_process_reads_what_this_one_wrote(shelf: Shelf) -> None:
    shelf.put("a.md", "# Apples\n")
    writer, reader = shelf.open(), shelf.open()
    writer.refresh()
    shelf.put("b.md", "# Pears\n")
    writer.refresh()
    assert reader.refresh().unchanged == 2
    assert found(reader, "pears") == ["b.md"]


@pytest.mark.parametrize(
    "name",
    [
        "two words.md",
        "line\nbreak.md",
        "100%25 #1?.md",
        "کتاب ها/راه‌اندازی.md",
        "e\u0301.md",
        "a'b\".md",
    ],
)
def test_any_file_name_round_trips_from_search_to_fetch(shelf: Shelf, name: str) -> None:
    shelf.put(name, "# Zyzzyva\n\ntext\n")
    library = shelf.open(base_url="https://docs.example/")
    library.refresh()
    hit = library.search("zyzzyva", 1).hits[0]
    assert Ref.parse(str(hit.ref)).path == name
    assert library.fetch(Ref.parse(str(hit.ref)).path).title == "Zyzzyva"
    assert library.resolve(hit.url) == name


def test_a_file_name_that_is_no_text_round_trips(shelf: Shelf) -> None:
    with open(os.fsencode(shelf.root) + b"/caf\xe9.md", "wb") as stream:
        stream.write(b"# Zyzzyva\n")
    library = shelf.open(base_url="https://docs.example/")
    library.refresh()
    hit = library.search("zyzzyva", 1).hits[0]
    assert library.fetch(Ref.parse(str(hit.ref)).path).title == "Zyzzyva"
    assert library.resolve(hit.url) == hit.ref.path


def test_names_that_differ_in_case_are_two_documents(shelf: Shelf) -> None:
    shelf.put("README.md", "# Read me\n")
    shelf.put("readme.MD", "# Read me\n")
    library = shelf.open()
    library.refresh()
    assert sorted(entry.path for entry in library.documents("", "", 10)) == [
        "README.md",
        "readme.MD",
    ]


def test_a_binary_file_with_a_text_name_is_left_out_with_its_reason(shelf: Shelf) -> None:
    shelf.put("a.md", "# A\n")
    (shelf.root / "nul.md").write_bytes(bytes.fromhex("2320410a000042"))
    library = shelf.open()
    (skip,) = library.refresh().skipped
    assert (skip.reason, skip.examples) == (files.BINARY, ("nul.md",))
    assert library.refresh().skipped[0].reason == files.BINARY


def test_an_include_brings_text_in_with_its_own_lines_but_never_from_outside(
    shelf: Shelf, tmp_path: Path
) -> None:
    (tmp_path / "secret.adoc").write_text("zyzzyva", encoding="utf-8")
    part = shelf.put("parts/limits.adoc", "== Limits\n\nAt most nine quokkas.\n")
    shelf.put(
        "inc.adoc",
        "= Inc\n\ninclude::parts/limits.adoc[]\n\ninclude::../secret.adoc[]\n\n"
        "include::/etc/passwd[]\n\ninclude::../../etc/hostname[]\n",
    )
    library = shelf.open()
    library.refresh()
    assert "inc.adoc" in found(library, "quokkas")
    locations = {hit.location for hit in library.search("nine quokkas", 5).hits}
    assert any(location.startswith("parts/limits.adoc:") for location in locations)
    assert found(library, "zyzzyva") == found(library, "root daemon nologin") == []
    part.write_text("== Limits\n\nAt most nine numbats.\n", encoding="utf-8")
    assert library.refresh().updated == 2
    assert "inc.adoc" in found(library, "numbats")


def test_a_page_of_front_matter_only_is_found_by_what_that_says(shelf: Shelf) -> None:
    shelf.put("a.md", "---\ntitle: Release notes\ndescription: What zyzzyva changed\n---\n")
    library = shelf.open()
    library.refresh()
    assert found(library, "zyzzyva") == ["a.md"]


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("index.md", "https://docs.example/v1/"),
        ("guides/README.md", "https://docs.example/v1/guides/"),
        ("guides/pay later.md", "https://docs.example/v1/guides/pay%20later/"),
        ("v1.2.adoc", "https://docs.example/v1/v1.2/"),
    ],
)
def test_a_page_has_an_address_below_the_base(shelf: Shelf, path: str, url: str) -> None:
    shelf.put(path, "# Zyzzyva\n")
    library = shelf.open(base_url="https://docs.example/v1/")
    library.refresh()
    assert library.search("zyzzyva", 1).hits[0].url == url
    assert library.resolve(url) == library.resolve(url.rstrip("/")) == path


INDEX = """
import sys
from pathlib import Path
from refdesk.adapters.markdown import MarkdownLibrary
from refdesk.manifest import LibraryEntry
root, data = map(Path, sys.argv[1:])
MarkdownLibrary(LibraryEntry("Docs", "markdown", root), data).refresh()
"""


def killed_after(seconds: float, shelf: Shelf) -> bool:
    """Whether an indexer was killed before it was done."""
    command = [sys.executable, "-c", INDEX, str(shelf.root), str(shelf.data)]
    with subprocess.Popen(command) as indexer:
        try:
            indexer.wait(seconds)
        except subprocess.TimeoutExpired:
            indexer.kill()
            return True
    return False


def test_killing_the_indexer_leaves_a_usable_index(shelf: Shelf) -> None:
    for number in range(60):
        shelf.put(f"p{number}.md", f"# Page {number}\n\nword{number} " + "text " * 200)
    shelf.open().refresh()
    moments = random.Random(7)
    for round_number in range(5):
        shelf.put(f"new{round_number}.md", f"# New {round_number}\n\nfresh{round_number}\n")
        for number in range(0, 60, 2):
            shelf.put(f"p{number}.md", f"# Page {number}\n\nword{number} round{round_number}\n")
        killed_after(moments.uniform(0.2, 1.0), shelf)
        survivor = shelf.open()
        assert survivor.library.documents >= 60
        assert found(survivor, "Page 31")[0] == "p31.md"
        survivor.refresh()
        assert survivor.library.documents == 61 + round_number
        assert found(survivor, f"fresh{round_number}")[0] == f"new{round_number}.md"


@pytest.fixture(scope="module")
def sets(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ten folder sets, unpacked."""
    target = tmp_path_factory.mktemp("sets")
    for archive in sorted((corpora / "folders").glob("*.tar.xz")):
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="tar")
    return target


@pytest.mark.corpora
def test_every_real_file_is_indexed_or_named(sets: Path, tmp_path: Path) -> None:
    library = MarkdownLibrary(LibraryEntry("All", "markdown", sets), tmp_path)
    seen: list[tuple[int, int]] = []
    changes = library.refresh(progress=lambda done, total: seen.append((done, total)))
    on_disk = sum(len(names) for _, _, names in os.walk(sets))
    assert library.library.documents + sum(skip.count for skip in changes.skipped) == on_disk
    assert {skip.reason for skip in changes.skipped} == {files.NOT_INCLUDED, files.LINK_BROKEN}
    assert seen[-1] == (changes.new, changes.new)
    check_every_document(library, lambda path: (sets / path).read_bytes().count(b"\n") + 1)
    started = time.perf_counter()
    assert library.refresh().unchanged == changes.new
    assert time.perf_counter() - started < 2
    library.close()


@pytest.mark.corpora
def test_the_liara_pages_are_served_as_plain_markdown(corpora: Path, tmp_path: Path) -> None:
    clone = tmp_path / "liara"
    bundle = corpora / "liara" / "liara-docs-llms.bundle"
    subprocess.run(["git", "clone", "-q", str(bundle), str(clone)], check=True)
    root = clone / "public" / "llms"
    entry = LibraryEntry("Liara", "markdown", root, base_url="https://docs.liara.ir/")
    library = MarkdownLibrary(entry, tmp_path / "data")
    assert library.refresh().new == 1140
    check_every_document(library, lambda path: (root / path).read_bytes().count(b"\n") + 1)
    assert library.resolve("https://docs.liara.ir/paas/disks/about") == "paas/disks/about.md"
    library.close()


def check_every_document(library: MarkdownLibrary, lines: Callable[[str], int]) -> None:
    after = ""
    while entries := library.documents("", after, 200):
        after = entries[-1].path
        for entry in entries:
            document = library.fetch(entry.path)
            assert document.title
            last = lines(entry.path)
            ids = [section.id for section in document.sections]
            assert len(set(ids)) == len(ids), entry.path
            own = [section for section in document.sections if not section.file]
            assert all(0 <= section.start <= section.end <= last for section in own), entry.path
