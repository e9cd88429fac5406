"""`refdesk eval`: questions with known answers in, retrieval measures out.

A question is a line `{"id","kind","query","gold":[…]}`; any one of its gold entries counts: a
page URL, a ref, or `{"file","heading","start","end"}` (lines from 1).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from refdesk.cli import desk
from refdesk.errors import InvalidArgument, OpenError
from refdesk.manager import CorpusManager
from refdesk.manifest import Manifest
from refdesk.model import REF_SCHEME, Hit

_LOCATION: Final = re.compile(r"(.*):(\d+)-(\d+)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question:
    """One line of the question file."""

    id: str
    kind: str
    query: str
    gold: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a question got: the rank of the first gold hit, from 1; 0 when none came."""

    question: Question
    rank: int
    hits: tuple[Hit, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk eval`."""
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl", help="questions to ask")
    parser.add_argument("--k", type=int, default=5, help="hits looked at (default 5)")
    parser.add_argument("--library", default="", help="search this library only")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Ask every question and print the measures."""
    questions = load(arguments.questions)
    depth = max(5, arguments.k)
    with desk.open_desk(arguments) as manager:
        roots = _roots(manager.manifest)
        outcomes = asyncio.run(_ask(manager, questions, depth, arguments.library, roots))
    kinds = sorted({question.kind for question in questions})
    report = {
        "overall": measures(outcomes, depth),
        "kinds": {
            kind: measures([o for o in outcomes if o.question.kind == kind], depth)
            for kind in kinds
        },
        "misses": [_miss(outcome) for outcome in outcomes if not 0 < outcome.rank <= depth],
    }
    if arguments.json:
        desk.print_json(report)
    else:
        _print(report, depth)
    return 0


def load(file: Path) -> list[Question]:
    """The questions of a JSON Lines file.

    Raises:
        OpenError: the file cannot be read.
        InvalidArgument: a line is not a question; names the line.
    """
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise OpenError(f"{file} cannot be read: {error}") from None
    return [
        _question(file, number, line) for number, line in enumerate(lines, start=1) if line.strip()
    ]


def measures(outcomes: Sequence[Outcome], depth: int) -> dict[str, float | int]:
    """hit@1, hit@5 (and hit@depth), MRR and nDCG over the first `depth` hits, each 0.0-1.0.

    With one relevant page wanted, nDCG is 1 / log2(rank + 1) of the first gold hit.
    """
    ranks = [outcome.rank for outcome in outcomes]
    found = [rank for rank in ranks if 0 < rank <= depth]
    total = len(ranks)
    result: dict[str, float | int] = {"n": total}
    for k in sorted({1, 5, depth}):
        result[f"hit@{k}"] = _share(sum(rank <= k for rank in found), total)
    result["mrr"] = _share(sum(1 / rank for rank in found), total)
    result["ndcg"] = _share(sum(1 / math.log2(rank + 1) for rank in found), total)
    return result


async def _ask(
    manager: CorpusManager,
    questions: Sequence[Question],
    depth: int,
    library: str,
    roots: Mapping[str, str],
) -> list[Outcome]:
    outcomes = []
    for question in questions:
        answer = await manager.search(question.query, limit=depth, library=library)
        rank = next(
            (
                number
                for number, hit in enumerate(answer.hits, start=1)
                if any(_matches(gold, hit, roots[hit.ref.library]) for gold in question.gold)
            ),
            0,
        )
        outcomes.append(Outcome(question, rank, answer.hits))
    return outcomes


def _matches(gold: object, hit: Hit, root: str) -> bool:
    if isinstance(gold, str):
        if gold.startswith(REF_SCHEME):
            return gold == str(hit.ref)
        return bool(hit.url) and gold.rstrip("/") == hit.url.rstrip("/")
    if not isinstance(gold, dict):
        return False
    found = _LOCATION.match(hit.location)
    path = found[1] if found else hit.ref.path
    if str(gold.get("file", "")) not in {path, f"{hit.ref.library}/{path}", f"{root}/{path}"}:
        return False
    if found is None or "start" not in gold:
        return True
    first, last = int(gold["start"]), int(gold.get("end") or gold["start"])
    return int(found[2]) <= last and int(found[3]) >= first


def _roots(manifest: Manifest) -> dict[str, str]:
    """Library -> its folder relative to the corpus root, with slashes."""
    return {
        entry.name: entry.path.relative_to(manifest.root).as_posix() for entry in manifest.libraries
    }


def _question(file: Path, number: int, line: str) -> Question:
    try:
        value = json.loads(line)
        return Question(
            id=str(value.get("id", number)),
            kind=str(value.get("kind") or value.get("style") or "all"),
            query=str(value["query"]),
            gold=tuple(value["gold"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidArgument(
            f'{file}, line {number}: not a question; write {{"id","kind","query","gold":[…]}}'
        ) from None


def _miss(outcome: Outcome) -> dict[str, object]:
    question = outcome.question
    return {
        "id": question.id,
        "kind": question.kind,
        "query": question.query,
        "gold": list(question.gold),
        "got": [hit.url or hit.location or str(hit.ref) for hit in outcome.hits],
    }


def _share(part: float, total: int) -> float:
    return round(part / total, 4) if total else 0.0


def _print(report: Mapping[str, object], depth: int) -> None:
    kinds = report["kinds"]
    rows = {"all": report["overall"], **(kinds if isinstance(kinds, dict) else {})}
    columns = ["n", *(f"hit@{k}" for k in sorted({1, 5, depth})), "mrr", "ndcg"]
    desk.write(f"{'kind':<18}" + "".join(f"{name:>8}" for name in columns))
    for kind, row in rows.items():
        if isinstance(row, dict):
            desk.write(f"{kind:<18}" + "".join(f"{row[name]:>8}" for name in columns))
    misses = report["misses"]
    if not isinstance(misses, list):
        return
    for miss in misses:
        desk.write(f"\nmissed {miss['id']} ({miss['kind']}): {miss['query']}")
        desk.write(f"  wanted: {json.dumps(miss['gold'], ensure_ascii=False)}")
        for got in miss["got"]:
            desk.write(f"  got:    {got}")
