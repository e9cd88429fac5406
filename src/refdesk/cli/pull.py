"""`refdesk pull`: fetch a public corpus, or a newer state of it; the one command that uses the web.

What is there stays in use until the new copy is complete and checked, then the two are exchanged.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import urlsplit

from tqdm import tqdm

from refdesk import manifest
from refdesk.adapters import liara
from refdesk.backends import checkout, files
from refdesk.cli import desk
from refdesk.errors import ManifestError, OpenError, SettingsError
from refdesk.grounding import line
from refdesk.settings import Settings

UPSTREAM: Final = "https://github.com/liara-cloud/docs"
FOLDER: Final = "liara-docs"
"""Where the pages go, below the corpus root, when no library says otherwise."""
MARK: Final = "refdesk-pull"
"""A file in the git directory of every clone made here: only such a clone is ever replaced."""
_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """Paths of pages, by what a pull did to them."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk pull`."""
    parser.add_argument("corpus", choices=["liara"], help="what to fetch")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="SOURCE",
        default=UPSTREAM,
        help="https address, or path of a git bundle or repository (default: %(default)s)",
    )
    parser.add_argument(
        "--commit", metavar="ID", default="", help="this commit instead of the newest"
    )
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help=f"folder to fill (default: {FOLDER} in the root)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Clone, compare, exchange, report."""
    settings = desk.settings(arguments)
    configured = _configured(settings)
    target = (arguments.to or configured or settings.corpus_root / FOLDER).absolute()
    source = _source(arguments.source)
    _check(target)
    with checkout.acquire(
        source, target, liara.PAGES, commit=arguments.commit, progress=_progress()
    ) as fresh:
        before, after = _pages(target), _pages(fresh)
        if not after:
            raise OpenError(f"{source} holds no page below {liara.PAGES}; see --from and --commit")
        commit = checkout.head(fresh / ".git") or checkout.Commit("", "")
        (fresh / ".git" / MARK).write_text("made by refdesk pull\n", encoding="utf-8")
    difference = compare(before, after)
    if arguments.json:
        desk.print_json(_report(target, commit, len(after), difference))
        return 0
    desk.write(f"{target}: commit {commit.id[:12]} of {commit.date[:10]}, {len(after)} pages")
    for words, paths in _named(difference).items():
        examples = ", ".join(map(line, paths[:_NAMED])) + (", …" if len(paths) > _NAMED else "")
        desk.write(f"  {len(paths)} {words}" + (f": {examples}" if paths and before else ""))
    if target != configured:
        desk.write(_advice(target, settings))
    return 0


def compare(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Difference:
    """What changed between two states of a folder, each path -> digest."""
    return Difference(
        new=tuple(sorted(after.keys() - before.keys())),
        changed=tuple(sorted(p for p in after.keys() & before.keys() if after[p] != before[p])),
        removed=tuple(sorted(before.keys() - after.keys())),
    )


def _configured(settings: Settings) -> Path | None:
    """The checkout that the first liara library reads, None where there is none."""
    with suppress(ManifestError, SettingsError):
        corpus = manifest.load(settings.corpus_config, settings.corpus_root)
        for entry in corpus.libraries:
            if entry.adapter == "liara":
                inner = entry.path.parts[-2:] == tuple(liara.PAGES.split("/"))
                return entry.path.parents[1] if inner else entry.path
    return None


def _source(given: str) -> str:
    """An https address as it is, a path absolute.

    Raises:
        OpenError: it is neither.
    """
    if given.startswith("https://"):
        with suppress(ValueError):
            parts = urlsplit(given)
            if parts.hostname and "@" not in parts.netloc and given.isprintable():
                return given
    path = Path(given)
    if "://" not in given and path.exists():
        return str(path.absolute())
    raise OpenError(
        f"--from {given!r} is neither an https address nor the path of a bundle or repository"
    )


def _check(target: Path) -> None:
    """Refuse to replace what this command did not make."""
    if not target.exists() or (target / ".git" / MARK).is_file():
        return
    if target.is_dir() and not any(target.iterdir()):
        return
    raise OpenError(
        f"{target} was not made by refdesk pull and is left alone: "
        "bring it up to date with git, or name another folder with --to"
    )


def _pages(root: Path) -> dict[str, bytes]:
    folder = root / liara.PAGES
    if not folder.is_dir():
        return {}
    tree = files.walk(folder, manifest.DEFAULT_INCLUDE, ())
    return {path: hashlib.sha256(files.read(folder, path)).digest() for path in tree.files}


def _named(difference: Difference) -> dict[str, tuple[str, ...]]:
    return {
        "new": difference.new,
        "changed": difference.changed,
        "removed": difference.removed,
    }


def _report(
    target: Path, commit: checkout.Commit, pages: int, difference: Difference
) -> dict[str, object]:
    return {
        "folder": str(target),
        "commit": commit.id,
        "committed": commit.date,
        "pages": pages,
        **{words: list(paths) for words, paths in _named(difference).items()},
    }


def _advice(target: Path, settings: Settings) -> str:
    root = settings.corpus_root.absolute()
    if not target.is_relative_to(root):
        return f"to serve it, move it below {root} or set CORPUS_ROOT"
    path = target.relative_to(root).as_posix()
    return (
        f"to serve it, add to {settings.corpus_config}:\n"
        f'[[library]]\nname = "Liara"\nadapter = "liara"\npath = "{path}"'
    )


def _progress() -> checkout.Stage:
    """A bar for each step on a terminal, a line now and then elsewhere."""
    return _bars() if sys.stderr.isatty() else _lines()


def _bars() -> checkout.Stage:
    shown: dict[str, tqdm[NoReturn]] = {}

    def show(step: str, done: int, total: int) -> None:
        if step not in shown:
            shown[step] = tqdm(total=total, desc=step, leave=False)
        bar = shown[step]
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return show


def _lines() -> checkout.Stage:
    last = time.monotonic()

    def show(step: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= desk.LINE_SECONDS:
            last = time.monotonic()
            sys.stderr.write(f"{step}: {done} of {total}\n")

    return show
