"""Repositories that try to run programs, write files or reach beyond themselves.

Each trap is sprung first by git as it is usually called: a trap that cannot spring proves nothing.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from refdesk.adapters import open_library
from refdesk.adapters.history import History
from refdesk.errors import NotFound, OpenError
from refdesk.manifest import LibraryEntry
from timelines import Docs

SECRET = "The vault opens at noon and closes when the last clerk has gone home."


class Trap:
    """A program that leaves a mark when somebody runs it."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "sprung"
        self.program = folder / "trap.sh"
        self.program.write_text(f"#!/bin/sh\ntouch '{self.mark}'\nexit 1\n")
        self.program.chmod(0o755)

    def sprung(self) -> bool:
        """Whether it was run since it was asked last."""
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


@pytest.fixture
def docs(tmp_path: Path) -> Docs:
    made = Docs(tmp_path / "docs")
    made.commit({"a.md": "# A\n\nred words\n"})
    made.commit({"a.md": "# A\n\nblue words\n"})
    return made


def opened(folder: Path, tmp_path: Path) -> History:
    return History(LibraryEntry("Docs", "markdown", folder, history=True), tmp_path / "data")


def everything(folder: Path, tmp_path: Path) -> None:
    """Every question, each way git is asked."""
    made = opened(folder, tmp_path)
    made.refresh()
    made.refresh(force=True)
    assert made.search("words", 5)
    assert made.documented("red words").main_line
    made.documented("no section says this")
    assert made.page("a.md").revisions
    made.close()


def usual(docs: Docs, *arguments: str) -> None:
    """git as a trusting program calls it; it may fail."""
    subprocess.run(
        ["git", *arguments],
        cwd=docs.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=20,
    )


def sign(docs: Docs, trap: Trap) -> None:
    """A commit with a signature, and a program to check it."""
    tree = docs.git("rev-parse", "HEAD^{tree}")
    parent = docs.head()
    who = "Ada <ada@example.org> 1700400000 +0000"
    body = (
        f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n"
    )
    oid = docs.git("hash-object", "-t", "commit", "-w", "--stdin", given=body.encode())
    docs.git("update-ref", "refs/heads/main", oid)
    docs.git("config", "log.showSignature", "true")
    docs.git("config", "gpg.program", str(trap.program))


def convert(docs: Docs, trap: Trap) -> None:
    """A text conversion and an external diff, named by attributes that are not committed."""
    info = docs.git_dir / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* diff=evil filter=evil\n")
    for key in ("diff.evil.textconv", "diff.evil.command", "filter.evil.smudge", "diff.external"):
        docs.git("config", key, str(trap.program))


def monitor(docs: Docs, trap: Trap) -> None:
    """A file system monitor and hooks."""
    docs.git("config", "core.fsmonitor", str(trap.program))
    docs.git("config", "core.hooksPath", str(trap.program.parent))
    docs.git("config", "core.pager", str(trap.program))


def promise(docs: Docs, trap: Trap) -> None:
    """A partial clone that lacks a file and names a program to fetch it with."""
    blob = docs.git("rev-parse", "HEAD~1:a.md")
    (docs.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    (docs.folder / "b.md").write_text("# B\n\nwords, more words\n")
    docs.git("config", "core.repositoryFormatVersion", "1")
    docs.git("config", "extensions.partialClone", "origin")
    docs.git("config", "remote.origin.promisor", "true")
    docs.git("config", "remote.origin.url", str(docs.folder))
    docs.git("config", "remote.origin.uploadpack", str(trap.program))


@pytest.mark.parametrize(
    ("arm", "spring"),
    [
        (sign, ("log", "--raw")),
        (convert, ("log", "-Sred", "-p")),
        (monitor, ("status",)),
    ],
    ids=["signature", "conversion", "monitor"],
)
def test_nothing_a_repository_configures_is_run(
    arm: Callable[[Docs, Trap], None],
    spring: tuple[str, ...],
    docs: Docs,
    trap: Trap,
    tmp_path: Path,
) -> None:
    arm(docs, trap)
    usual(docs, *spring)
    assert trap.sprung()
    everything(docs.folder, tmp_path)
    assert not trap.sprung()


def test_nothing_is_fetched_for_a_partial_clone(docs: Docs, trap: Trap, tmp_path: Path) -> None:
    promise(docs, trap)
    usual(docs, "cat-file", "-p", "HEAD~1:a.md")
    assert trap.sprung()
    made = opened(docs.folder, tmp_path)
    recorded = made.refresh()
    made.search("words", 5)
    assert made.documented("blue words").status == "live"
    assert made.documented("no section says this").status == "unknown"
    assert "lacks some files" in recorded.note
    assert not trap.sprung()


def test_settings_and_variables_of_the_machine_are_not_asked(
    docs: Docs, trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {trap.program}\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap.program))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    everything(docs.folder, tmp_path)
    assert not trap.sprung()


