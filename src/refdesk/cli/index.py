"""`refdesk index`: bring every library's index up to date and say what was left out."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from refdesk.cli import desk
from refdesk.grounding import line
from refdesk.manager import CorpusManager
from refdesk.model import Changes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk index`."""
    parser.add_argument("--force", action="store_true", help="read everything again")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Index and report."""
    manager = CorpusManager.load(desk.settings(arguments))
    try:
        report = manager.refresh(force=arguments.force, progress=desk.show_progress)
        manager.finish(desk.show_progress)
        libraries = {library.name: library for library in manager.libraries}
    finally:
        manager.shut()
    if arguments.json:
        desk.print_json({name: asdict(changes) for name, changes in report.items()})
        return 0
    for name, changes in report.items():
        library = libraries[name]
        desk.write(
            f"{name}: {library.documents} documents, {library.sections} sections "
            f"({changes.new} new, {changes.updated} updated, {changes.removed} removed, "
            f"{changes.unchanged} unchanged)"
        )
        for skipped in skip_lines(changes):
            desk.write(f"  {skipped}")
    return 0


def skip_lines(changes: Changes) -> list[str]:
    """One line per reason for which files were left out."""
    return [
        f"left out, {skip.reason}: {skip.count} ({', '.join(map(line, skip.examples))}"
        + (", …)" if skip.count > len(skip.examples) else ")")
        for skip in changes.skipped
    ]
