"""A git repository in, its commit and its files out, without letting the repository act.

Whoever wrote a repository also wrote its configuration, which can name programs that git runs.
So git is called with plumbing commands only, with settings of ours, no configuration of the
machine and no way to the network; `acquire` alone may use it, and only for the address it is
given.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import IO, Final

from refdesk.backends import git
from refdesk.backends.files import MAX_FILE_BYTES
from refdesk.errors import OpenError

Stage = Callable[[str, int, int], None]
"""Told what git is doing and how far it is: (words, done, of)."""

REVISION: Final = re.compile(r"[0-9A-Za-z][\w./-]{0,199}\Z")
"""What may name a commit."""
MAX_EXPORT_BYTES: Final = 512 * 1024 * 1024
_SECONDS: Final = 60.0
_ACQUIRE_SECONDS: Final = 3600.0
_TAIL: Final = 2000
_KEPT_VARIABLES: Final = (
    "PATH",
    "LANG",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
)
_SETTINGS: Final = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.symlinks=false",
    "core.autocrlf=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
_PATIENCE: Final = ("http.lowSpeedLimit=1000", "http.lowSpeedTime=30")
_COMMITTER: Final = re.compile(rb"^committer .*> (\d{1,12}) ([+-])(\d\d)(\d\d)$", re.MULTILINE)
_STEP: Final = re.compile(r"(?:remote: )?([A-Z][\w ]+):\s+\d+% \((\d+)/(\d+)\)")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its id, and when it was committed (ISO 8601 with its offset, or "")."""

    id: str
    date: str


def repository(path: Path) -> Path | None:
    """The git directory of the checkout or bare clone at `path`, None when it is neither.

    Raises:
        OpenError: it is one, and leads to a repository elsewhere that does not know of it.
    """
    if (path / ".git").exists() or git.is_git_dir(path):
        return git.find(path).git_dir
    return None


def head(git_dir: Path, revision: str = "HEAD") -> Commit | None:
    """The commit that `revision` names; None when there is none or git cannot tell."""
    try:
        name = _read(git_dir, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        text = _read(git_dir, "cat-file", "commit", name.decode("ascii").strip())
    except (OpenError, UnicodeDecodeError):
        return None
    return Commit(name.decode("ascii").strip(), _date(text))


def export(git_dir: Path, commit: str, folder: str, target: Path) -> None:
    """Write the regular files below `folder` of a commit to `target`, which appears at once.

    Links, submodules, files larger than MAX_FILE_BYTES and names that could lead out of
    `target` are left out.

    Raises:
        OpenError: git is missing, the commit has no such folder, it is too large, or `target`
            cannot be written.
    """
    listing = _read(git_dir, "ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", folder + "/")
    blobs = [blob for line in listing.split(b"\0") if (blob := _blob(line, folder))]
    if not blobs:
        raise OpenError(f"{git_dir}: commit {commit[:12]} holds no file below {folder}")
    if sum(size for _, _, size in blobs) > MAX_EXPORT_BYTES:
        raise OpenError(f"{git_dir}: {folder} holds more than {MAX_EXPORT_BYTES} bytes")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as work:
            built = Path(work) / "tree"
            _write_blobs(git_dir, blobs, built)
            if not target.exists():
                built.rename(target)
    except OSError as error:
        raise OpenError(f"{target.parent} cannot be written ({error.strerror or error})") from None


@contextmanager
def acquire(
    source: str, target: Path, folder: str, *, commit: str, progress: Stage
) -> Iterator[Path]:
    """Clone `source` beside `target` and check `folder` out, then put it into the place of it.

    Yields the finished clone while `target` still is what it was, so that the two can be
    compared; on leaving the block they are exchanged, unless it raised. `source` is an https
    address or the path of a bundle or repository; `commit` "" is the newest one.

    Raises:
        OpenError: git is missing or fails, or there is no such commit or folder.
    """
    if commit and not REVISION.match(commit):
        raise OpenError(f"{commit!r} does not name a commit; give its id")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pull-") as work:
        fresh = Path(work) / "new"
        old = Path(work) / "old"
        _clone(source, fresh, progress)
        _check_out(fresh, folder, commit)
        yield fresh
        _exchange(fresh, target, old)


def _clone(source: str, fresh: Path, progress: Stage) -> None:
    protocol = "https" if source.startswith("https://") else "file"
    words = ("clone", "--no-checkout", "--single-branch", "--no-tags", "--template=", "--progress")
    with _running(
        *words,
        "--no-local",
        "--",
        source,
        os.fspath(fresh),
        settings=_PATIENCE,
        protocol=protocol,
    ) as process:
        tail = _follow(process.stderr, progress)
        try:
            failed = process.wait(_ACQUIRE_SECONDS)
        except subprocess.TimeoutExpired:
            raise OpenError(f"git did not finish cloning {source} in time") from None
    if failed:
        raise OpenError(f"git could not clone {source}: {tail or 'it did not say why'}")


def _check_out(fresh: Path, folder: str, commit: str) -> None:
    git_dir = fresh / ".git"
    found = head(git_dir, commit or "HEAD")
    if found is None:
        raise OpenError(f"the repository has no commit {commit or 'to check out'}")
    inside = ("--git-dir", os.fspath(git_dir), "--work-tree", os.fspath(fresh))
    _run(*inside, "sparse-checkout", "set", "--cone", folder, cwd=fresh)
    words = ("--detach", found.id) if commit else ()
    _run(*inside, "checkout", "--force", "--quiet", *words, cwd=fresh)
    if not (fresh / folder).is_dir():
        raise OpenError(f"commit {found.id[:12]} has no folder {folder}")


def _exchange(fresh: Path, target: Path, old: Path) -> None:
    try:
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    except OSError as error:
        if old.exists() and not target.exists():
            old.rename(target)
        raise OpenError(
            f"{target} cannot be replaced ({error.strerror}); it is as it was"
        ) from None


def _follow(stream: IO[bytes] | None, progress: Stage) -> str:
    """Tell `progress` what git reports; its last words that are no report."""
    tail = ""
    if stream is None:
        return tail
    for raw in iter(lambda: stream.readline(_TAIL), b""):
        for words in re.split(r"[\r\n]+", raw.decode("utf-8", "replace")):
            step = _STEP.match(words)
            if step:
                progress(step[1].strip().lower(), int(step[2]), int(step[3]))
            elif words.strip() and not words.startswith(("Cloning", "remote:")):
                tail = (tail + " " + "".join(filter(str.isprintable, words)))[-_TAIL:].strip()
    return tail


def _blob(line: bytes, folder: str) -> tuple[str, str, int] | None:
    """(path below the folder, object id, size) of one line of ls-tree, None to leave it out."""
    meta, _, raw = line.partition(b"\t")
    fields = meta.split()
    if len(fields) != 4 or fields[0] not in (b"100644", b"100755") or not fields[3].isdigit():
        return None
    path = raw.decode("utf-8", "surrogateescape").removeprefix(folder + "/")
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return None
    size = int(fields[3])
    return (path, fields[2].decode("ascii"), size) if size <= MAX_FILE_BYTES else None


def _write_blobs(git_dir: Path, blobs: Sequence[tuple[str, str, int]], built: Path) -> None:
    with tempfile.TemporaryFile() as wanted:
        wanted.write("".join(f"{name}\n" for _, name, _ in blobs).encode("ascii"))
        wanted.seek(0)
        arguments = ("--git-dir", os.fspath(git_dir), "cat-file", "--batch")
        with _running(*arguments, stdin=wanted, stdout=subprocess.PIPE) as process:
            for path, name, size in blobs:
                data = _next_blob(process.stdout, name, size)
                if data is None:
                    raise OpenError(f"{git_dir}: object {name} of {path!r} is missing or damaged")
                file = built / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)


