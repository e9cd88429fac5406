"""`refdesk fetch REF`: the answer of the `fetch` tool, in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import json

from refdesk.cli import desk
from refdesk.errors import SectionNotFound
from refdesk.tools.desk import Desk
from refdesk.tools.fetch import answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk fetch`."""
    parser.add_argument("ref", help="a ref that search printed, or the URL of a page in a library")
    parser.add_argument(
        "--section", action="append", default=[], metavar="ID", help="this section (repeatable)"
    )
    parser.add_argument("--start", type=int, default=0, help="continue a page that was cut here")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Print the document."""
    asked = {"ref": arguments.ref, "sections": arguments.section, "start": arguments.start}
    with desk.open_desk(arguments) as manager:
        try:
            reply = asyncio.run(answer(Desk(manager, desk.settings(arguments), local=True), asked))
        except SectionNotFound as error:
            known = json.dumps(error.details["available_sections"], ensure_ascii=False)
            raise SectionNotFound(f"{error}\navailable: {known}", error.details) from None
    if arguments.json:
        desk.print_json(reply.body)
        return 0
    body = reply.body
    desk.write(f"{body['title']}  ({body['library']}, {body['snapshot']})")
    desk.write(f"{body['url'] or body['ref']}\n")
    for section in desk.objects(body["sections"]):
        desk.write(f"{section['content']}\n")
    if body["truncated"]:
        desk.write(f"… cut here; read on with --start {body['next_start']}")
    return 0
