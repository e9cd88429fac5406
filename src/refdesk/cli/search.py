"""`refdesk search QUERY`: the answer of the `search` tool, in the terminal."""

from __future__ import annotations

import argparse
import asyncio

from refdesk.cli import desk
from refdesk.grounding import CLOSE, OPEN, line
from refdesk.tools.desk import Desk
from refdesk.tools.search import answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk search`."""
    parser.add_argument("query", nargs="+", help='words to look for; "quoted phrases" must match')
    parser.add_argument("--limit", type=int, default=5, help="hits wanted (default 5)")
    parser.add_argument("--library", default="", help="search this library only")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Print the hits; 1 when there are none."""
    asked = {
        "query": " ".join(arguments.query),
        "limit": arguments.limit,
        "library": arguments.library,
    }
    with desk.open_desk(arguments) as manager:
        reply = asyncio.run(answer(Desk(manager, desk.settings(arguments), local=True), asked))
    if arguments.json:
        desk.print_json(reply.body)
    else:
        _print(reply.body)
    return 0 if reply.count else 1


def _print(body: desk.Json) -> None:
    for hit in desk.objects(body["results"]):
        where = hit["url"] or hit["location"] or hit["ref"]
        desk.write(f"{hit['cite']} {hit['title']}  ({hit['library']})")
        desk.write(f"    {where}")
        if hit["breadcrumb"]:
            desk.write(f"    {hit['breadcrumb']}")
        desk.write(f"    {line(_unwrapped(str(hit['snippet'])), 400)}")
        desk.write(f"    {hit['ref']}\n")
    if not body["results"]:
        desk.write("nothing found")
    if body["did_you_mean"]:
        desk.write(f"did you mean: {body['did_you_mean']}")
    for missing in desk.objects(body["degraded"]):
        desk.write(f"no answer from {missing['library']}: {missing['reason']}")


def _unwrapped(snippet: str) -> str:
    return snippet.removeprefix(OPEN).removesuffix(CLOSE)
