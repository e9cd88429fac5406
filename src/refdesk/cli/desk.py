"""Parsed arguments in, settings and an open manager out; shared by the commands that read."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from tqdm import tqdm

from refdesk.adapters.base import Progress
from refdesk.errors import Busy
from refdesk.manager import CorpusManager
from refdesk.settings import Settings


def settings(arguments: argparse.Namespace, **overrides: object) -> Settings:
    """The settings of this call: command line first, then environment."""
    given = {"corpus_config": arguments.config, "corpus_root": arguments.root, **overrides}
    return Settings.load(**{name: value for name, value in given.items() if value is not None})


Json = dict[str, object]


@contextmanager
def open_desk(arguments: argparse.Namespace) -> Iterator[CorpusManager]:
    """The configured libraries, up to date; progress goes to stderr.

    Raises:
        ConfigError, OpenError: as CorpusManager.load.
    """
    manager = CorpusManager.load(settings(arguments))
    try:
        try:
            manager.refresh(progress=show_progress)
        except Busy as busy:
            sys.stderr.write(f"refdesk: {busy}; answering from the last index\n")
        yield manager
    finally:
        manager.shut()


def show_progress(library: str) -> Progress:
    """A progress bar on a terminal, a line now and then elsewhere, nothing for quick work."""
    return _bar(library) if sys.stderr.isatty() else _lines(library)


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def objects(value: object) -> list[Json]:
    """The JSON objects of a JSON array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def write(text: str) -> None:
    """One line or more on standard output; what the terminal cannot show is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def _bar(library: str) -> Progress:
    bar: list[tqdm[NoReturn]] = []

    def show(done: int, total: int) -> None:
        if not bar:
            bar.append(tqdm(total=total, desc=f"indexing {library}", unit="file", leave=False))
        bar[0].update(done - bar[0].n)
        if done == total:
            bar[0].close()

    return show


def _lines(library: str) -> Progress:
    shown = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= LINE_SECONDS:
            shown = time.monotonic()
            sys.stderr.write(f"indexing {library}: {done} of {total} files\n")

    return show


LINE_SECONDS: Final = 2.0
"""Seconds between two lines about the same long work."""
