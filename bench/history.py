"""Histories of real repositories: size, time, agreement with git, questions with known answers.

    python bench/history.py [--phrases 200] [--only NAME]

Reads the folder that REFDESK_CORPORA names. Every bundle is cloned, indexed, compared with its
newest commit, asked, and given one more commit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from refdesk.adapters.history import History, Selection
from refdesk.backends import git
from refdesk.backends.git import Repository
from refdesk.manifest import LibraryEntry
from refdesk.model import Documented, Mention
from refdesk.reading import decode, read

BUNDLES = {
    "actix": "folders/actix-docs-history.bundle",
    "rust-book": "folders/rust-book-history.bundle",
    "liara-mdx": "liara/liara-docs-mdx-history.bundle",
    "liara-llms": "liara/liara-docs-llms.bundle",
}
QUESTIONS = ("folders/history-dev.jsonl", "liara/history-dev.jsonl")
OWN = {
    "actix-docs-history.bundle": "actix",
    "rust-book-history.bundle": "rust-book",
    "liara-cloud/docs": "liara-mdx",
}
"""What the questions call a bundle; those without a name are about the last one."""
PHRASE_WORDS = (5, 9)
SEED = 7


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--phrases", type=int, default=200, help="phrases to compare with git")
    parser.add_argument("--only", default="", choices=["", *BUNDLES], help="one repository")
    arguments = parser.parse_args()
    corpora = Path(os.environ.get("REFDESK_CORPORA", ""))
    if not (corpora / "folders").is_dir():
        sys.stderr.write("bench/history.py: set REFDESK_CORPORA to the folder of real data\n")
        return 2
    wanted = [arguments.only] if arguments.only else list(BUNDLES)
    questions = [line for file in QUESTIONS for line in lines(corpora / file)]
    with tempfile.TemporaryDirectory(prefix="refdesk-bench-") as scratch:
        for name in wanted:
            clone = Path(scratch) / f"{name}.git"
            run("git", "clone", "-q", "--bare", str(corpora / BUNDLES[name]), str(clone))
            measure(name, clone, Path(scratch) / "data", questions, arguments.phrases)
    return 0


def measure(
    name: str, clone: Path, data: Path, questions: Sequence[dict[str, object]], phrases: int
) -> None:
    entry = LibraryEntry(name, "markdown", clone, history=True)
    repository = git.find(clone)
    selection = Selection(entry.include, entry.exclude)
    floor, text_bytes = baseline(repository, selection)
    history = History(entry, data)
    begun = time.perf_counter()
    recorded = history.refresh()
    built = time.perf_counter() - begun
    size = sum(file.stat().st_size for file in (data / name).rglob("*.sqlite"))
    print(
        f"\n== {name}: {recorded.commits} commits, {recorded.lifetimes} lifetimes, "
        f"{recorded.branch} more on branches"
    )
    print(f"live {recorded.live}, sections of HEAD {head_sections(repository, selection)}")
    print(f"build {built:.2f} s, git and sectioning {floor:.2f} s: {built / floor:.2f} x")
    print(
        f"index {size / 1e6:.1f} MB, distinct text {text_bytes / 1e6:.1f} MB: "
        f"{size / text_bytes:.2f} x"
    )
    asked = [q for q in questions if OWN.get(str(q.get("corpus", "")), "liara-llms") == name]
    answered(history, asked)
    searched(history, asked)
    agreement(history, repository, phrases)
    update(history, clone)
    history.close()


def baseline(repository: Repository, selection: Selection) -> tuple[float, int]:
    """Seconds that git and one sectioning of each version take; bytes of distinct sections."""
    begun = time.perf_counter()
    tips = list(repository.tips().values())
    wanted: dict[str, str] = {}
    for commit in repository.all_lines(tips, [], exact=False):
        for change in commit.changes:
            if selection.holds(change.path) and git.selected_blob(change.new):
                wanted.setdefault(change.new, change.path)
    versions = list(repository.blobs(wanted))
    seconds = time.perf_counter() - begun
    distinct: set[str] = set()
    for oid, data in versions:
        begun = time.perf_counter()
        text = decode(data or b"")
        parts = read(wanted[oid], text).parts if text else ()
        seconds += time.perf_counter() - begun
        rows = text.split("\n") if text else []
        distinct |= {" ".join("\n".join(rows[p.start - 1 : p.end]).split()) for p in parts}
    return seconds, sum(len(text.encode()) for text in distinct)


def head_sections(repository: Repository, selection: Selection) -> int:
    pages = [(p, oid) for p, oid in repository.files(repository.head()) if selection.holds(p)]
    data = dict(repository.blobs(oid for _, oid in pages))
    texts = [(path, decode(data[oid] or b"")) for path, oid in pages]
    return sum(len(read(path, text).parts) for path, text in texts if text)


def answered(history: History, questions: Sequence[dict[str, object]]) -> None:
    """Facts whose commits, or days where ids differ, are among the mentions."""
    right = 0
    for question in questions:
        phrase = str(question["phrase"])
        if not phrase:
            files = question["files"]
            assert isinstance(files, list)
            revisions = history.page(str(files[0])).revisions
            right += question["commit"] in {revision.commit.id for revision in revisions}
            continue
        found = history.documented(phrase)
        if "commit" in question:
            right += question["commit"] in {one.commit.id for one in mentions(found)}
            continue
        ids = {(m.change, m.commit.id) for m in mentions(found)}
        days = {(m.change, m.commit.date) for m in mentions(found)}
        pairs = [[question[key], question[f"{key}_first_parent"]] for key in ("added", "removed")]
        right += all(
            any(
                isinstance(fact, dict)
                and (
                    (change, fact["commit"]) in ids
                    or ("liara" in str(question["corpus"]) and (change, fact["date"]) in days)
                )
                for fact in facts
            )
            for change, facts in zip(("wrote", "removed"), pairs, strict=True)
        )
    print(f"facts answered {right} of {len(questions)}")


def searched(history: History, questions: Sequence[dict[str, object]]) -> None:
    times = []
    for question in list(questions) * 5:
        begun = time.perf_counter()
        history.search(str(question["query"]), 5)
        times.append((time.perf_counter() - begun) * 1000)
    if times:
        print(f"search p50 {statistics.median(times):.1f} ms, max {max(times):.1f} ms")


def agreement(history: History, repository: Repository, count: int) -> None:
    """Random phrases of all lifetimes: the main line's events beside `git log -S`."""
    chosen = phrases(history, count)
    verdicts: Counter[str] = Counter()
    times = []
    for phrase in chosen:
        begun = time.perf_counter()
        found = history.documented(phrase)
        times.append((time.perf_counter() - begun) * 1000)
        ours = {one.commit.id for one in found.main_line}
        verdicts[verdict(phrase, ours, found, repository)] += 1
    print(f"when_documented p50 {statistics.median(times):.1f} ms; {len(chosen)} phrases:")
    for what, number in verdicts.most_common():
        print(f"  {number:4} {what}")


