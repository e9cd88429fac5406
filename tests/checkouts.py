"""Checkouts of page folders, made by git itself, with a fixed author and time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

PAGES = "public/llms"


def git(folder: Path, *words: str, when: str = "2026-03-01T10:00:00+03:30") -> str:
    """Run git in `folder`, with a fixed author and time; what it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
    }
    identity = ("-c", "user.name=Writer", "-c", "user.email=writer@example.com")
    done = subprocess.run(
        ["git", *identity, *words],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def write(folder: Path, pages: Mapping[str, str]) -> Path:
    """Write pages below `folder`."""
    for path, text in pages.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def commit(
    repository: Path, pages: Mapping[str, str], *, when: str = "2026-03-01T10:00:00+03:30"
) -> str:
    """Commit pages to a repository, which is made if it is not there; the id of the commit."""
    if not repository.exists():
        repository.mkdir(parents=True)
        git(repository, "init", "--quiet", "--initial-branch=main")
    write(repository / PAGES, pages)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=pages", when=when)
    return git(repository, "rev-parse", "HEAD")
