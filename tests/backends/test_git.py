"""The one way in which git is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from refdesk.backends import git
from refdesk.errors import OpenError
from timelines import Docs


@pytest.fixture
def docs(tmp_path: Path) -> Docs:
    return Docs(tmp_path / "docs")


def test_commits_come_oldest_first_with_what_they_changed(docs: Docs) -> None:
    docs.commit({"a b.md": "x\n" * 20, "gone.md": "y"}, "first\nsecond line")
    docs.commit({"a b.md": None, "\u00fc\n\t.md": "x\n" * 20 + "z\n"}, "move")
    repository = git.find(docs.folder)
    first, second = repository.main_line(repository.head(), "", exact=False)
    assert [(c.path, c.old) for c in first.changes] == [("a b.md", ("",)), ("gone.md", ("",))]
    assert (first.author, first.time) == ("Ada", 1_700_006_400)
    [change] = second.changes
    assert (change.previous, change.path) == ("a b.md", "\u00fc\n\t.md")


def test_commits_without_changes_and_merges_do_not_confuse_the_reader(docs: Docs) -> None:
    docs.commit({"a.md": "1\n"})
    docs.git("checkout", "-q", "-b", "topic")
    docs.commit({"b.md": "2\n"})
    docs.git("checkout", "-q", "main")
    docs.commit({}, "empty")
    docs.merge("topic")
    docs.commit({"a.md": "3\n"})
    repository = git.find(docs.folder)
    tips = list(repository.tips().values())
    found = list(repository.all_lines(tips, [], exact=False))
    assert len(found) == len({commit.oid for commit in found}) == 5
    assert [len(commit.parents) for commit in repository.main_line(tips[0], "", exact=False)] == [
        0,
        1,
        2,
        1,
    ]


def test_blobs_come_in_the_order_asked_and_missing_ones_are_none(docs: Docs) -> None:
    docs.commit({"a.md": "one\n", "b.md": b"\0two"})
    a, b = docs.git("rev-parse", "HEAD:a.md"), docs.git("rev-parse", "HEAD:b.md")
    tree, nothing = docs.git("rev-parse", "HEAD^{tree}"), "1" * 40
    found = list(git.find(docs.folder).blobs([b, nothing, tree, a, b]))
    assert found == [(b, b"\0two"), (nothing, None), (tree, None), (a, b"one\n")]


def test_large_blobs_are_passed_over(docs: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "MAX_BLOB_BYTES", 10)
    docs.commit({"a.md": "x" * 100_000, "b.md": "small\n"})
    oids = [docs.git("rev-parse", f"HEAD:{name}.md") for name in "ab"]
    assert [data for _, data in git.find(docs.folder).blobs(oids)] == [None, b"small\n"]


def test_a_reader_that_stops_early_leaves_no_process(docs: Docs) -> None:
    docs.commit({f"{number}.md": f"{number} " * 50_000 for number in range(8)})
    oids = [oid for _, oid in git.find(docs.folder).files(docs.head())]
    found = git.find(docs.folder).blobs(oids)
    assert next(found)[1]
    found.close()  # type: ignore[attr-defined]


def test_a_call_that_takes_too_long_is_ended(docs: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    docs.commit({"a.md": "x"})
    monkeypatch.setattr(git, "ASK_SECONDS", 0.0)
    with pytest.raises(OpenError, match="longer than 0 s"):
        git.find(docs.folder).head()


def test_without_git_the_reason_is_given(docs: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(OpenError, match="not installed"):
        git.find(docs.folder).head()


def test_tags_and_remote_branches_count_and_names_that_lead_to_no_commit_do_not(
    docs: Docs,
) -> None:
    head = docs.commit({"a.md": "x"})
    blob = docs.git("rev-parse", "HEAD:a.md")
    docs.git("tag", "-a", "-m", "x", "v1")
    docs.git("tag", "file", blob)
    docs.git("update-ref", "refs/remotes/origin/x", head)
    assert git.find(docs.folder).tips() == {
        "HEAD": head,
        "refs/heads/main": head,
        "refs/remotes/origin/x": head,
        "refs/tags/v1": head,
    }
