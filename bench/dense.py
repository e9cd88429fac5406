"""What the dense leg adds on the Liara questions, by weight, and what it costs.

    python bench/dense.py [--data FOLDER]

Reads the folder that REFDESK_CORPORA names; the model is the one that the settings choose (the
extra `refdesk[dense]`, or an endpoint). Vectors are computed unless FOLDER holds them from an
earlier run; without FOLDER they are thrown away.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, quantiles

from refdesk.adapters import dense
from refdesk.adapters.liara import LiaraLibrary
from refdesk.backends import generations
from refdesk.backends.catalog import Catalog, Page
from refdesk.backends.lexical import LexicalReader
from refdesk.manifest import LibraryEntry
from refdesk.model import Scored
from refdesk.ranking.dense import blend, fuse
from refdesk.ranking.plan import plan
from refdesk.settings import Settings

WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0)
MEANING_ALONE = 1000.0
LOOKED_AT = 100
SPLITS = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what either side says to it, page by page."""

    kind: str
    gold: frozenset[str]
    words: Mapping[str, float]
    meaning: Mapping[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="keep index and vectors here")
    arguments = parser.parse_args()
    corpora = Path(os.environ.get("REFDESK_CORPORA", ""))
    if not (corpora / "liara").is_dir():
        sys.stderr.write("bench/dense.py: set REFDESK_CORPORA to the folder of real data\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="refdesk-dense-") as scratch:
        run(corpora / "liara", Path(scratch), arguments.data or Path(scratch) / "data")
    return 0


def run(corpus: Path, work: Path, data: Path) -> None:
    bundle = corpus / "liara-docs-llms.bundle"
    subprocess.run(["git", "clone", "-q", str(bundle), str(work / "liara")], check=True)
    library = LiaraLibrary(LibraryEntry("Liara", "liara", work / "liara"), data)
    library.refresh()
    folder = generations.current(data.absolute() / "Liara")
    assert folder is not None
    catalog, lexical = Catalog(folder), LexicalReader(folder / "lexical")
    encoder = dense.open_encoder(Settings.load(embed_timeout=60, search_timeout=120))
    leg = dense.Leg(data.absolute() / "Liara", encoder)
    try:
        print(f"{catalog.documents} pages")
        for title in ("vectors computed or read", "nothing changed"):
            start, cpu = time.perf_counter(), time.process_time()
            leg.refresh(pages(catalog))
            if not leg.finish():
                raise SystemExit(f"no vectors: {leg.state.reason}")
            seconds, spent = time.perf_counter() - start, time.process_time() - cpu
            print(f"{title}: {seconds:.1f} s, {spent:.1f} s of CPU")
        asked = list(ask(corpus / "questions-dev.jsonl", catalog, lexical, leg))
        report(asked)
        halves(asked)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"\nresident at most {peak:.0f} MB")
    finally:
        leg.close()
        encoder.close()
        library.close()


def pages(catalog: Catalog) -> Iterator[Page]:
    for path in catalog.paths():
        page = catalog.page(path)
        if page is not None:
            yield page


def ask(file: Path, catalog: Catalog, lexical: LexicalReader, leg: dense.Leg) -> Iterator[Asked]:
    urls = {page.path: page.url.rstrip("/") for page in pages(catalog)}
    documents = {path: document for path, (document, _) in catalog.sources().items()}
    times = []
    leg.scores("the first query loads the model")
    for line in file.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        row = json.loads(line)
        start = time.perf_counter()
        scored = lexical.search(plan(row["query"], lexical), LOOKED_AT)
        meaning = leg.scores(row["query"])
        near = {documents[path]: share for path, share in meaning.items()}
        blend(scored, near, {}, 10)
        times.append((time.perf_counter() - start) * 1e3)
        words = by_page(scored, {document: path for path, document in documents.items()})
        yield Asked(
            kind=row["kind"],
            gold=frozenset(url.rstrip("/") for url in row["gold"]),
            words={urls[path]: score for path, score in words.items()},
            meaning={urls[path]: share for path, share in meaning.items()},
        )
    cuts = quantiles(times, n=100)
    print(f"hybrid query: p50 {median(times):.1f} ms, p95 {cuts[94]:.1f} ms, p99 {cuts[98]:.1f} ms")


def by_page(scored: Sequence[Scored], paths: Mapping[int, str]) -> dict[str, float]:
    best: dict[str, float] = {}
    for one in scored:
        path = paths[one.document]
        best[path] = max(best.get(path, 0.0), one.score)
    return best


def rank(asked: Asked, weight: float) -> int:
    """Rank of the first right page among five, from 1; 0 if there is none."""
    found = list(fuse(asked.words, asked.meaning, weight))[:5]
    return next((n for n, url in enumerate(found, start=1) if url in asked.gold), 0)


def mrr(ranks: Sequence[int]) -> float:
    return mean(1 / one if one else 0.0 for one in ranks)


def report(asked: Sequence[Asked]) -> None:
    kinds = sorted({one.kind for one in asked})
    print(f"\n{'weight':>8}{'hit@1':>7}{'hit@5':>7}{'MRR':>7}  " + "  ".join(kinds))
    for weight in (*WEIGHTS, MEANING_ALONE):
        ranks = [rank(one, weight) for one in asked]
        found = Counter(one.kind for r, one in zip(ranks, asked, strict=True) if r > 0)
        parts = [f"{found[kind]:{len(kind)}}" for kind in kinds]
        name = "meaning" if weight == MEANING_ALONE else f"{weight:.2f}"
        print(
            f"{name:>8}{sum(r == 1 for r in ranks):7}{sum(r > 0 for r in ranks):7}"
            f"{mrr(ranks):7.3f}  " + "  ".join(parts)
        )


def halves(asked: Sequence[Asked]) -> None:
    """Does the weight that suits one half of the questions suit the other?"""
    table = {weight: [rank(one, weight) for one in asked] for weight in WEIGHTS}
    rng = random.Random(1)
    chosen: Counter[float] = Counter()
    unseen: list[float] = []
    hits: list[float] = []
    for _ in range(SPLITS):
        numbers = rng.sample(range(len(asked)), len(asked))
        half, rest = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
        best = max(WEIGHTS, key=lambda weight: mrr([table[weight][n] for n in half]))
        chosen[best] += 1
        unseen.append(mrr([table[best][n] for n in rest]))
        hits.append(mean(table[best][n] > 0 for n in rest))
    print(f"\nweight chosen on one half, the other: MRR {mean(unseen):.3f}, hit@5 {mean(hits):.3f}")
    print("chosen: " + ", ".join(f"{w:.2f} {n} times" for w, n in chosen.most_common()))


if __name__ == "__main__":
    raise SystemExit(main())
