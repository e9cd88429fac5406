"""Index and query cost, beside a plain SQLite FTS5 index of the same files, in one run.

    python bench/index.py [--scales 4000,36000,300000]

Reads the folder that REFDESK_CORPORA names. The two large scales repeat real pages: they tell
what a search costs, not how good it is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from baseline import Baseline
from refdesk.adapters.indexing import Folder, update
from refdesk.adapters.markdown import MarkdownLibrary
from refdesk.backends import files
from refdesk.manifest import DEFAULT_INCLUDE, LibraryEntry

LIMIT = 10
T = TypeVar("T")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scales", default="4000,36000,300000", help="sections to search among")
    arguments = parser.parse_args()
    corpora = Path(os.environ.get("REFDESK_CORPORA", ""))
    if not (corpora / "folders").is_dir():
        sys.stderr.write("bench/index.py: set REFDESK_CORPORA to the folder of real data\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="refdesk-bench-") as scratch:
        work = Path(scratch)
        sets, liara = unpack(corpora, work)
        building(work, sets)
        memory(work, sets, liara)
        queries = questions(corpora)
        for scale in map(int, arguments.scales.split(",")):
            searching(work, sets, liara, queries, scale)
    return 0


def unpack(corpora: Path, work: Path) -> tuple[Path, Path]:
    """The ten folder sets, and the Liara pages."""
    sets = work / "sets"
    sets.mkdir()
    for archive in sorted((corpora / "folders").glob("*.tar.xz")):
        with tarfile.open(archive) as tar:
            tar.extractall(sets, filter="data" if "asciidoctor" not in archive.name else "tar")
    bundle = corpora / "liara" / "liara-docs-llms.bundle"
    subprocess.run(["git", "clone", "-q", str(bundle), str(work / "liara")], check=True)
    return sets, work / "liara" / "public" / "llms"


def building(work: Path, root: Path) -> None:
    """Time to build, to find nothing to do, and to take in one changed file."""
    paths = list(files.walk(root, DEFAULT_INCLUDE, ()).files)
    size = sum((root / path).stat().st_size for path in paths)
    print(f"\n## Building: {len(paths)} files, {size / 1e6:.1f} MB, {os.cpu_count()} cores")
    folder = folder_of(work, root, "sets")
    base_seconds, base_sections = timed(lambda: Baseline(work / "fts5.db").index(root, paths))
    seconds, _ = timed(lambda: update(folder))
    time.sleep(2.1)  # past the two seconds in which a time stamp proves nothing
    update(folder, force=True)
    idle, _ = timed(lambda: update(folder))
    page = root / paths[len(paths) // 2]
    page.write_text(page.read_text(encoding="utf-8") + "\nzyzzyva\n", encoding="utf-8")
    one, _ = timed(lambda: update(folder))
    library = MarkdownLibrary(entry_of(root, "sets"), work / "data")
    opened, reopened = timed(lambda: MarkdownLibrary(entry_of(root, "sets"), work / "data"))
    index_size = sum(p.stat().st_size for p in folder.home.rglob("*") if p.is_file()) / 2
    row("", "FTS5 baseline", "refdesk", "ratio")
    row("full build, s", base_seconds, seconds, seconds / base_seconds)
    row("sections", base_sections, library.library.sections, "")
    row("index size, MB", (work / "fts5.db").stat().st_size / 1e6, index_size / 1e6, "")
    row("nothing changed, s", "", idle, "")
    row("one file changed, s", "", one, "")
    row("open, s", "", opened, "")
    assert library.search("zyzzyva", 5).hits
    reopened.close()
    library.close()


def memory(work: Path, sets: Path, liara: Path) -> None:
    """Resident memory of a process that has the ten sets and Liara open and has searched them."""
    update(folder_of(work, liara, "liara"))
    script = (
        "import sys, json\n"
        "from pathlib import Path\n"
        "from refdesk.adapters.markdown import MarkdownLibrary\n"
        "from refdesk.manifest import LibraryEntry\n"
        "data, *roots = map(Path, sys.argv[1:])\n"
        "import refdesk.server.app\n"
        "open_ = [MarkdownLibrary(LibraryEntry(n, 'markdown', r), data)"
        " for n, r in zip(('sets', 'liara'), roots)]\n"
        "for library in open_:\n"
        "    for query in ('deploy', 'استقرار برنامه', 'middleware configuration'):\n"
        "        library.search(query, 10)\n"
        "status = Path('/proc/self/status').read_text(encoding='utf-8')\n"
        "print(next(l for l in status.split('\\n') if l.startswith('VmRSS')).split()[1])\n"
    )
    command = [sys.executable, "-c", script, str(work / "data"), str(sets), str(liara)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(f"\nRSS, both libraries open and the server imported: {int(output) / 1024:.0f} MB")


def searching(work: Path, sets: Path, liara: Path, queries: Sequence[str], scale: int) -> None:
    """Latency of a search among `scale` sections, both engines."""
    root = work / f"scale-{scale}"
    repeat(liara, root / "liara", 1)
    folder = folder_of(work, root, root.name)
    update(folder)
    library = MarkdownLibrary(entry_of(root, root.name), work / "data")
    copies = 0
    while library.library.sections < scale * 0.9:
        per_copy = 15_000
        wanted = max(1, round((scale - library.library.sections) / per_copy))
        for _ in range(wanted):
            repeat(sets, root / f"copy-{copies}", 1)
            copies += 1
        library.refresh()
    paths = list(files.walk(root, DEFAULT_INCLUDE, ()).files)
    baseline = Baseline(work / f"{root.name}.db")
    baseline.index(root, paths)
    print(f"\n## Searching {library.library.sections} sections, {len(queries)} questions")
    row("milliseconds", "FTS5 baseline", "refdesk", "ratio")
    theirs = latencies(queries, lambda query: baseline.search(query, LIMIT))
    ours = latencies(queries, lambda query: library.search(query, LIMIT))
    for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
        one, other = (quantile(values, share) for values in (theirs, ours))
        row(name, one, other, other / one)
    library.close()
    shutil.rmtree(root)


def latencies(queries: Sequence[str], search: Callable[[str], object]) -> list[float]:
    """Milliseconds of each query, the second time it is asked."""
    for query in queries:
        search(query)
    return [timed(partial(search, query))[0] * 1000 for query in queries]


def questions(corpora: Path) -> list[str]:
    found = []
    for name in ("folders", "liara"):
        text = (corpora / name / "questions-dev.jsonl").read_text(encoding="utf-8")
        found += [json.loads(line)["query"] for line in text.split("\n") if line]
    return found


def repeat(source: Path, target: Path, times: int) -> None:
    for number in range(times):
        shutil.copytree(
            source, target / str(number), symlinks=True, ignore=shutil.ignore_patterns(".git")
        )


def folder_of(work: Path, root: Path, name: str) -> Folder:
    return Folder(name, "markdown", root, DEFAULT_INCLUDE, (), work / "data" / name)


def entry_of(root: Path, name: str) -> LibraryEntry:
    return LibraryEntry(name, "markdown", root)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def row(name: str, *values: object) -> None:
    cells = (f"{value:.3f}" if isinstance(value, float) else str(value) for value in values)
    print(f"{name:<24}" + "".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    raise SystemExit(main())
