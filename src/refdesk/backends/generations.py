"""A library's folder in, whole index generations out: built beside, then swapped in by a rename.

    DATA_DIR/<library>/
        CURRENT            the name of the generation that readers open
        LOCK               held (flock) by the one process that writes
        gen-00000007/      catalog.sqlite and lexical/, never written again once published
        gen-00000008.tmp/  a generation being built; swept away if its builder died

Whatever kills a builder, CURRENT names a complete generation or does not exist.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from refdesk.errors import Busy, OpenError

CURRENT: Final = "CURRENT"
LOCK: Final = "LOCK"
_NAME: Final = re.compile(r"gen-\d{8}\Z")
_KEPT: Final = 2
"""Published generations that stay: the current one, and the one that a reader may be opening."""


def current(home: Path) -> Path | None:
    """The published generation, None when there is none."""
    try:
        name = (home / CURRENT).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    generation = home / name
    return generation if _NAME.match(name) and generation.is_dir() else None


@contextmanager
def writing(home: Path) -> Iterator[None]:
    """Be the one writer of `home`; leftovers of writers that died are swept away.

    Raises:
        Busy: another process is writing it now.
        OpenError: the folder cannot be written.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise OpenError(
            f"{home} cannot be written ({error.strerror}); make DATA_DIR a writable folder"
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"{home.name} is being indexed by another process; try again") from None
        _sweep(home)
        yield
    finally:
        os.close(descriptor)


def begin(home: Path) -> Path:
    """A new empty folder for the next generation. Call inside `writing`."""
    taken = [int(path.name[4:]) for path in home.glob("gen-*") if _NAME.match(path.name)]
    building = home / f"gen-{max(taken, default=0) + 1:08d}.tmp"
    building.mkdir()
    return building


def publish(building: Path) -> Path:
    """Make a finished generation the current one, durably, and drop the old ones."""
    home = building.parent
    generation = building.with_suffix("")
    for path in building.rglob("*"):
        if path.is_file():
            _sync(path)
    _sync(building)
    building.rename(generation)
    _sync(home)
    pointer = home / f"{CURRENT}.tmp"
    pointer.write_text(generation.name + "\n", encoding="ascii")
    _sync(pointer)
    pointer.replace(home / CURRENT)
    _sync(home)
    _drop_old(home, generation)
    return generation


def link_tree(source: Path, target: Path) -> None:
    """Give `target` the files of `source` without copying their bytes where that is possible.

    For write-once files only: what is replaced by rename in one folder stays in the other. Lock
    files are left out: two folders must not share a lock.
    """
    target.mkdir()
    for path in source.iterdir():
        if path.suffix == ".lock":
            continue
        try:
            os.link(path, target / path.name)
        except OSError:
            shutil.copyfile(path, target / path.name)


def _sweep(home: Path) -> None:
    """Remove what died unpublished: unfinished folders, and finished ones never pointed at."""
    alive = current(home)
    for path in home.glob("gen-*"):
        newer = alive is None or path.name > alive.name
        if path.suffix == ".tmp" or (_NAME.match(path.name) and newer):
            shutil.rmtree(path, ignore_errors=True)


def _drop_old(home: Path, newest: Path) -> None:
    published = sorted(path for path in home.glob("gen-*") if _NAME.match(path.name))
    for path in [path for path in published if path.name <= newest.name][:-_KEPT]:
        shutil.rmtree(path, ignore_errors=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems refuse fsync on folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