def _next_blob(stream: IO[bytes] | None, name: str, size: int) -> bytes | None:
    if stream is None or stream.readline(200) != f"{name} blob {size}\n".encode("ascii"):
        return None
    data = stream.read(size)
    return data if len(data) == size and stream.read(1) == b"\n" else None


def _date(text: bytes) -> str:
    found = _COMMITTER.search(text)
    if found is None:
        return ""
    offset = timedelta(hours=int(found[3]), minutes=int(found[4]))
    zone = timezone(-offset if found[2] == b"-" else offset)
    try:
        return datetime.fromtimestamp(int(found[1]), zone).isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


def _read(git_dir: Path, *words: str) -> bytes:
    """What a git command prints about a repository."""
    return _run("--git-dir", os.fspath(git_dir), *words)


def _run(*words: str, cwd: Path | None = None) -> bytes:
    with _running(*words, stdout=subprocess.PIPE, cwd=cwd) as process:
        try:
            out, err = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            raise OpenError(f"git {words[2]} did not finish within {_SECONDS:g} s") from None
    if process.returncode:
        said = " ".join(err.decode("utf-8", "replace").split())[-_TAIL:]
        raise OpenError(f"git failed: {said or 'it did not say why'}")
    return bytes(out)


@contextmanager
def _running(
    *words: str,
    settings: Sequence[str] = (),
    protocol: str = "",
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    cwd: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A git process that is gone afterwards; `protocol` is the only way out that it has."""
    program = shutil.which("git")
    if program is None:
        raise OpenError("git is not installed, or not on PATH; install it to use repositories")
    configured = [word for each in (*_SETTINGS, *settings) for word in ("-c", each)]
    process = subprocess.Popen(  # noqa: S603 - no shell; words are checked by the callers
        [program, "--no-replace-objects", *configured, *words],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=_environment(protocol),
        cwd=cwd,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()


def _environment(protocol: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {
        **kept,
        "HOME": os.devnull,
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": protocol or "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
    }
