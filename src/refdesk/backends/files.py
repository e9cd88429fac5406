"""A folder in, the regular files worth indexing out, with a reason for everything left out.

Names may be any bytes the file system allows: undecodable ones travel as surrogate escapes.
Nothing outside the folder is ever opened, nothing but regular files is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from refdesk.model import Skip

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
EXAMPLES: Final = 5

HIDDEN: Final = "hidden (name starts with a dot)"
DEPENDENCIES: Final = "node_modules"
IGNORED: Final = "listed in .gitignore"
EXCLUDED: Final = "matches exclude"
NOT_INCLUDED: Final = "not matched by include"
LINKED_FOLDER: Final = "link to a folder"
LINK_OUTSIDE: Final = "link that leaves the library"
LINK_BROKEN: Final = "broken link"
LINK_TWICE: Final = "link to a file that is indexed itself"
NOT_REGULAR: Final = "not a regular file"
UNREADABLE: Final = "unreadable"
TOO_LARGE: Final = f"larger than {MAX_FILE_BYTES // (1024 * 1024)} MiB"
EMPTY: Final = "empty"
BINARY: Final = "binary"


@dataclass(frozen=True, slots=True)
class Stat:
    """What tells that a file has not changed, without reading it. Times are nanoseconds."""

    size: int
    mtime: int
    ctime: int


@dataclass(slots=True)
class Skips:
    """Counts what was left out, by reason, and keeps the first few names."""

    _counts: dict[str, int] = field(default_factory=dict)
    _examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, path: str) -> None:
        """Count one file or folder."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        examples = self._examples.setdefault(reason, [])
        if len(examples) < EXAMPLES:
            examples.append(path)

    def summary(self) -> tuple[Skip, ...]:
        """The reasons, most frequent first."""
        order = sorted(self._counts, key=lambda reason: (-self._counts[reason], reason))
        return tuple(Skip(r, self._counts[r], tuple(self._examples[r])) for r in order)


@dataclass(frozen=True, slots=True)
class Tree:
    """The result of one walk: path relative to the root (with slashes) -> Stat."""

    files: dict[str, Stat]
    skips: Skips


def walk(root: Path, include: Sequence[str], exclude: Sequence[str]) -> Tree:
    """Every regular file below `root` that the patterns (gitignore syntax) select.

    Links are followed to files inside `root` only, and only when the file they lead to is not
    selected under its own name. Iterative: depth costs no stack.
    """
    select = _Selector(include, exclude)
    skips = Skips()
    files: dict[str, Stat] = {}
    links: list[str] = []
    pending: list[tuple[str, _Ignores]] = [("", _Ignores())]
    base = os.fspath(root)
    while pending:
        folder, inherited = pending.pop()
        try:
            with os.scandir(os.path.join(base, folder)) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            skips.add(UNREADABLE, folder or ".")
            continue
        ignores = inherited.within(base, folder, entries)
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            reason = _excuse(entry, path, select, ignores)
            if reason:
                skips.add(reason, path)
            elif entry.is_dir(follow_symlinks=False):
                pending.append((path, ignores))
            elif entry.is_symlink():
                links.append(path)
            else:
                files[path] = _stat(entry.stat(follow_symlinks=False))
    _follow(base, links, files, skips)
    return Tree(dict(sorted(files.items())), skips)


def read(root: Path, path: str) -> bytes:
    """The bytes of one file of a walked tree.

    Raises:
        OSError: it vanished, is unreadable, is no regular file any more, leads out of `root`
            or is larger than MAX_FILE_BYTES.
    """
    base = os.path.realpath(root)
    target = os.path.realpath(os.path.join(base, path))
    if not _inside(base, target):
        raise PermissionError(f"{path} leads out of the library")
    descriptor = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PermissionError(f"{path} is not a regular file")
        data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise PermissionError(f"{path} is {TOO_LARGE}")
    return data


def status(root: Path, path: str) -> Stat | None:
    """The Stat of one file, None when it is not there."""
    try:
        return _stat(os.stat(os.path.join(root, path)))
    except OSError:
        return None


