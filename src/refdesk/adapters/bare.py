"""A bare clone in, a searchable library of the pages of its newest commit out."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from refdesk.adapters.base import Progress
from refdesk.adapters.history import Selection
from refdesk.adapters.indexing import Folder
from refdesk.adapters.markdown import MarkdownLibrary
from refdesk.backends import git
from refdesk.backends.git import Repository
from refdesk.errors import OpenError
from refdesk.model import Changes

MAX_EXPORT_BYTES: Final = 512 * 1024 * 1024
_EXPORTED: Final = "source-"
_ID_LENGTH: Final = 16


class BareLibrary(MarkdownLibrary):
    """The `markdown` corpus kind over a bare clone: its pages are written below DATA_DIR."""

    def refresh(self, *, force: bool = False, progress: Progress | None = None) -> Changes:
        """Index what the newest commit holds.

        Raises:
            Busy: another process is indexing this library.
            OpenError: the commit cannot be read, or DATA_DIR not be written.
        """
        changes = super().refresh(force=force, progress=progress)
        for left in self.folder.home.glob(f"{_EXPORTED}*"):
            if left != self.folder.root:
                shutil.rmtree(left, ignore_errors=True)
        return changes

    def _located(self) -> Folder:
        repository = git.find(self._entry.path)
        head = repository.head()
        if not head:
            raise OpenError(
                f"library {self._entry.name!r}: {self._entry.path} holds no commit; "
                "clone a repository that has pages"
            )
        target = self.folder.home / f"{_EXPORTED}{head[:_ID_LENGTH]}"
        if not target.is_dir():
            self._export(repository, head, target)
        return replace(self.folder, root=target)

    def _export(self, repository: Repository, commit: str, target: Path) -> None:
        """Write the pages of a commit to `target`, which appears at once and complete."""
        selection = Selection(self._entry.include, self._entry.exclude)
        wanted = [(path, oid) for path, oid in repository.files(commit) if selection.holds(path)]
        places: dict[str, list[str]] = {}
        for path, oid in wanted:
            if _stays_inside(path):
                places.setdefault(oid, []).append(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as work:
                built = Path(work) / "tree"
                built.mkdir()
                _write(repository, places, built)
                if not target.exists():
                    built.rename(target)
        except OSError as error:
            raise OpenError(
                f"library {self._entry.name!r}: its pages cannot be written below {target.parent} "
                f"({error.strerror or error})"
            ) from error


def _write(repository: Repository, places: dict[str, list[str]], built: Path) -> None:
    written = 0
    for oid, data in repository.blobs(places):
        for path in places[oid]:
            written += len(data or b"")
            if written > MAX_EXPORT_BYTES:
                raise OpenError(f"the pages hold more than {MAX_EXPORT_BYTES} bytes")
            if data is not None:
                file = built / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)


def _stays_inside(path: str) -> bool:
    """Whether a path of a tree, which may be forged, names a file below the folder."""
    return not os.path.isabs(path) and all(part not in ("", ".", "..") for part in path.split("/"))
