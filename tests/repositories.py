"""Git repositories with pages, made commit by commit on fixed days."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

PAGES = "public/llms"
WHEN = "2026-03-01T10:00:00+03:30"


def git(folder: Path, *arguments: str, when: str = WHEN) -> str:
    """What git prints, run in `folder`; commits carry the day `when`."""
    environment = {
        **os.environ,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_COMMITTER_DATE": when,
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files below `folder`, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def commit(repository: Path, pages: Mapping[str, str], *, when: str = WHEN) -> str:
    """Write pages where Liara keeps them and commit everything; the commit's id."""
    write(repository, {})
    if not (repository / ".git").exists():
        git(repository, "init", "--quiet", "--initial-branch=main")
    write(repository / PAGES, pages)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "--message=pages", when=when)
    return git(repository, "rev-parse", "HEAD")
