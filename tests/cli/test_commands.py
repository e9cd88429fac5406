"""The command line as a user types it: real files, real exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from refdesk.cli.main import COMMANDS, main


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus.toml, made the current one."""
    docs = tmp_path / "corpus" / "docs"
    docs.mkdir(parents=True)
    (docs / "deploy.md").write_text(
        "# Deploying\n\nBefore.\n\n## Health checks\n\nThe probe asks the server.\n",
        encoding="utf-8",
    )
    (docs / "disks.md").write_text("# Disks\n\nDisks keep files.\n", encoding="utf-8")
    (tmp_path / "corpus.toml").write_text(
        'version = 1\n[[library]]\nname = "Docs"\nadapter = "markdown"\npath = "docs"\n'
        'base_url = "https://docs.example/"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


Capture = pytest.CaptureFixture[str]


def json_of(capsys: Capture, *argv: str) -> dict[str, Any]:
    assert main([*argv, "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def test_search_prints_cited_hits(corpus: Path, capsys: Capture) -> None:
    assert main(["search", "health", "probe"]) == 0
    printed = capsys.readouterr().out
    assert "[1] Deploying  (Docs)" in printed
    assert "https://docs.example/deploy/" in printed
    assert "corpus://Docs/deploy.md" in printed


def test_search_as_json_is_what_the_tool_answers(corpus: Path, capsys: Capture) -> None:
    body = json_of(capsys, "search", "health probe")
    assert set(body) == {"results", "did_you_mean", "degraded"}
    (hit, *_) = body["results"]
    assert hit["location"] == "deploy.md:5-7"


def test_search_without_a_hit_fails(corpus: Path, capsys: Capture) -> None:
    assert main(["search", "zyzzyva"]) == 1
    assert "nothing found" in capsys.readouterr().out


def test_fetch_prints_a_document_or_a_section(corpus: Path, capsys: Capture) -> None:
    assert main(["fetch", "corpus://Docs/deploy.md", "--section", "health-checks"]) == 0
    printed = capsys.readouterr().out
    assert "The probe asks the server." in printed
    assert "Before." not in printed
    body = json_of(capsys, "fetch", "https://docs.example/deploy")
    assert body["ref"] == "corpus://Docs/deploy.md"


def test_fetch_of_a_missing_section_names_those_there_are(corpus: Path, capsys: Capture) -> None:
    assert main(["fetch", "corpus://Docs/deploy.md", "--section", "nope"]) == 1
    assert "health-checks" in capsys.readouterr().err


def test_a_near_miss_is_suggested_and_nothing_where_there_is_none(
    corpus: Path, capsys: Capture
) -> None:
    assert main(["fetch", "corpus://Docs/diks.md"]) == 1
    assert "suggestions\n  corpus://Docs/disks.md" in capsys.readouterr().err
    assert main(["fetch", "corpus://Docs/zzzzzz"]) == 1
    assert "suggestions" not in capsys.readouterr().err


def test_index_counts_and_names_what_is_left_out(corpus: Path, capsys: Capture) -> None:
    (corpus / "corpus" / "docs" / "nul.md").write_bytes(b"# A\0")
    assert main(["index"]) == 0
    printed = capsys.readouterr().out
    assert "Docs: 2 documents, 3 sections (2 new, 0 updated, 0 removed, 0 unchanged)" in printed
    assert "left out, binary: 1 (nul.md)" in printed
    assert main(["index"]) == 0
    assert "0 new, 0 updated, 0 removed, 2 unchanged" in capsys.readouterr().out
    assert main(["index", "--force"]) == 0
    assert "2 new" in capsys.readouterr().out


def test_check_passes_and_fails(corpus: Path, capsys: Capture) -> None:
    report = json_of(capsys, "check")
    assert report["ok"] is True
    with (corpus / "corpus.toml").open("a", encoding="utf-8") as stream:
        stream.write('[[library]]\nname = "Gone"\nadapter = "markdown"\npath = "gone"\n')
    assert main(["check"]) == 1
    printed = capsys.readouterr().out
    assert "ready    Docs" in printed
    assert "failed   Gone" in printed
    assert "is not a folder" in printed


def test_list_shows_libraries_and_documents(corpus: Path, capsys: Capture) -> None:
    assert main(["list"]) == 0
    assert "Docs (markdown): 2 documents, 3 sections" in capsys.readouterr().out
    assert main(["list", "docs", "--prefix", "di"]) == 0
    assert capsys.readouterr().out == "corpus://Docs/disks.md  Disks\n"


def test_eval_measures_by_kind_and_lists_misses(corpus: Path, capsys: Capture) -> None:
    questions = [
        {"id": "a", "kind": "url", "query": "health", "gold": ["https://docs.example/deploy"]},
        {"id": "b", "kind": "ref", "query": "disks", "gold": ["corpus://Docs/disks.md"]},
        {
            "id": "c",
            "kind": "lines",
            "query": "health probe",
            "gold": [{"file": "docs/deploy.md", "heading": "Health checks", "start": 5, "end": 7}],
        },
        {
            "id": "d",
            "kind": "lines",
            "query": "health probe",
            "gold": [{"file": "docs/disks.md", "heading": "Disks", "start": 1, "end": 3}],
        },
    ]
    file = corpus / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    report = json_of(capsys, "eval", str(file))
    assert report["overall"] == {"n": 4, "hit@1": 0.75, "hit@5": 0.75, "mrr": 0.75, "ndcg": 0.75}
    assert set(report["kinds"]) == {"url", "ref", "lines"}
    (miss,) = report["misses"]
    assert miss["id"] == "d"
    assert main(["eval", str(file)]) == 0
    assert "missed d" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["{", "[]", '{"id": 1}', '{"query": "x", "gold": 3}'])
def test_a_bad_question_is_named_by_its_line(corpus: Path, capsys: Capture, text: str) -> None:
    file = corpus / "questions.jsonl"
    file.write_text("\n" + text, encoding="utf-8")
    assert main(["eval", str(file)]) == 1
    assert "line 2" in capsys.readouterr().err


def test_outline_shows_sections_with_lines(corpus: Path, capsys: Capture) -> None:
    assert main(["outline", "corpus/docs/deploy.md", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"breadcrumb": ["Deploying"], "level": 1, "start": 1, "end": 3},
        {"breadcrumb": ["Deploying", "Health checks"], "level": 2, "start": 5, "end": 7},
    ]
    assert main(["outline", "nowhere.md"]) == 1
    assert "nowhere.md cannot be read" in capsys.readouterr().err


def test_doctor_finds_a_healthy_setup_healthy(corpus: Path, capsys: Capture) -> None:
    report = json_of(capsys, "doctor")
    assert report["ok"] is True


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("REFDESK_ALOW_REINDEX", "1", "did you mean REFDESK_ALLOW_REINDEX?"),
        ("MCP_ALLOWED_ORIGINS", "https://a.example", "MCP_ALLOWED_HOSTS"),
        ("REFDESK_HOST", "0.0.0.0", "only localhost names are accepted"),
        ("REFDESK_PORT", "many", "REFDESK_PORT"),
        ("CORPUS_CONFIG", "nowhere.toml", "nowhere.toml"),
        ("DATA_DIR", "/proc/none", "DATA_DIR"),
        ("REFDESK_TRUST_PROXY_HOST", "1", "Host header is not checked"),
    ],
)
def test_doctor_names_a_misconfiguration(
    corpus: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    said: str,
) -> None:
    monkeypatch.setenv(variable, value)
    main(["doctor"])
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("argv", [["check"], ["serve"], ["search", "x"]])
def test_a_missing_manifest_is_one_sentence_and_exit_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, argv: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 1
    error = capsys.readouterr().err
    assert error.startswith("refdesk: corpus.toml: cannot be read")
    assert "Traceback" not in error


