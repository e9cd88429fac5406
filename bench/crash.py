"""Kill the indexer at random moments and count what that breaks: nothing should.

    python bench/crash.py [--rounds 50]

Indexes the ten folder sets of REFDESK_CORPORA, then, in every round: changes, adds and removes
pages, starts `refdesk index`, kills it with SIGKILL, and looks at what is left. An index is
unusable when it cannot be opened or answers no longer; a document is lost when it is not in the
index after the next run.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from refdesk.adapters.indexing import scan
from refdesk.adapters.markdown import MarkdownLibrary
from refdesk.manifest import LibraryEntry


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    corpora = Path(os.environ.get("REFDESK_CORPORA", ""))
    if not (corpora / "folders").is_dir():
        sys.stderr.write("bench/crash.py: set REFDESK_CORPORA to the folder of real data\n")
        return 2
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="refdesk-crash-") as scratch:
        work = Path(scratch)
        root = work / "corpus"
        root.mkdir()
        for archive in sorted((corpora / "folders").glob("*.tar.xz")):
            with tarfile.open(archive) as tar:
                tar.extractall(root, filter="tar")
        (work / "corpus.toml").write_text(
            'version = 1\n[[library]]\nname = "All"\nadapter = "markdown"\npath = "."\n',
            encoding="utf-8",
        )
        started = time.perf_counter()
        index(work, None)
        whole = time.perf_counter() - started
        killed = unusable = lost = 0
        for number in range(arguments.rounds):
            change(root, chance, number)
            full = number % 5 == 0
            killed += index(work, chance.uniform(0.1, whole if full else 0.9), force=full)
            unusable += not usable(work)
            index(work, None)
            lost += missing(work)
        print(
            f"{arguments.rounds} rounds, {killed} killed before they were done: "
            f"{unusable} unusable indexes, {lost} lost documents"
        )
    return int(bool(unusable or lost))


def change(root: Path, chance: random.Random, number: int) -> None:
    """Edit fifteen pages, add two, remove one."""
    pages = sorted(path for path in root.rglob("*.md") if path.stat().st_size)
    for page in chance.sample(pages, 15):
        with page.open("a", encoding="utf-8") as stream:
            stream.write(f"\nround {number}\n")
    for extra in range(2):
        (root / f"added-{number}-{extra}.md").write_text(f"# Added {number}\n", encoding="utf-8")
    chance.choice(pages).unlink()


def index(work: Path, kill_after: float | None, *, force: bool = False) -> bool:
    """Run the indexer; whether it was killed before it was done."""
    command = [sys.executable, "-m", "refdesk", "index", "--json", *(["--force"] if force else [])]
    with subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL) as indexer:
        try:
            status = indexer.wait(kill_after)
        except subprocess.TimeoutExpired:
            indexer.kill()
            return True
    if status:
        raise SystemExit(f"refdesk index failed with exit code {status}")
    return False


def library(work: Path) -> MarkdownLibrary:
    return MarkdownLibrary(LibraryEntry("All", "markdown", work / "corpus"), work / "data")


def usable(work: Path) -> bool:
    opened = library(work)
    try:
        return opened.library.documents > 2000 and bool(opened.search("middleware", 5).hits)
    finally:
        opened.close()


def missing(work: Path) -> int:
    """How many files of the folder are not in the index as they are now."""
    opened = library(work)
    try:
        wanted = set(scan(opened.folder).files)
        held = {entry.path for entry in opened.documents("", "", len(wanted) + 1000)}
        return len(wanted ^ held) + opened.refresh().updated
    finally:
        opened.close()


if __name__ == "__main__":
    raise SystemExit(main())