def verdict(phrase: str, ours: set[str], found: Documented, repository: Repository) -> str:
    theirs = pickaxe(repository, phrase, "--no-renames")
    if ours == theirs:
        return "agree"
    if ours == pickaxe(repository, phrase, "-M"):
        return "agree, renames followed"
    words = "[[:space:]]+".join(git._SPECIAL.sub(r"\\\g<0>", word) for word in phrase.split())
    wrapped = pickaxe(repository, words, "--no-renames", "--pickaxe-regex")
    if ours == wrapped or ours == pickaxe(repository, words, "-M", "--pickaxe-regex"):
        return "re-wrapped: git counts line breaks"
    if ours < wrapped:
        return "moved: a section went to another page, or the page was renamed"
    if len(found.main_line) >= 40:
        return "more mentions than are listed"
    return f"differ: {phrase!r} ours only {ours - wrapped}, git only {wrapped - ours}"


def pickaxe(repository: Repository, phrase: str, *options: str) -> set[str]:
    command = ["git", f"--git-dir={repository.git_dir}", "log", "--first-parent", "-m", "-s"]
    return set(run(*command, "--format=%H", *options, f"-S{phrase}", "HEAD").split())


def phrases(history: History, count: int) -> list[str]:
    """Runs of words from texts drawn at random, live and gone."""
    store = history._store()
    draw = random.Random(SEED)
    numbers = list(
        {
            life.text
            for life in store.lives_of(range(1, history.recorded.texts + 1))
            if not life.branch
        }
    )
    draw.shuffle(numbers)
    found: list[str] = []
    for number in sorted(numbers[: count * 3], key=lambda _: draw.random()):
        rows = [
            row for row in store.text(number).split("\n") if len(row.split()) >= PHRASE_WORDS[1]
        ]
        if rows and len(found) < count:
            words = draw.choice(rows).split()
            start = draw.randrange(len(words) - PHRASE_WORDS[0])
            found.append(" ".join(words[start : start + draw.randint(*PHRASE_WORDS)]))
    return found


def update(history: History, clone: Path) -> None:
    """One more commit on the main line."""
    head = history.repository.head()
    path, oid = next(
        (p, o) for p, o in history.repository.files(head) if p.endswith((".md", ".mdx"))
    )
    text = dict(history.repository.blobs([oid]))[oid] or b""
    plumbing = ("git", f"--git-dir={clone}", "-c", "user.name=b", "-c", "user.email=b@b.invalid")
    blob = run(*plumbing, "hash-object", "-w", "--stdin", given=text + b"\nOne more line.\n")
    index = {"GIT_INDEX_FILE": str(clone / "bench-index")}
    run(*plumbing, "read-tree", head, more=index)
    run(*plumbing, "update-index", "--cacheinfo", f"100644,{blob},{path}", more=index)
    tree = run(*plumbing, "write-tree", more=index)
    commit = run(*plumbing, "commit-tree", tree, "-p", head, "-m", "one more")
    run(*plumbing, "update-ref", "HEAD", commit)
    begun = time.perf_counter()
    recorded = history.refresh()
    print(f"update after {recorded.built} commit {time.perf_counter() - begun:.2f} s")


def mentions(found: Documented) -> list[Mention]:
    return [*found.main_line, *found.branches]


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def run(*command: str, given: bytes = b"", more: dict[str, str] | None = None) -> str:
    environment = {**os.environ, **(more or {})}
    done = subprocess.run(command, input=given, env=environment, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace").strip()


if __name__ == "__main__":
    raise SystemExit(main())
