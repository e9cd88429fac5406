"""One manifest entry in, an open library out: one file per corpus kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from refdesk.adapters import liara, markdown
from refdesk.adapters.bare import BareLibrary
from refdesk.adapters.base import Adapter
from refdesk.backends import git
from refdesk.manifest import LibraryEntry

ADAPTERS: Final[Mapping[str, Callable[[LibraryEntry, Path], Adapter]]] = {
    "markdown": markdown.MarkdownLibrary,
    "liara": liara.LiaraLibrary,
}
"""The corpus kinds: `adapter` in corpus.toml -> what opens it."""


def open_library(entry: LibraryEntry, data_dir: Path) -> Adapter:
    """The library that `entry` describes; its index lives below `data_dir`.

    Raises:
        OpenError: its source is not there or cannot be read.
    """
    if entry.history and entry.adapter == "markdown" and git.is_git_dir(entry.path):
        return BareLibrary(entry, data_dir)
    return ADAPTERS[entry.adapter](entry, data_dir)
