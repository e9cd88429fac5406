"""Small git repositories, made commit by commit, with fixed names and days."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

DAY = 86_400
FIRST = 1_700_006_400  # 2023-11-15, 00:00 UTC


@dataclass
class Docs:
    """A work tree; every commit is one day after the one before."""

    folder: Path
    kind: str = "sha1"
    commits: int = 0
    author: str = "Ada"
    last: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", f"--object-format={self.kind}")

    @property
    def git_dir(self) -> Path:
        return self.folder / ".git"

    def git(self, *arguments: str, given: bytes = b"") -> str:
        """What git prints."""
        moment = f"{FIRST + self.commits * DAY} +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": self.author,
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": self.author,
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=environment,
            input=given,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, files: dict[str, str | bytes | None], subject: str = "edit") -> str:
        """Write files (None removes one) and commit everything; the commit's id."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        self.commits += 1
        return self.head()

    def merge(self, *branches: str) -> str:
        """Merge branches into the current one, always with a commit of its own."""
        self.git("merge", "-q", "--no-ff", "-m", f"Merge {' '.join(branches)}", *branches)
        self.commits += 1
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")