class _Selector:
    """Include and exclude patterns; suffix patterns are answered without a regex."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        suffixes: list[str] = []
        patterns: list[str] = []
        for pattern in include:
            tail = pattern.removeprefix("**/*")
            plain = tail != pattern and tail.startswith(".") and not set(tail) & set("*?[/\\")
            (suffixes if plain else patterns).append(tail.lower() if plain else pattern)
        self._suffixes = tuple(suffixes)
        self._include = GitIgnoreSpec.from_lines(patterns) if patterns else None
        self._exclude = GitIgnoreSpec.from_lines(exclude) if exclude else None

    def includes(self, path: str) -> bool:
        if path.lower().endswith(self._suffixes):
            return True
        return self._include is not None and self._include.match_file(path)

    def excludes(self, path: str) -> bool:
        return self._exclude is not None and self._exclude.match_file(path)


class _Ignores:
    """The .gitignore files that hold in a folder, outermost first."""

    def __init__(self, specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()) -> None:
        self._specs = specs

    def within(self, base: str, folder: str, entries: Sequence[os.DirEntry[str]]) -> _Ignores:
        """The same and, if `folder` holds a .gitignore of its own, that one."""
        own = next((entry for entry in entries if entry.name == ".gitignore"), None)
        if own is None or not own.is_file(follow_symlinks=False):
            return self
        try:
            text = read(Path(base), f"{folder}/.gitignore" if folder else ".gitignore")
            spec = GitIgnoreSpec.from_lines(text.decode("utf-8", "replace").split("\n"))
        except (OSError, ValueError):
            return self
        prefix = f"{folder}/" if folder else ""
        return _Ignores((*self._specs, (prefix, spec)))

    def ignores(self, path: str) -> bool:
        for prefix, spec in reversed(self._specs):
            verdict = spec.check_file(path[len(prefix) :]).include
            if verdict is not None:
                return verdict
        return False


def _excuse(entry: os.DirEntry[str], path: str, select: _Selector, ignores: _Ignores) -> str:
    """Why `entry` is left out, "" if it is not."""
    if entry.name.startswith("."):
        return HIDDEN
    folder = entry.is_dir(follow_symlinks=False)
    if folder and entry.name == "node_modules":
        return DEPENDENCIES
    if not folder and not select.includes(path):
        return LINKED_FOLDER if entry.is_symlink() and entry.is_dir() else NOT_INCLUDED
    pattern_path = f"{path}/" if folder else path
    if select.excludes(pattern_path):
        return EXCLUDED
    if ignores.ignores(pattern_path):
        return IGNORED
    if folder or entry.is_symlink():
        return ""
    return _file_excuse(entry)


def _file_excuse(entry: os.DirEntry[str]) -> str:
    if not entry.is_file(follow_symlinks=False):
        return NOT_REGULAR
    size = entry.stat(follow_symlinks=False).st_size
    if size > MAX_FILE_BYTES:
        return TOO_LARGE
    return "" if size else EMPTY


def _follow(base: str, links: Sequence[str], files: dict[str, Stat], skips: Skips) -> None:
    """Add the links that lead to files of the tree not selected under their own names."""
    real_base = os.path.realpath(base)
    taken = {os.path.join(real_base, path) for path in files}
    for link in links:
        target = os.path.realpath(os.path.join(base, link))
        reason = _link_excuse(real_base, target, taken)
        if reason:
            skips.add(reason, link)
            continue
        taken.add(target)
        files[link] = _stat(os.stat(target))


def _link_excuse(base: str, target: str, taken: set[str]) -> str:
    if not os.path.exists(target):
        return LINK_BROKEN
    if not _inside(base, target):
        return LINK_OUTSIDE
    if os.path.isdir(target):
        return LINKED_FOLDER
    if not os.path.isfile(target):
        return NOT_REGULAR
    if target in taken:
        return LINK_TWICE
    size = os.stat(target).st_size
    if size > MAX_FILE_BYTES:
        return TOO_LARGE
    return "" if size else EMPTY


def _inside(base: str, target: str) -> bool:
    return target == base or target.startswith(base.rstrip(os.sep) + os.sep)


def _stat(result: os.stat_result) -> Stat:
    return Stat(result.st_size, result.st_mtime_ns, result.st_ctime_ns)
