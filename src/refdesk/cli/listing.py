"""`refdesk list`: the libraries, or the documents of one."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict

from refdesk.cli import desk
from refdesk.grounding import line
from refdesk.manager import CorpusManager
from refdesk.model import Entry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk list`."""
    parser.add_argument("library", nargs="?", default="", help="list the documents of this one")
    parser.add_argument("--prefix", default="", help="only paths that start so")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    with desk.open_desk(arguments) as manager:
        if arguments.library or arguments.prefix:
            return _documents(manager, arguments)
        rows = manager.libraries
    if arguments.json:
        desk.print_json([asdict(library) for library in rows])
        return 0
    for library in rows:
        desk.write(
            f"{library.name} ({library.adapter}): {library.documents} documents, "
            f"{library.sections} sections, snapshot {library.snapshot or 'unknown'}"
        )
    return 0


def _documents(manager: CorpusManager, arguments: argparse.Namespace) -> int:
    entries = asyncio.run(_all_entries(manager, arguments.library, arguments.prefix))
    if arguments.json:
        desk.print_json(
            [{"ref": str(e.ref), "path": line(e.path), "title": line(e.title)} for e in entries]
        )
        return 0
    for entry in entries:
        desk.write(f"{entry.ref}  {line(entry.title)}")
    return 0


async def _all_entries(manager: CorpusManager, library: str, prefix: str) -> list[Entry]:
    found: list[Entry] = []
    cursor = ""
    while True:
        page, cursor = await manager.entries(library, prefix, cursor)
        found += page
        if not cursor:
            return found
