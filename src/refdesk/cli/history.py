"""`refdesk history index|search|when|page`: what the pages used to say, in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Final

from refdesk.cli import desk
from refdesk.errors import Busy, UnknownLibrary
from refdesk.grounding import CLOSE, OPEN, line
from refdesk.manager import CorpusManager
from refdesk.tools import page_history, search_history, when_documented
from refdesk.tools.desk import Desk, Reply

_TEXT_LIMIT: Final = 400
_SHORT: Final = 10

Answer = Callable[[Desk, Mapping[str, object]], Awaitable[Reply]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk history`."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--library", default="", help="only this library")
    common.add_argument("--json", action="store_true", help="print one JSON document")
    tasks = parser.add_subparsers(dest="task", metavar="TASK", required=True)
    index = tasks.add_parser("index", parents=[common], help="bring the history indexes up to date")
    index.add_argument("--force", action="store_true", help="read every commit again")
    search = tasks.add_parser("search", parents=[common], help="search what pages used to say")
    search.add_argument("query", nargs="+", help='words; "quoted phrases" must match')
    search.add_argument("--limit", type=int, default=5, help="results wanted (default 5)")
    search.add_argument("--only-removed", action="store_true", help="only what is gone")
    when = tasks.add_parser("when", parents=[common], help="when did the pages say this")
    when.add_argument("text", nargs="+", help="the words exactly as they stood")
    page = tasks.add_parser("page", parents=[common], help="the revisions of one page")
    page.add_argument("path", help="its path, now or under a former name")


def run(arguments: argparse.Namespace) -> int:
    """Bring histories up to date, then do what was asked; 1 when nothing is found."""
    manager = CorpusManager.load(desk.settings(arguments))
    try:
        if not manager.histories:
            raise UnknownLibrary("no library has `history = true` in corpus.toml")
        if arguments.task == "index":
            return _index(manager, arguments)
        try:
            manager.refresh_histories(only=arguments.library, progress=desk.show_progress)
        except Busy as busy:
            sys.stderr.write(f"refdesk: {busy}; answering from the last index\n")
        answer, asked, show = _question(arguments)
        reply = asyncio.run(_reply(answer, Desk(manager, desk.settings(arguments), True), asked))
    finally:
        manager.shut()
    if arguments.json:
        desk.print_json(reply.body)
    else:
        show(reply.body)
    return 0 if reply.count else 1


async def _reply(answer: Answer, table: Desk, asked: Mapping[str, object]) -> Reply:
    return await answer(table, asked)


def _question(
    arguments: argparse.Namespace,
) -> tuple[Answer, dict[str, object], Callable[[desk.Json], None]]:
    library = {"library": arguments.library}
    if arguments.task == "search":
        asked = {
            "query": " ".join(arguments.query),
            "limit": arguments.limit,
            "only_removed": arguments.only_removed,
        }
        return search_history.answer, asked | library, _show_search
    if arguments.task == "when":
        return when_documented.answer, {"text": " ".join(arguments.text)} | library, _show_when
    return page_history.answer, {"path": arguments.path} | library, _show_page


def _index(manager: CorpusManager, arguments: argparse.Namespace) -> int:
    report = manager.refresh_histories(
        only=arguments.library, force=arguments.force, progress=desk.show_progress
    )
    if arguments.json:
        desk.print_json({name: asdict(recorded) for name, recorded in report.items()})
        return 0
    for name, recorded in report.items():
        desk.write(
            f"{name}: {recorded.commits} commits ({recorded.built} read now), "
            f"{recorded.lifetimes} lifetimes, {recorded.live} of them live, "
            f"{recorded.branch} more on branches only"
        )
        if recorded.note:
            desk.write(f"  {line(recorded.note)}")
    return 0


def _show_search(body: desk.Json) -> None:
    for result in desk.objects(body["results"]):
        desk.write(f"{result['cite']} {result['path']}  ({result['library']}, {result['status']})")
        if result["breadcrumb"]:
            desk.write(f"    {result['breadcrumb']}")
        for event in ("written", "added", "removed"):
            _show_commit(event, result[event])
        text = str(result["text"]).removeprefix(OPEN).removesuffix(CLOSE)
        desk.write(f"    {line(text, _TEXT_LIMIT)}\n")
    if not body["results"]:
        desk.write("nothing found")


def _show_when(body: desk.Json) -> None:
    for result in desk.objects(body["results"]):
        desk.write(f"{result['library']}: {result['status']}")
        for where in ("main_line", "branches"):
            for mention in desk.objects(result[where]):
                check = "" if mention["confirmed"] else "  (not seen by git's pickaxe)"
                _show_commit(f"{where}: {mention['change']}", mention, check)
        if result["note"]:
            desk.write(f"    {result['note']}")


def _show_page(body: desk.Json) -> None:
    for revision in desk.objects(body["revisions"]):
        previous = f" from {revision['previous']}" if revision["previous"] else ""
        _show_commit(
            f"{revision['line']}: {revision['change']} {revision['path']}{previous}", revision
        )
    if body["note"]:
        desk.write(f"    {body['note']}")


def _show_commit(event: str, commit: object, more: str = "") -> None:
    if isinstance(commit, dict):
        short = str(commit["commit"])[:_SHORT]
        who = f"{commit['author']}: {commit['subject']}"
        desk.write(f"    {event} {commit['date']} {short} {who}{more}")
