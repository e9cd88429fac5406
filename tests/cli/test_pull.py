"""`refdesk pull liara`: from repositories and bundles made here, never from the web."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkouts import PAGES, commit, git, write
from refdesk.cli.main import main

Capture = pytest.CaptureFixture[str]

FIRST = {"a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n"}


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, beside an empty corpus that is the current folder."""
    repository = tmp_path / "upstream"
    commit(repository, FIRST)
    write(repository, {"src/app.js": "no page"})
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=code")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus.toml").write_text(
        'version = 1\n[[library]]\nname = "Liara"\nadapter = "liara"\npath = "docs"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return repository


def pull(capsys: Capture, *words: str) -> dict[str, Any]:
    assert main(["pull", "liara", "--json", *words]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def refused(capsys: Capture, *words: str) -> str:
    assert main(["pull", "liara", *words]) == 1
    return capsys.readouterr().err


def test_the_pages_come_to_where_corpus_toml_expects_them(upstream: Path, capsys: Capture) -> None:
    report = pull(capsys, "--from", str(upstream))
    assert report["folder"] == str(upstream.parent / "corpus" / "docs")
    assert report["commit"] == git(upstream, "rev-parse", "HEAD")
    assert report["committed"] == "2026-03-01T10:00:00+03:30"
    assert (report["pages"], report["new"], report["changed"]) == (2, ["a.md", "b.md"], [])
    assert not (upstream.parent / "corpus" / "docs" / "src").exists()
    assert main(["check"]) == 0
    assert "2 documents" in capsys.readouterr().out


def test_pulling_again_says_what_changed(upstream: Path, capsys: Capture) -> None:
    pull(capsys, "--from", str(upstream))
    (upstream / PAGES / "b.md").unlink()
    commit(upstream, {"a.md": "# A\n\nOther.\n", "c.md": "# C\n"}, when="2026-04-01T00:00:00+00:00")
    assert main(["pull", "liara", "--from", str(upstream)]) == 0
    printed = capsys.readouterr().out
    for line in ("of 2026-04-01, 2 pages", "1 new: c.md", "1 changed: a.md", "1 removed: b.md"):
        assert line in printed
    report = pull(capsys, "--from", str(upstream))
    assert (report["new"], report["changed"], report["removed"]) == ([], [], [])


def test_an_older_commit_can_be_taken_and_left_again(upstream: Path, capsys: Capture) -> None:
    old = git(upstream, "rev-parse", "HEAD")
    commit(upstream, {"c.md": "# C\n"})
    assert pull(capsys, "--from", str(upstream), "--commit", old[:10])["commit"] == old
    assert pull(capsys, "--from", str(upstream))["new"] == ["c.md"]


def test_a_bundle_is_a_source_too(upstream: Path, capsys: Capture) -> None:
    git(upstream, "bundle", "create", "--quiet", "../docs.bundle", "HEAD", "main")
    report = pull(capsys, "--from", "docs.bundle", "--to", "elsewhere")
    assert report["pages"] == 2
    assert (upstream.parent / "elsewhere" / PAGES / "a.md").is_file()


def test_the_first_pull_says_what_to_write_into_corpus_toml(
    upstream: Path, capsys: Capture
) -> None:
    (upstream.parent / "corpus.toml").unlink()
    assert main(["pull", "liara", "--from", str(upstream)]) == 0
    printed = capsys.readouterr().out
    assert 'adapter = "liara"\npath = "liara-docs"' in printed


def test_what_pull_did_not_make_is_never_replaced(upstream: Path, capsys: Capture) -> None:
    own = write(upstream.parent / "own", {"work.md": "mine"})
    for target in (own, upstream):
        assert "left alone" in refused(capsys, "--from", str(upstream), "--to", str(target))
    assert (own / "work.md").read_text(encoding="utf-8") == "mine"


def test_a_failure_leaves_everything_as_it_was(upstream: Path, capsys: Capture) -> None:
    pull(capsys, "--from", str(upstream))
    before = sorted(path.name for path in (upstream.parent / "corpus").iterdir())
    git(upstream, "rm", "-r", "--quiet", PAGES)
    git(upstream, "commit", "--quiet", "--message=gone")
    (upstream.parent / "torn.bundle").write_bytes(b"# v2 git bundle\nnothing")
    for words in (
        ("--from", str(upstream)),
        ("--from", str(upstream), "--commit", "0123456789"),
        ("--from", "torn.bundle"),
    ):
        assert refused(capsys, *words).startswith("refdesk: ")
    assert sorted(path.name for path in (upstream.parent / "corpus").iterdir()) == before
    assert (upstream.parent / "corpus" / "docs" / PAGES / "a.md").is_file()


@pytest.mark.parametrize(
    "source",
    [
        "http://example.com/docs",
        "ssh://example.com/docs",
        "git@example.com:docs",
        "ext::touch sprung",
        "file:///etc",
        "--upload-pack=touch sprung",
        "https://user:secret@example.com/docs",
        "https://",
        "nowhere",
    ],
)
def test_no_other_source_is_asked(upstream: Path, capsys: Capture, source: str) -> None:
    assert "neither" in refused(capsys, f"--from={source}")
    assert not (upstream.parent / "sprung").exists()


@pytest.mark.parametrize("name", ["--output=x", "HEAD; touch sprung", "", "..", "a" * 300])
def test_a_commit_is_named_by_letters_and_digits(
    upstream: Path, capsys: Capture, name: str
) -> None:
    if name:
        assert "commit" in refused(capsys, "--from", str(upstream), f"--commit={name}")
    else:
        assert pull(capsys, "--from", str(upstream), "--commit=")["pages"] == 2


def test_hooks_and_filters_of_the_source_do_not_run(upstream: Path, capsys: Capture) -> None:
    trap = upstream.parent / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {upstream.parent}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    write(upstream, {".gitattributes": "* filter=evil\n"})
    commit(upstream, {})
    for name in ("post-checkout", "pre-receive", "post-upload-pack"):
        hook = upstream / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_bytes(trap.read_bytes())
        hook.chmod(0o755)
    for name in ("filter.evil.smudge", "core.fsmonitor", "uploadpack.packObjectsHook"):
        git(upstream, "config", name, str(trap))
    assert pull(capsys, "--from", str(upstream))["pages"] == 2
    assert not (upstream.parent / "sprung").exists()


def test_without_git_the_command_says_so(
    upstream: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(upstream.parent))
    assert "git is not installed" in refused(capsys, "--from", str(upstream))