@pytest.mark.parametrize("text", ["--output={}", "-O{}", "--output={} x", "\n--output={}", "-S{}"])
def test_a_text_never_stands_where_git_reads_options(text: str, docs: Docs, tmp_path: Path) -> None:
    target = tmp_path / "written"
    usual(docs, "log", "-p", f"--output={target}")
    assert target.exists()
    target.unlink()
    made = opened(docs.folder, tmp_path)
    made.refresh()
    asked = text.format(target)
    assert made.documented(asked).status == "never"
    assert made.search(asked, 5) == [] or made.search(asked, 5)
    with pytest.raises(NotFound):
        made.page(asked)
    assert not target.exists()


def test_an_option_that_pages_tell_of_is_looked_for_as_text(docs: Docs, tmp_path: Path) -> None:
    docs.commit({"a.md": f"# A\n\nuse --output={tmp_path}/x.txt --all [a-z]* (b|c) here\n"})
    made = opened(docs.folder, tmp_path)
    made.refresh()
    for text in (f"--output={tmp_path}/x.txt", "--all [a-z]* (b|c)"):
        [mention] = made.documented(text).main_line
        assert (mention.change, mention.confirmed) == ("wrote", True)
    assert not (tmp_path / "x.txt").exists()


def test_names_of_branches_and_folders_are_no_options(docs: Docs, tmp_path: Path) -> None:
    docs.git("update-ref", "refs/heads/--output=x", "HEAD")
    docs.commit({"--all/a.md": f"# A\n\n{SECRET}\n", ":(glob)**/a.md": "# G\n\nwords\n"})
    everything(docs.folder, tmp_path)
    made = opened(docs.folder / "--all", tmp_path / "folder")
    made.refresh()
    assert made.recorded.live == 1


def test_a_git_file_that_names_an_unrelated_repository_is_refused(
    docs: Docs, tmp_path: Path
) -> None:
    thief = tmp_path / "thief"
    thief.mkdir()
    (thief / ".git").write_text(f"gitdir: {docs.git_dir}\n")
    with pytest.raises(OpenError, match="does not know of it"):
        opened(thief, tmp_path)


def test_a_git_folder_that_leads_elsewhere_is_refused(docs: Docs, tmp_path: Path) -> None:
    thief = tmp_path / "thief"
    thief.mkdir()
    os.symlink(docs.git_dir, thief / ".git")
    with pytest.raises(OpenError, match="another place"):
        opened(thief, tmp_path)
    bare = Docs(tmp_path / "other").git_dir
    (bare / "commondir").write_text(f"{docs.git_dir}\n")
    with pytest.raises(OpenError, match="another place"):
        opened(bare.parent, tmp_path)


def test_worktrees_and_submodules_are_followed(docs: Docs, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    docs.git("worktree", "add", "-q", "--detach", str(linked))
    everything(linked, tmp_path)
    above = Docs(tmp_path / "above")
    above.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(docs.folder), "sub")
    everything(above.folder / "sub", tmp_path / "above-data")


def test_a_damaged_or_foreign_repository_is_refused_with_a_reason(
    docs: Docs, tmp_path: Path
) -> None:
    docs.git("config", "core.repositoryFormatVersion", "99")
    made = opened(docs.folder, tmp_path)
    with pytest.raises(OpenError, match="cannot be read"):
        made.refresh()


def test_a_forged_tree_cannot_write_outside_of_the_export(docs: Docs, tmp_path: Path) -> None:
    blob = docs.git("rev-parse", "HEAD:a.md")
    inner = b"100644 evil.md\0" + bytes.fromhex(blob)
    tree = docs.git("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=inner)
    outer = b"40000 ..\0" + bytes.fromhex(tree) + b"100644 a.md\0" + bytes.fromhex(blob)
    top = docs.git("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=outer)
    commit = docs.git("commit-tree", top, "-m", "forged")
    docs.git("update-ref", "refs/heads/main", commit)
    entry = LibraryEntry("Docs", "markdown", docs.git_dir, history=True)
    library = open_library(entry, tmp_path / "data")
    library.refresh()
    assert [found.path for found in library.documents("", "", 9)] == ["a.md"]
    assert not list((tmp_path / "data").rglob("evil.md"))
    library.close()


def test_a_graft_or_a_replacement_does_not_change_history(docs: Docs, tmp_path: Path) -> None:
    first = docs.git("rev-parse", "HEAD~1")
    other = docs.git("commit-tree", f"{first}^{{tree}}", "-m", "instead")
    docs.git("replace", docs.head(), other)
    (docs.git_dir / "info" / "grafts").write_text(f"{docs.head()}\n")
    made = opened(docs.folder, tmp_path)
    made.refresh()
    assert [r.change for r in made.page("a.md").revisions] == ["modified", "added"]
