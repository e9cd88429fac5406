"""`refdesk outline FILE`: one file in, the sections that refdesk sees in it out."""

from __future__ import annotations

import argparse
from pathlib import Path

from refdesk.cli import desk
from refdesk.errors import OpenError
from refdesk.grounding import line
from refdesk.reading import decode, read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk outline`."""
    parser.add_argument("file", type=Path, help="a Markdown, AsciiDoc or text file")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Print the outline."""
    try:
        text = decode(arguments.file.read_bytes())
    except OSError as error:
        raise OpenError(f"{arguments.file} cannot be read: {error.strerror}") from None
    if text is None:
        raise OpenError(f"{arguments.file} is binary; refdesk reads text files")
    rows = [
        {
            "breadcrumb": list(part.breadcrumb),
            "level": part.level or (None if not part.breadcrumb else part.level),
            "start": part.start,
            "end": part.end,
        }
        for part in read(arguments.file.name, text).parts
    ]
    if arguments.json:
        desk.print_json(rows)
        return 0
    for row in rows:
        crumbs = row["breadcrumb"]
        label = " › ".join(line(name) for name in crumbs) if isinstance(crumbs, list) else ""
        desk.write(f"{row['start']:>6}-{row['end']:<6} {label or '(before the first heading)'}")
    return 0
