"""One manifest entry in, an open library out: one file per corpus kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from refdesk.adapters import markdown
from refdesk.adapters.base import Adapter
from refdesk.manifest import LibraryEntry

ADAPTERS: Final[Mapping[str, Callable[[LibraryEntry, Path], Adapter]]] = {
    "markdown": markdown.MarkdownLibrary,
}
"""The corpus kinds: `adapter` in corpus.toml -> what opens it."""


def open_library(entry: LibraryEntry, data_dir: Path) -> Adapter:
    """The library that `entry` describes; its index lives below `data_dir`.

    Raises:
        OpenError: its source is not there or cannot be read.
    """
    return ADAPTERS[entry.adapter](entry, data_dir)
