"""How good the word search is: tables per kind of question, with what they were chosen by.

    python bench/quality.py [--only liara,folders] [--quick]

Reads the folder that REFDESK_CORPORA names. The Liara questions are about pages, those of the ten
folders about sections, at most two of a page. The folders are ten libraries whose answers are
merged by score, as the server does. Nothing dense takes part.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, quantiles

from baseline import Baseline
from index import unpack
from refdesk.adapters.preparing import Prepared, prepare
from refdesk.backends import files
from refdesk.backends.lexical import LexicalReader, LexicalWriter
from refdesk.manifest import DEFAULT_INCLUDE
from refdesk.model import Scored
from refdesk.ranking.plan import DEFAULT, Weights, plan

DEPTH = 60
PER_PAGE = 2
SPLITS = 200
PAGE_URL = "https://docs.liara.ir/{}/"

SWEEP: dict[str, Sequence[float]] = {
    "head": (1.0, 2.0, 4.0, 5.0),
    "slug": (1.0, 2.0, 3.0, 4.0),
    "synonym": (0.2, 0.3, 0.5, 0.7),
    "bridge": (0.4, 0.8, 1.0),
    "correction": (0.5, 0.9),
    "part": (0.6, 1.0),
    "filler": (0.03, 0.2, 0.3),
    "verb": (0.1, 0.6, 1.0),
    "pair": (0.0, 0.25, 1.0),
    "gram": (0.0, 0.6),
}
"""Values tried in place of the default, one at a time."""

UNANSWERABLE = {
    "liara": """
طرز تهیه قورمه سبزی با گوشت گوسفندی
نتیجه بازی پرسپولیس و استقلال دیشب
قیمت طلا و سکه امروز
چگونه گیتار کلاسیک یاد بگیرم
رزرو بلیط هواپیما تهران مشهد
نحوه تعویض روغن گیربکس پژو
حکم شرعی روزه مسافر
how to knit a wool sweater for beginners
best hiking trails in the swiss alps
symptoms of vitamin d deficiency in children
quantum entanglement bell inequality proof
oracle database rac installation on aix
how do I cancel my netflix subscription
train a transformer from scratch on tpu pods
cobol mainframe jcl job scheduling
""",
    "folders": """
