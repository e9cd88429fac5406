"""`refdesk check`: open everything that corpus.toml names and report."""

from __future__ import annotations

import argparse

from refdesk.cli import desk
from refdesk.errors import OpenError
from refdesk.manager import CorpusManager
from refdesk.model import Library, State


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk check`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Report on every library; 1 when one cannot be served."""
    settings = desk.settings(arguments, allow_degraded=True)
    manager = CorpusManager.load(settings)
    try:
        problems = _index(manager)
        libraries = manager.libraries
    finally:
        manager.shut()
    rows = [_row(library, problems.get(library.name, "")) for library in libraries]
    failed = any(row["state"] != State.READY for row in rows)
    if arguments.json:
        desk.print_json({"ok": not failed, "libraries": rows})
        return int(failed)
    for row in rows:
        counts = f"{row['documents']} documents, {row['sections']} sections"
        detail = row["reason"] or f"{counts}, snapshot {row['snapshot'] or 'unknown'}"
        desk.write(f"{row['state']:<8} {row['name']} ({row['adapter']}): {detail}")
    return int(failed)


def _index(manager: CorpusManager) -> dict[str, str]:
    """Refresh each library; library -> why that failed."""
    problems: dict[str, str] = {}
    for name in [library.name for library in manager.libraries]:
        try:
            manager.refresh(only=name, progress=desk.show_progress)
        except OpenError as error:
            problems[name] = str(error)
    return problems


def _row(library: Library, problem: str) -> dict[str, object]:
    state = State.FAILED if problem else library.state
    return {
        "name": library.name,
        "adapter": library.adapter,
        "state": state,
        "documents": library.documents,
        "sections": library.sections,
        "snapshot": library.snapshot,
        "reason": problem or library.reason,
    }
