"""`refdesk history` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refdesk.cli.main import main
from timelines import Docs

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Docs:
    """A corpus of one repository, made the current folder."""
    made = Docs(tmp_path / "corpus" / "docs")
    made.commit({"a.md": "# A\n\nThe kettle sings at noon.\n"}, "write")
    made.commit({"a.md": "# A\n\nIt is silent.\n"}, "cut")
    (tmp_path / "corpus.toml").write_text(
        'version = 1\n[[library]]\nname = "Docs"\nadapter = "markdown"\npath = "docs"\n'
        "history = true\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return made


def report(capsys: Capture, *words: str) -> Any:
    assert main(["history", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_index_counts_and_reads_only_what_is_new(docs: Docs, capsys: Capture) -> None:
    assert report(capsys, "index")["Docs"] == {
        "commits": 2,
        "texts": 2,
        "lifetimes": 2,
        "live": 1,
        "branch": 0,
        "built": 2,
        "note": "",
    }
    assert report(capsys, "index")["Docs"]["built"] == 0
    assert report(capsys, "index", "--force")["Docs"]["built"] == 2
    assert main(["history", "index"]) == 0
    assert "1 of them live" in capsys.readouterr().out


def test_search_finds_what_is_gone(docs: Docs, capsys: Capture) -> None:
    [life] = report(capsys, "search", "kettle", "--only-removed")["results"]
    assert (life["status"], life["removed"]["subject"]) == ("removed", "cut")
    assert main(["history", "search", "kettle"]) == 0
    printed = capsys.readouterr().out
    assert "The kettle sings" in printed
    assert "removed 2023-11-16" in printed
    assert main(["history", "search", "zebra"]) == 1


def test_when_names_the_commits(docs: Docs, capsys: Capture) -> None:
    [result] = report(capsys, "when", "kettle", "sings")["results"]
    assert [one["change"] for one in result["main_line"]] == ["removed", "wrote"]
    assert main(["history", "when", "kettle sings"]) == 0
    assert "main_line: wrote 2023-11-15" in capsys.readouterr().out
    assert main(["history", "when", "never said"]) == 1


def test_page_lists_revisions(docs: Docs, capsys: Capture) -> None:
    assert len(report(capsys, "page", "a.md")["revisions"]) == 2
    assert main(["history", "page", "a.md"]) == 0
    assert "main: added a.md 2023-11-15" in capsys.readouterr().out
    assert main(["history", "page", "zzz.md"]) == 1
    assert "no page" in capsys.readouterr().err


def test_a_corpus_without_history_says_so(docs: Docs, capsys: Capture) -> None:
    config = Path("corpus.toml")
    config.write_text(config.read_text(encoding="utf-8").replace("true", "false"), encoding="utf-8")
    assert main(["history", "index"]) == 1
    assert "history = true" in capsys.readouterr().err