how to bake sourdough bread without yeast
kubernetes pod eviction taints tolerations
swift ui navigation stack deep links
mortgage refinance interest rates 2026
sap abap internal table loop
photosynthesis light dependent reactions
terraform aws vpc peering module
who won the world cup in 1998
erlang otp supervisor restart strategy
excel vlookup across worksheets
install windows printer driver
chess opening sicilian defence najdorf
perl cpan module installation
unreal engine blueprint actor spawn
طرز تهیه قورمه سبزی
""",
}
"""Questions that neither corpus can answer, some of them in its own words."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and the pages or (file, first line, last line) that answer it."""

    kind: str
    query: str
    pages: frozenset[str]
    places: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands; lines of its section, from 1."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """Open libraries whose answers are merged by score."""

    name: str
    root: Path
    readers: tuple[LexicalReader, ...]
    places: tuple[Place, ...]
    headings: tuple[str, ...]
    questions: tuple[Question, ...]

    def search(self, query: str, weights: Weights, *, synonyms: bool = True) -> list[Scored]:
        found = [
            hit
            for reader in self.readers
            for hit in reader.search(plan(query, reader, synonyms=synonyms, weights=weights), DEPTH)
        ]
        return sorted(found, key=lambda hit: -hit.score)

    def rank(self, question: Question, weights: Weights, *, synonyms: bool = True) -> int:
        hits = self.search(question.query, weights, synonyms=synonyms)
        return first_gold(question, [self.places[hit.passage] for hit in hits])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="liara,folders", help="question sets to run")
    parser.add_argument("--quick", action="store_true", help="the tables, no sweep")
    arguments = parser.parse_args()
    corpora = Path(os.environ.get("REFDESK_CORPORA", ""))
    if not (corpora / "folders").is_dir():
        sys.stderr.write("bench/quality.py: set REFDESK_CORPORA to the folder of real data\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="refdesk-quality-") as scratch:
        work = Path(scratch)
        sets, liara = unpack(corpora, work)
        for name in arguments.only.split(","):
            root = liara if name == "liara" else sets
            shelf = open_shelf(name, root, work, questions(corpora / name / "questions-dev.jsonl"))
            tables(shelf, work)
            unanswerable(shelf)
            slips(shelf)
            if not arguments.quick:
                sweep(shelf)
    return 0


# -- the corpora --


def questions(file: Path) -> tuple[Question, ...]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    return tuple(
        Question(
            kind=row.get("kind") or row["style"],
            query=row["query"],
            pages=frozenset(gold for gold in row["gold"] if isinstance(gold, str)),
            places=tuple(
                (gold["file"], gold["start"], gold["end"])
                for gold in row["gold"]
                if not isinstance(gold, str)
            ),
        )
        for row in rows
    )


def open_shelf(name: str, root: Path, work: Path, asked: tuple[Question, ...]) -> Shelf:
    """Index `root`: as one library, or one for each folder in it."""
    libraries = [root] if name == "liara" else sorted(path for path in root.iterdir())
    places: list[Place] = []
    headings: list[str] = []
    readers = []
    start = time.process_time()
    for library in libraries:
        folder = work / f"index-{name}-{library.name}"
        folder.mkdir()
        writer = LexicalWriter(folder)
        prefix = "" if name == "liara" else library.name + "/"
        for number, page in enumerate(prepared(library)):
            for row, fields in zip(page.passages, page.fields, strict=True):
                section = page.sections[row.section]
                writer.add(len(places), number, fields)
                places.append(Place(prefix + page.path, section.start, section.end))
                headings.append(section.title)
        writer.commit()
        writer.close()
        readers.append(LexicalReader(folder))
    print(
        f"\n# {name}: {len(places)} passages, {len(libraries)} libraries, "
        f"read and indexed in {time.process_time() - start:.1f} s of CPU"
    )
    return Shelf(name, root, tuple(readers), tuple(places), tuple(headings), asked)


def prepared(library: Path) -> Iterator[Prepared]:
    for path in files.walk(library, DEFAULT_INCLUDE, ()).files:
        page = prepare(library, path)
        if isinstance(page, Prepared):
            yield page


def first_gold(question: Question, places: Sequence[Place]) -> int:
    """Rank from 1 of the first answer, 0 if there is none; pages and sections count once."""
    seen: dict[str, set[int]] = {}
    rank = 0
    for place in places:
        starts = seen.setdefault(place.path, set())
        if place.start in starts or len(starts) >= (1 if question.pages else PER_PAGE):
            continue
        starts.add(place.start)
        rank += 1
        if question.pages and PAGE_URL.format(place.path.removesuffix(".md")) in question.pages:
            return rank
        if any(
            place.path == file and place.start <= last and place.end >= first
            for file, first, last in question.places
        ):
            return rank
    return 0


# -- the tables --


def tables(shelf: Shelf, work: Path) -> None:
    baseline = Baseline(work / f"fts5-{shelf.name}.db")
    baseline.index(shelf.root, list(files.walk(shelf.root, DEFAULT_INCLUDE, ()).files))

    def plain(question: Question) -> int:
        rows = baseline.search(question.query, DEPTH)
        return first_gold(question, [Place(row.path, row.start, row.end) for row in rows])

    runs: list[tuple[str, Callable[[Question], int]]] = [
        ("SQLite FTS5, headings x 10, AND then OR", plain),
        ("refdesk without synonyms", lambda q: shelf.rank(q, DEFAULT, synonyms=False)),
        ("refdesk", lambda q: shelf.rank(q, DEFAULT)),
    ]
    for title, run in runs:
        run(shelf.questions[0])
        times: list[float] = []
        ranks = [timed(run, question, times) for question in shelf.questions]
        cuts = quantiles(times, n=100)
        print(f"\n## {title}: p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms per question")
        print(f"{'kind':18}{'n':>4}{'hit@1':>7}{'hit@5':>7}{'MRR':>7}{'nDCG':>7}")
        kinds: dict[str, list[int]] = {}
        for question, rank in zip(shelf.questions, ranks, strict=True):
            kinds.setdefault(question.kind, []).append(rank)
        for kind, part in (*kinds.items(), ("all", ranks)):
            print(
                f"{kind:18}{len(part):4}{hits(part, 1):7}{hits(part, 5):7}{mrr(part):7.3f}"
                f"{mean(1 / math.log2(1 + rank) if rank else 0.0 for rank in part):7.3f}"
            )


def timed(run: Callable[[Question], int], question: Question, times: list[float]) -> int:
    start = time.perf_counter()
    rank = run(question)
    times.append((time.perf_counter() - start) * 1e3)
    return rank


def hits(ranks: Sequence[int], depth: int) -> int:
    return sum(1 <= rank <= depth for rank in ranks)


def mrr(ranks: Sequence[int]) -> float:
    return mean(1 / rank if rank else 0.0 for rank in ranks)


def unanswerable(shelf: Shelf) -> None:
    """What a question gets that has no answer, beside the weakest that has one."""
    asked = [query for query in UNANSWERABLE[shelf.name].split("\n") if query]
    best = [next(iter(shelf.search(query, DEFAULT)), None) for query in asked]
    real = [next(iter(shelf.search(q.query, DEFAULT)), None) for q in shelf.questions]
    print("\n## Coverage of the best hit, lowest first (- is an empty answer)")
    for title, found in (("unanswerable", best), ("answerable", real)):
        covered = sorted(hit.coverage if hit else -1.0 for hit in found)
        shown = " ".join("-" if value < 0 else f"{value:.2f}" for value in covered[:20])
        print(f"{title:14}{shown}")


def slips(shelf: Shelf) -> None:
    """Headings with slips of the pen: is a passage under the same heading found?"""
    print("\n## 200 headings asked for with slips: share with the heading in the first 5 passages")
    for title, count in (("as they are", 0), ("one slip", 1), ("two in one word", 2)):
        rng = random.Random(7)
        known = [number for number, text in enumerate(shelf.headings) if len(text.split()) >= 3]
        good = 0
        for number in rng.sample(known, 200):
            words = shelf.headings[number].split()
            longest = max(range(len(words)), key=lambda at: len(words[at]))
            for _ in range(count):
                words[longest] = slipped(words[longest], rng)
            found = shelf.search(" ".join(words), DEFAULT)[:5]
            good += any(shelf.headings[h.passage] == shelf.headings[number] for h in found)
        print(f"{title:18}{good / 200:.3f}")


def slipped(word: str, rng: random.Random) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz" if word.isascii() else "ابپتجخدرزسشفکگلمنوهی"
    at = rng.randrange(len(word))
    made = (
        word[:at] + word[at + 1 :],
        word[:at] + rng.choice(letters) + word[at:],
        word[:at] + rng.choice(letters) + word[at + 1 :],
        word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :],
    )
    return rng.choice(made)


# -- how the weights were chosen --


def sweep(shelf: Shelf) -> None:
    """Each weight varied alone; then: does what suits one half of the questions suit the rest?"""
    print("\n## Weights, one changed at a time")
    configurations = [("default", DEFAULT)] + [
        (f"{name} = {value}", replace(DEFAULT, **{name: value}))
        for name, values in SWEEP.items()
        for value in values
    ]
    ranks = {}
    for title, weights in configurations:
        ranks[title] = found = [shelf.rank(question, weights) for question in shelf.questions]
        print(f"{title:20}{hits(found, 1):5}{hits(found, 5):5}{mrr(found):7.3f}")
    rng = random.Random(11)
    order = list(range(len(shelf.questions)))
    chosen, default = [], []
    for _ in range(SPLITS):
        rng.shuffle(order)
        half, other = order[: len(order) // 2], order[len(order) // 2 :]
        title = max(ranks, key=lambda title: mrr([ranks[title][at] for at in half]))
        chosen.append(mrr([ranks[title][at] for at in other]))
        default.append(mrr([ranks["default"][at] for at in other]))
    print(
        f"\n{SPLITS} split halves: MRR on the half not looked at, "
        f"defaults {mean(default):.3f}, best of the other half {mean(chosen):.3f}"
    )


if __name__ == "__main__":
    sys.exit(main())
