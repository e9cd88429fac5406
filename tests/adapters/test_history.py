"""What the pages of a repository used to say: lifetimes, literals, revisions, updates."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from refdesk.adapters import open_library
from refdesk.adapters.history import History, Selection
from refdesk.backends import generations, git
from refdesk.errors import Busy, NotFound, OpenError, Unavailable
from refdesk.manifest import LibraryEntry
from refdesk.model import Lifetime
from refdesk.reading import decode, read
from timelines import Docs

LONG = "The scheduler keeps every job until a worker has taken it and said so."


@pytest.fixture
def docs(tmp_path: Path) -> Docs:
    return Docs(tmp_path / "docs")


def history(docs: Docs | Path, tmp_path: Path, adapter: str = "markdown") -> History:
    folder = docs if isinstance(docs, Path) else docs.folder
    made = History(LibraryEntry("Docs", adapter, folder, history=True), tmp_path / "data")
    made.refresh()
    return made


def only(found: list[Lifetime]) -> Lifetime:
    [one] = found
    return one


def test_a_removed_section_is_found_with_the_commits_of_its_life(
    docs: Docs, tmp_path: Path
) -> None:
    added = docs.commit({"a.md": f"# Jobs\n\nLead.\n\n## Queue\n\n{LONG}\n"}, "write")
    removed = docs.commit({"a.md": "# Jobs\n\nLead.\n"}, "cut")
    life = only(history(docs, tmp_path).search("scheduler worker", 5))
    assert (life.path, life.section, life.breadcrumb) == ("a.md", "queue", ("Jobs", "Queue"))
    assert (life.status, life.text) == ("removed", f"## Queue {LONG}")
    assert life.removed is not None
    assert (life.added.id, life.removed.id) == (added, removed)
    assert (life.added.date, life.removed.date) == ("2023-11-15", "2023-11-16")
    assert (life.added.author, life.added.subject) == ("Ada", "write")


def test_a_section_whose_lines_are_only_wrapped_anew_lives_on(docs: Docs, tmp_path: Path) -> None:
    first = docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    docs.commit({"a.md": f"# A\n\n{LONG.replace(' until', chr(10) + '  until')}\n"})
    life = only(history(docs, tmp_path).search("scheduler", 5))
    assert (life.status, life.added.id) == ("live", first)


def test_a_renamed_page_keeps_its_lives_even_when_it_is_edited_too(
    docs: Docs, tmp_path: Path
) -> None:
    first = docs.commit({"old.md": f"# A\n\n{LONG}\n\n## B\n\nSome more of it.\n\n## C\n\nx y z\n"})
    docs.commit(
        {
            "old.md": None,
            "new.md": f"# A\n\n{LONG}\n\n## B\n\nSome more of it.\n\n## C\n\nx y zebra\n",
        }
    )
    made = history(docs, tmp_path)
    life = only(made.search("scheduler", 5))
    assert (life.path, life.status, life.added.id) == ("new.md", "live", first)
    changes = [(r.change, r.path, r.previous) for r in made.page("old.md").revisions]
    assert changes == [("renamed", "new.md", "old.md"), ("added", "old.md", "")]
    assert made.page("new.md").revisions == made.page("old.md").revisions


def test_a_section_that_moves_to_another_page_lives_on(docs: Docs, tmp_path: Path) -> None:
    first = docs.commit({"a.md": f"# A\n\nx\n\n## Q\n\n{LONG}\n", "b.md": "# B\n\nhello\n"})
    docs.commit({"a.md": "# A\n\nx\n", "b.md": f"# B\n\nhello\n\n## Q\n\n{LONG}\n"})
    made = history(docs, tmp_path)
    life = only(made.search("scheduler", 5))
    assert (life.path, life.status, life.added.id) == ("b.md", "live", first)
    found = made.documented("every job until a worker")
    assert [(m.change, m.commit.id) for m in found.main_line] == [("wrote", first)]


def test_a_text_that_left_and_came_back_has_two_lives(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    docs.commit({"a.md": "# A\n\nnothing\n"})
    docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    statuses = [life.status for life in history(docs, tmp_path).search("scheduler", 5)]
    assert sorted(statuses) == ["live", "removed"]


def test_only_removed_leaves_out_what_some_page_still_says(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\n{LONG}\n", "b.md": f"# A\n\n{LONG}\n", "c.md": "# C\n\njob x\n"})
    docs.commit({"b.md": None, "c.md": "# C\n\nwork\n"})
    made = history(docs, tmp_path)
    assert {life.path for life in made.search("job", 5)} == {"a.md", "b.md", "c.md"}
    assert only(made.search("job", 5, only_removed=True)).path == "c.md"


def test_words_persian_letters_and_phrases_find(docs: Docs, tmp_path: Path) -> None:
    docs.commit(
        {"a.md": "# راهنما\n\nنصب برنامه‌های یکتا روی کلاستر\n", "b.md": "# B\n\nred blue\n"}
    )
    made = history(docs, tmp_path)
    assert only(made.search("كلاستر يكتا", 5)).path == "a.md"
    assert only(made.search('"red blue"', 5)).path == "b.md"
    assert made.search('"blue red"', 5) == []
    assert made.search('*** OR "" NEAR( -x:', 5) == []
    assert made.search("b.md", 5)[0].path == "b.md"


def test_text_of_a_merged_branch_names_the_commit_that_wrote_it(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": "# A\n\nx\n"})
    docs.git("checkout", "-q", "-b", "topic")
    docs.author = "Grace"
    wrote = docs.commit({"b.md": f"# B\n\n{LONG}\n"}, "topic work")
    docs.author = "Ada"
    docs.git("checkout", "-q", "main")
    docs.commit({"c.md": "# C\n\ny\n"})
    merge = docs.merge("topic")
    made = history(docs, tmp_path)
    life = only(made.search("scheduler", 5))
    assert life.written is not None
    assert (life.added.id, life.written.id, life.written.author) == (merge, wrote, "Grace")
    found = made.documented(LONG)
    assert [(m.change, m.commit.id, m.confirmed) for m in found.main_line] == [
        ("wrote", merge, True)
    ]
    assert [(m.change, m.commit.id, m.confirmed) for m in found.branches] == [
        ("wrote", wrote, True)
    ]


def test_text_that_stood_on_a_branch_only_says_so(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": "# A\n\nx\n"})
    docs.git("checkout", "-q", "-b", "topic")
    wrote = docs.commit({"b.md": f"# B\n\n{LONG}\n"})
    gone = docs.commit({"b.md": "# B\n\nother words\n"})
    docs.git("checkout", "-q", "main")
    made = history(docs, tmp_path)
    life = only(made.search("scheduler", 5))
    assert life.removed is not None
    assert (life.status, life.added.id, life.removed.id) == ("branch", wrote, gone)
    found = made.documented("until a worker has taken")
    assert (found.status, found.main_line, found.paths) == ("branch", (), ())
    assert [(m.change, m.commit.id) for m in found.branches] == [
        ("removed", gone),
        ("wrote", wrote),
    ]
    assert [r.line for r in made.page("b.md").revisions] == ["branch", "branch"]


def test_an_octopus_merge_is_one_step_of_the_main_line(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": "# A\n\nx\n"})
    for name in ("one", "two"):
        docs.git("checkout", "-q", "-b", name, "main")
        docs.commit({f"{name}.md": f"# {name}\n\nword{name} {LONG}\n"})
    docs.git("checkout", "-q", "main")
    merge = docs.merge("one", "two")
    made = history(docs, tmp_path)
    assert {life.added.id for life in made.search("scheduler", 5)} == {merge}
    assert made.recorded.live == 3


def test_a_literal_is_found_across_line_breaks_and_only_as_it_stood(
    docs: Docs, tmp_path: Path
) -> None:
    wrote = docs.commit({"a.md": "# A\n\nrun `x --fast` or\n  {later} (now)\n"})
    removed = docs.commit({"a.md": "# A\n\nrun it\n"})
    made = history(docs, tmp_path)
    for text in ("`x --fast` or {later}", "fast`", "or\n\n{later} (now)", "{later}"):
        found = made.documented(text)
        assert found.status == "removed", text
        assert [(m.change, m.commit.id) for m in found.main_line] == [
            ("removed", removed),
            ("wrote", wrote),
        ]
        assert [m.confirmed for m in found.main_line] == [True, True], text
    assert made.documented("RUN `x").status == "never"


def test_an_edit_around_a_literal_is_no_event_of_it(docs: Docs, tmp_path: Path) -> None:
    wrote = docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    docs.commit({"a.md": f"# A\n\n{LONG} And more.\n"})
    found = history(docs, tmp_path).documented(LONG)
    assert (found.status, found.paths) == ("live", ("a.md",))
    assert [(m.change, m.commit.id) for m in found.main_line] == [("wrote", wrote)]


def test_what_no_section_holds_is_left_to_git(docs: Docs, tmp_path: Path) -> None:
    wrote = docs.commit({"a.md": "---\nowner: platform team\n---\n# A\n\nx\n"})
    found = history(docs, tmp_path).documented("owner: platform team")
    assert found.status == "git"
    assert [(m.change, m.commit.id) for m in found.branches] == [("changed", wrote)]


def test_new_commits_are_added_to_the_index(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\n{LONG}\n", "b.md": "# B\n\nb\n"})
    made = history(docs, tmp_path)
    assert made.refresh().built == 0
    removed = docs.commit({"a.md": "# A\n\nshort\n"})
    docs.git("checkout", "-q", "-b", "topic")
    docs.commit({"c.md": "# C\n\nzebra crossing\n"})
    assert made.refresh().built == 2
    life = only(made.search("scheduler", 5))
    assert life.removed is not None
    assert life.removed.id == removed
    docs.git("checkout", "-q", "main")
    docs.git("merge", "-q", "--ff-only", "topic")
    made.refresh()
    fresh = history(docs, tmp_path / "fresh")
    for query in ("scheduler", "zebra", "short"):
        assert made.search(query, 5) == fresh.search(query, 5)


def test_a_rewritten_main_line_is_read_anew(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": "# A\n\nx\n"})
    docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    made = history(docs, tmp_path)
    docs.git("reset", "-q", "--hard", "HEAD~1")
    docs.commit({"a.md": "# A\n\nzebra\n"})
    made.refresh()
    assert made.search("scheduler", 5) == []
    assert only(made.search("zebra", 5)).status == "live"


def test_the_main_line_may_take_over_a_branch_already_read(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": "# A\n\nx\n"})
    docs.git("checkout", "-q", "-b", "topic")
    wrote = docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    docs.git("checkout", "-q", "main")
    made = history(docs, tmp_path)
    assert only(made.search("scheduler", 5)).status == "branch"
    docs.git("merge", "-q", "--ff-only", "topic")
    made.refresh()
    life = only(made.search("scheduler", 5))
    assert (life.status, life.added.id) == ("live", wrote)
    assert [r.line for r in made.page("a.md").revisions] == ["main", "main"]


def test_a_folder_of_a_repository_has_the_history_of_that_folder(
    docs: Docs, tmp_path: Path
) -> None:
    docs.commit({"docs/a.md": f"# A\n\n{LONG}\n", "other/b.md": f"# B\n\n{LONG} B\n"})
    docs.commit({"docs/a.md": None, "other/a.md": f"# A\n\n{LONG}\n", "docs/c.md": "# C\n\nc\n"})
    made = history(docs.folder / "docs", tmp_path)
    life = only(made.search("scheduler", 5))
    assert (life.path, life.status) == ("a.md", "removed")
    assert made.page("docs/a.md") == made.page("a.md") == made.page("corpus://Docs/a.md")


def test_a_bare_clone_serves_its_newest_pages_and_its_history(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"guide/a.md": f"# A\n\n{LONG}\n", "logo.png": b"\x89PNG\0"})
    bare = tmp_path / "docs.git"
    subprocess.run(["git", "clone", "-q", "--bare", docs.folder, bare], check=True)
    entry = LibraryEntry("Docs", "markdown", bare, history=True)
    library = open_library(entry, tmp_path / "data")
    library.refresh()
    assert [hit.ref.path for hit in library.search("scheduler", 3).hits] == ["guide/a.md"]
    docs.commit({"guide/a.md": "# A\n\nzebra\n"})
    docs.git("push", "-q", str(bare), "main")
    library.refresh()
    assert library.search("scheduler worker", 3).hits == ()
    assert [hit.ref.path for hit in library.search("zebra", 3).hits] == ["guide/a.md"]
    assert len(list((tmp_path / "data" / "Docs").glob("source-*"))) == 1
    library.close()
    assert only(history(bare, tmp_path).search("scheduler", 5)).status == "removed"


def test_a_liara_repository_counts_paths_from_its_pages(docs: Docs, tmp_path: Path) -> None:
    page = "Original link: https://docs.liara.ir/paas/a/\n\n# A\n\nzebra\n"
    docs.commit({"public/llms/paas/a.md": page, "src/pages/a.mdx": "# A\n\nzebra source\n"})
    life = only(history(docs, tmp_path, "liara").search("zebra", 5))
    assert life.path == "paas/a.md"


def test_links_submodules_and_what_is_not_served_are_left_out(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\n{LONG}\n", "x.py": LONG, ".hidden/b.md": LONG})
    os.symlink("a.md", docs.folder / "link.md")
    docs.git("update-index", "--add", "--cacheinfo", f"160000,{docs.head()},sub.md")
    docs.commit({})
    made = history(docs, tmp_path)
    assert only(made.search("scheduler", 5)).path == "a.md"
    assert made.recorded.live == 1


def test_a_page_that_becomes_a_link_is_removed(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\n{LONG}\n", "b.md": "# B\n\nb\n"})
    (docs.folder / "a.md").unlink()
    os.symlink("b.md", docs.folder / "a.md")
    docs.commit({})
    assert only(history(docs, tmp_path).search("scheduler", 5)).status == "removed"


def test_names_and_texts_in_any_encoding_are_served(docs: Docs, tmp_path: Path) -> None:
    raw = os.fsdecode(b'caf\xe9 \n\t"x".md')
    docs.commit(
        {
            raw: f"# Raw\n\n{LONG}\n",
            "latin.md": "# L\n\nzebra caf\xe9\n".encode("cp1252"),
            "wide.md": "# W\n\nzebra wide\n".encode("utf-16"),
            "راهنما.md": "# ر\n\nzebra fa\n",
            "binary.md": b"# B\0zebra",
            "empty.md": "",
        }
    )
    made = history(docs, tmp_path)
    assert only(made.search("scheduler", 5)).path == raw
    paths = {life.path for life in made.search("zebra", 9)}
    assert paths == {"latin.md", "wide.md", "راهنما.md"}
    assert made.page(raw).path == raw


def test_a_commit_message_is_one_line_whatever_it_holds(docs: Docs, tmp_path: Path) -> None:
    docs.author = "Eve eve@example.org"
    docs.commit({"a.md": f"# A\n\n{LONG}\n"}, "\x1b[31m:100644 100644\n\nby eve@example.org")
    docs.commit({"b.md": "# B\n\nb\n"}, "thanks mallory@evil.example!")
    [life] = history(docs, tmp_path).search("scheduler", 5)
    assert life.added.author == "Eve (address hidden)"
    assert "eve@" not in life.added.subject
    assert history(docs, tmp_path).page("b.md").revisions[0].commit.subject == (
        "thanks (address hidden)"
    )


def test_a_sha256_repository_is_served(tmp_path: Path) -> None:
    docs = Docs(tmp_path / "docs", kind="sha256")
    wrote = docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    docs.commit({"a.md": "# A\n\nx\n"})
    made = history(docs, tmp_path)
    assert len(wrote) == 64
    assert only(made.search("scheduler", 5)).added.id == wrote
    assert [m.confirmed for m in made.documented(LONG).main_line] == [True, True]


def test_a_repository_without_commits_has_an_empty_history(docs: Docs, tmp_path: Path) -> None:
    made = history(docs, tmp_path)
    assert made.search("anything", 5) == []
    assert made.documented("anything").status == "never"
    assert "no commit" in made.recorded.note
    docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    made.refresh()
    assert only(made.search("scheduler", 5)).status == "live"
    assert made.recorded.note == ""


def test_a_shallow_clone_is_served_and_says_what_it_lacks(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    docs.commit({"b.md": "# B\n\nzebra\n"})
    shallow = tmp_path / "shallow"
    source = f"file://{docs.folder}"
    subprocess.run(["git", "clone", "-q", "--depth=1", source, shallow], check=True)
    made = history(shallow, tmp_path)
    assert only(made.search("scheduler", 5)).status == "live"
    assert "without its older commits" in made.documented(LONG).note


def test_missing_file_versions_are_left_out_and_said(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\n{LONG}\n", "c.md": "# C\n\ncc\n"})
    docs.commit({"a.md": None, "b.md": f"# A\n\n{LONG}\n\nzebra\n"})
    blob = docs.git("rev-parse", "HEAD~1:a.md")
    (docs.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    made = history(docs, tmp_path)
    assert only(made.search("zebra", 5)).status == "live"
    assert "lacks some files" in made.page("b.md").note


def test_missing_commits_are_refused_with_a_reason(docs: Docs, tmp_path: Path) -> None:
    first = docs.commit({"a.md": "# A\n\nx\n"})
    docs.commit({"a.md": "# A\n\ny\n"})
    (docs.git_dir / "objects" / first[:2] / first[2:]).unlink()
    made = History(LibraryEntry("Docs", "markdown", docs.folder, history=True), tmp_path / "data")
    with pytest.raises(OpenError, match="cannot be read"):
        made.refresh()
    with pytest.raises(Unavailable, match="first time"):
        made.search("x", 5)


def test_a_page_that_never_was_is_not_found_and_near_misses_are_named(
    docs: Docs, tmp_path: Path
) -> None:
    docs.commit({"guide/install.md": "# A\n\nx\n"})
    with pytest.raises(NotFound) as missing:
        history(docs, tmp_path).page("guide/instal.md")
    assert missing.value.details["suggestions"] == ["guide/install.md"]


def test_a_folder_outside_of_any_repository_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(OpenError, match="key 'history'"):
        History(LibraryEntry("Docs", "markdown", plain, history=True), tmp_path / "data")


def test_one_process_writes_a_history_and_readers_keep_the_last(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\n{LONG}\n"})
    made = history(docs, tmp_path)
    docs.commit({"a.md": "# A\n\nx\n"})
    with generations.writing(tmp_path / "data" / "Docs" / "history"), pytest.raises(Busy):
        made.refresh()
    assert only(made.search("scheduler", 5)).status == "live"


def test_progress_counts_file_versions(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": "# A\n\nx\n", "b.md": "# B\n\ny\n"})
    seen: list[tuple[int, int]] = []
    made = History(LibraryEntry("Docs", "markdown", docs.folder, history=True), tmp_path / "data")
    made.refresh(progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.corpora
@pytest.mark.parametrize(
    "bundle", ["folders/actix-docs-history.bundle", "liara/liara-docs-llms.bundle"]
)
def test_what_is_live_is_what_the_newest_commit_says(
    bundle: str, corpora: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--bare", corpora / bundle, clone], check=True)
    made = history(clone, tmp_path)
    entry = LibraryEntry("Docs", "markdown", clone)
    selection = Selection(entry.include, entry.exclude)
    repository = git.find(clone)
    pages = [(p, oid) for p, oid in repository.files(repository.head()) if selection.holds(p)]
    data = dict(repository.blobs(oid for _, oid in pages))
    texts = [(path, decode(data[oid] or b"")) for path, oid in pages]
    parts = [read(path, text).parts for path, text in texts if text]
    assert made.recorded.live == sum(len(found) for found in parts)