def test_serving_refuses_a_library_that_cannot_be_opened(corpus: Path, capsys: Capture) -> None:
    (corpus / "corpus" / "docs").rename(corpus / "moved")
    assert main(["serve"]) == 1
    assert "library 'Docs'" in capsys.readouterr().err


def test_config_and_root_work_before_and_after_the_command(
    corpus: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    where = ["--config", str(corpus / "corpus.toml"), "--root", str(corpus / "corpus")]
    assert main([*where, "list"]) == 0
    assert main(["list", *where]) == 0
    assert capsys.readouterr().out.count("Docs (markdown)") == 2


def test_wrong_usage_is_exit_2(capsys: Capture) -> None:
    for argv in ([], ["nonsense"], ["search"], ["fetch"]):
        with pytest.raises(SystemExit) as exit_:
            main(argv)
        assert exit_.value.code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([command, "--help"])
    assert exit_.value.code == 0
    assert "usage: refdesk" in capsys.readouterr().out


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom refdesk.cli.main import parser\nparser()\n"
        "heavy = {'mcp', 'pydantic', 'tantivy', 'starlette', 'uvicorn', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert output == "[]\n"


def test_a_reader_that_goes_away_is_no_error(corpus: Path) -> None:
    for number in range(300):
        page = corpus / "corpus" / "docs" / f"p{number}.md"
        page.write_text(f"# Page {number} {'x' * 400}\n", encoding="utf-8")
    command = f"{sys.executable} -m refdesk list Docs | head -1"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr
