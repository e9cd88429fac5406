"""A folder in a git repository in; commits, changed files and blobs out. The one caller of git.

A repository is data from strangers: its configuration, attributes, hooks and names must not run
anything. So git is called with a fixed environment and fixed switches, an absolute git directory,
no lazy fetch, no transport, nothing of a caller in the place of an option, and a deadline.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from refdesk.errors import OpenError

INDEX_SECONDS: Final = 600.0
"""Seconds that one git process may take while history is indexed."""
ASK_SECONDS: Final = 8.0
"""Seconds that one git process may take while a caller waits."""
MAX_BLOB_BYTES: Final = 16 * 1024 * 1024
"""Larger blobs are not read: no larger file is served either."""

_SWITCHES: Final = (
    "--no-pager",
    "--literal-pathspecs",
    "--no-replace-objects",
    "--no-optional-locks",
    *(
        part
        for setting in (
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.attributesFile=/dev/null",
            "core.commitGraph=false",
            "core.pager=cat",
            "core.sshCommand=false",
            "core.askPass=false",
            "protocol.allow=never",
            "log.showSignature=false",
            "log.showRoot=true",
            "log.mailmap=false",
            "gc.auto=0",
            "maintenance.auto=false",
        )
        for part in ("-c", setting)
    ),
)
_ENVIRONMENT: Final = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
}
_LOG: Final = (
    "log",
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-color",
    "--no-decorate",
    "--no-ext-diff",
    "--no-mailmap",
    "--no-notes",
    "--no-show-signature",
    "--no-textconv",
    "--encoding=UTF-8",
    "--format=%x00%H%x00%P%x00%ct%x00%an%x00%s",
)
_PICKAXE: Final = (
    "log",
    "-s",
    "--no-color",
    "--no-decorate",
    "--no-ext-diff",
    "--no-mailmap",
    "--no-notes",
    "--no-renames",
    "--no-show-signature",
    "--no-textconv",
    "--format=%H",
)
_CHUNK: Final = 1 << 16
_OID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REFS: Final = ("refs/heads", "refs/remotes", "refs/tags")
_SPECIAL: Final = re.compile(r"[][\\.^$*+?(){}|]")
_REGULAR: Final = "100"
"""How the mode of a regular file begins; links and submodules hold no page."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a commit changed. `old` has one blob for each parent, "" where it held none.

    `path` is the name after the change, `previous` the one before a rename, else "".
    """

    path: str
    previous: str
    old: tuple[str, ...]
    new: str


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """One commit as `log` shows it. `time` is its committer's, in seconds since 1970."""

    oid: str
    parents: tuple[str, ...]
    time: int
    author: str
    subject: str
    changes: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, and the folder in it that a library serves ("" or "docs/": with its slash)."""

    git_dir: Path
    prefix: str
    bare: bool

    def head(self) -> str:
        """The commit that HEAD names, "" when there is none yet.

        Raises:
            OpenError: git does not take this for a repository, and says why.
        """
        return self.resolve(["HEAD"]).get("HEAD", "")

    def shallow(self) -> bool:
        """Whether older commits were left out when the repository was cloned."""
        return self._text("rev-parse", "--is-shallow-repository").strip() == "true"

    def tips(self) -> dict[str, str]:
        """HEAD, branch, remote branch or tag -> the commit it leads to; others are left out.

        Raises:
            OpenError: as `head`.
        """
        found = self._text("for-each-ref", "--format=%(refname)", *_REFS)
        return self.resolve(["HEAD", *(name for name in found.split("\n") if name)])

    def resolve(self, names: Sequence[str]) -> dict[str, str]:
        """Name -> commit, for the names that lead to a commit that is there."""
        asked = [f"{name}^{{commit}}" for name in names]
        lines = self._text("cat-file", "--batch-check", given=asked).split("\n")
        words = [line.split(" ") for line in lines[: len(names)]]
        return {
            name: answer[0]
            for name, answer in zip(names, words, strict=False)
            if len(answer) == 3 and answer[1] == "commit"
        }

    def chain(self, tip: str, known: str = "") -> list[tuple[str, str]]:
        """(commit, its first parent or "") along first parents from `tip`, as far as `known`."""
        until = [f"^{known}"] if known else []
        arguments = ("rev-list", "--first-parent", "--parents", "--stdin")
        lines = self._text(*arguments, given=[tip, *until]).split("\n")
        words = [line.split(" ") for line in lines if line]
        return [(word[0], word[1] if len(word) > 1 else "") for word in words]

    def main_line(self, tip: str, known: str, *, exact: bool) -> Iterator[LoggedCommit]:
        """The commits of the main line, oldest first, each with what it brought to that line.

        `exact` finds renames of unchanged files only and reads no blob: for repositories that
        lack some.
        """
        return self._log(("--first-parent", "-m", "--reverse"), tip, known, exact)

    def all_lines(
        self, tips: Sequence[str], known: Sequence[str], *, exact: bool
    ) -> Iterator[LoggedCommit]:
        """Every commit that leads to `tips` and not to `known`, oldest first.

        A merge shows the files that differ from all of its parents.
        """
        options = ("-c", "--full-history", "--topo-order", "--reverse")
        return self._log(options, *_split(tips, known), exact)

    def blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Each blob with its bytes; None where it is missing, no blob or larger than allowed."""
        wanted = list(dict.fromkeys(oids))
        if not wanted:
            return
        with self._stream(("cat-file", "--batch", "--buffer"), wanted, INDEX_SECONDS) as out:
            for oid in wanted:
                header = out.readline().split()
                if len(header) != 3 or not header[2].isdigit():
                    yield oid, None
                    continue
                size = int(header[2])
                fits = header[1] == b"blob" and size <= MAX_BLOB_BYTES
                data = out.read(size + 1) if fits else _discard(out, size + 1)
                yield oid, data[:-1] if fits and len(data) == size + 1 else None

    def files(self, commit: str) -> list[tuple[str, str]]:
        """(path, blob) of every regular file of the library's folder at `commit`."""
        arguments = ("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
        listed = self._text(*arguments, *self._paths([self.prefix] if self.prefix else []))
        found = []
        for line in listed.split("\0"):
            head, _, path = line.partition("\t")
            mode, _, rest = head.partition(" ")
            if path.startswith(self.prefix) and mode.startswith(_REGULAR):
                found.append((path.removeprefix(self.prefix), rest.rpartition(" ")[2]))
        return found

    def holds(self, text: str, commits: Sequence[str], *, main: bool) -> frozenset[str]:
        """Those of `commits` in which git's pickaxe sees the count of `text` change.

        White space in `text` stands for any white space, line breaks included.

        Raises:
            OpenError: git failed, or took longer than ASK_SECONDS.
        """
        if not commits:
            return frozenset()
        merges = ("--first-parent", "-m") if main else ("-m",)
        asked = (*_PICKAXE, "--no-walk=unsorted", *merges, *_needle(text), "--stdin")
        return frozenset(self._text(*asked, *self._folder(), given=commits).split())

    def search(self, text: str, tips: Sequence[str], most: int) -> list[LoggedCommit]:
        """Up to `most` commits in which the count of `text` changes, newest first: the slow way.

        Raises:
            OpenError: as `holds`.
        """
        if not tips:
            return []
        asked = (*_PICKAXE, "-m", "--full-history", f"--max-count={most}", *_needle(text))
        found = self._text(*asked, "--stdin", *self._folder(), given=tips).split()
        options = (*_LOG, "-m", "--no-walk=unsorted", "--no-renames", "--stdin")
        unique = list(dict.fromkeys(found))
        if not unique:
            return []
        with self._stream((*options, *self._folder()), unique, ASK_SECONDS) as out:
            return list(_commits(out, self.prefix))

    def _log(
        self, options: Sequence[str], tip: str, known: str, exact: bool
    ) -> Iterator[LoggedCommit]:
        renames = "-M100%" if exact else "-M"
        given = [*tip.split(" "), *(f"^{oid}" for oid in known.split(" ") if oid)]
        arguments = (*_LOG, renames, *options, "--stdin", *self._folder())
        with self._stream(arguments, given, INDEX_SECONDS) as out:
            yield from _commits(out, self.prefix)

    def _folder(self) -> tuple[str, ...]:
        return self._paths([self.prefix] if self.prefix else [])

    def _paths(self, paths: Sequence[str]) -> tuple[str, ...]:
        return ("--", *paths) if paths else ()

    def _text(self, *arguments: str, given: Sequence[str] = ()) -> str:
        with self._stream(arguments, given, ASK_SECONDS) as out:
            return out.read().decode("utf-8", "surrogateescape")

    @contextmanager
    def _stream(
        self, arguments: Sequence[str], given: Sequence[str], seconds: float
    ) -> Iterator[IO[bytes]]:
        """The output of one git process, which is gone when the block ends.

        Raises:
            OpenError: git is not installed, took too long or failed.
        """
        program = shutil.which("git")
        if program is None:
            raise OpenError("history needs git, which is not installed")
        command = [program, f"--git-dir={self.git_dir}", *_SWITCHES, *arguments]
        environment = {**_ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath)}
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(  # noqa: S603 a list, no shell, fixed switches
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                cwd="/",
                env=environment,
            )
            late = threading.Event()

            def stop() -> None:
                late.set()
                process.kill()

            watchdog = threading.Timer(seconds, stop)
            watchdog.start()
            feeder = threading.Thread(target=_feed, args=(process.stdin, given), daemon=True)
            feeder.start()
            out = cast("IO[bytes]", process.stdout)
            finished = False
            try:
                yield out
                finished = True
            finally:
                if not finished:
                    process.kill()
                rest = out.read()
                out.close()
                code = process.wait()
                watchdog.cancel()
                feeder.join()
            if late.is_set():
                raise OpenError(f"git {arguments[0]} took longer than {seconds:g} s")
            if code or rest:
                complaints.seek(0)
                raise OpenError(_complaint(arguments[0], self.git_dir, complaints.read(_CHUNK)))


def find(folder: Path) -> Repository:
    """The repository that `folder` is, or lies in.

    Raises:
        OpenError: there is none, or its `.git` leads where it should not.
    """
    if is_git_dir(folder):
        return Repository(_guarded(folder, folder), "", bare=True)
    for place in (folder, *folder.parents):
        marker = place / ".git"
        if marker.is_dir():
            return Repository(_guarded(marker, place), _prefix(folder, place), bare=False)
        if marker.is_file():
            return Repository(_followed(marker, place), _prefix(folder, place), bare=False)
    raise OpenError(
        f"{folder} is no git repository and lies in none; "
        "remove `history` from this library or clone the repository with its history"
    )


def is_git_dir(folder: Path) -> bool:
    """Whether `folder` is a git directory itself, such as a bare clone."""
    return all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def selected_blob(oid: str) -> bool:
    """Whether `oid` names an object at all: "" and the null id do not."""
    return bool(_OID.match(oid)) and oid.strip("0") != ""


def _split(tips: Sequence[str], known: Sequence[str]) -> tuple[str, str]:
    return " ".join(tips), " ".join(known)


def _prefix(folder: Path, top: Path) -> str:
    path = folder.relative_to(top).as_posix()
    return "" if path == "." else path + "/"


def _guarded(git_dir: Path, place: Path) -> Path:
    """`git_dir`, unless a link or a `commondir` leads git to another repository."""
    resolved = git_dir.resolve()
    if not resolved.is_relative_to(place.resolve()) or (resolved / "commondir").exists():
        raise OpenError(f"{git_dir} leads to another place: clone the repository itself")
    return resolved


def _followed(marker: Path, place: Path) -> Path:
    """The git directory that a `.git` file names, if that directory knows of it.

    A linked worktree's directory names the file in return; a submodule's lies in the `.git` of a
    folder around it. Anything else could make any repository of this machine readable.
    """
    try:
        text = marker.read_bytes()[:_CHUNK].decode("utf-8", "surrogateescape")
    except OSError as error:
        raise OpenError(f"{marker} cannot be read ({error.strerror})") from None
    target = (place / text.removeprefix("gitdir:").strip("\r\n ")).resolve()
    if any(target.is_relative_to((above / ".git").resolve()) for above in place.parents):
        return target
    with suppress(OSError, ValueError):
        named = (target / "gitdir").read_text(encoding="utf-8", errors="surrogateescape").strip()
        if Path(named).resolve() == marker.resolve():
            return target
    raise OpenError(
        f"{marker} names a repository that does not know of it; "
        "use a plain clone, or repair it with `git worktree repair`"
    )


def _feed(stdin: IO[bytes] | None, lines: Sequence[str]) -> None:
    if stdin is None:
        return
    with suppress(OSError):  # git has gone; its exit code says why
        for line in lines:
            stdin.write(line.encode("utf-8", "surrogateescape") + b"\n")
    with suppress(OSError):
        stdin.close()


def _discard(out: IO[bytes], size: int) -> bytes:
    while size > 0:
        piece = out.read(min(size, _CHUNK))
        if not piece:
            break
        size -= len(piece)
    return b""


def _tokens(out: IO[bytes]) -> Iterator[bytes]:
    """What stands between NULs."""
    held = b""
    while piece := out.read(_CHUNK):
        *whole, held = (held + piece).split(b"\0")
        yield from whole
    if held.strip(b"\n"):
        yield held


def _commits(out: IO[bytes], prefix: str) -> Iterator[LoggedCommit]:
    """The commits of `git log -z --raw` in the format of _LOG.

    Fields and paths hold no NUL and are counted, so that no name can pass for something else.
    """
    tokens = _tokens(out)
    # NULs part commits, and a merge from its files: empty tokens between records mean nothing.
    visible = (stripped for token in tokens if (stripped := token.removeprefix(b"\n")))
    oid = next(visible, None)
    while oid is not None:
        parents, moment, author, subject = (_words(next(tokens, b"")) for _ in range(4))
        name, oid = _words(oid), None
        changes: list[FileChange] = []
        for token in visible:
            if not token.startswith(b":"):
                oid = token
                break
            change = _change(token.decode("ascii", "replace"), tokens, prefix)
            if change is not None:
                changes.append(change)
        time = int(moment) if moment.lstrip("-").isdigit() else 0
        yield LoggedCommit(name, tuple(parents.split()), time, author, subject, tuple(changes))


def _change(record: str, tokens: Iterator[bytes], prefix: str) -> FileChange | None:
    parents = len(record) - len(record.lstrip(":"))
    words = record.lstrip(":").split(" ")
    modes, oids, status = words[: parents + 1], words[parents + 1 : -1], words[-1]
    path = _path(next(tokens, b""))
    previous = ""
    if parents == 1 and status[:1] in ("R", "C"):
        previous, path = path, _path(next(tokens, b""))
    if not path.startswith(prefix):
        return None
    held = [
        oid if mode.startswith(_REGULAR) else "" for mode, oid in zip(modes, oids, strict=False)
    ]
    outside = not previous.startswith(prefix) or status[:1] == "C"
    before = "" if outside else previous.removeprefix(prefix)
    old = ("",) if previous and outside else tuple(held[:-1])
    return FileChange(path.removeprefix(prefix), before, old, held[-1])


def _words(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _path(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _needle(text: str) -> tuple[str, ...]:
    """The pickaxe for `text`; joined to its switch, so that it cannot pass for another."""
    words = text.split()
    if len(words) < 2:
        return (f"-S{text.strip()}",)
    pattern = "[[:space:]]+".join(_SPECIAL.sub(r"\\\g<0>", word) for word in words)
    return ("--pickaxe-regex", f"-S{pattern}")


def _complaint(command: str, git_dir: Path, said: bytes) -> str:
    lines = [line for line in said.decode("utf-8", "replace").split("\n") if line.strip()]
    reason = lines[-1][:300] if lines else "no reason given"
    return f"the history in {git_dir} cannot be read: git {command}: {reason}"
