from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

import pytest

from refdesk import manifest
from refdesk.cli.main import main

ROOT = Path(__file__).parent.parent
SHELF = manifest.load(ROOT / "corpus.toml", ROOT / "corpus")
HANDBOOK = ROOT / "corpus" / "cloud-handbook"
PAGES = sorted(
    path
    for library in SHELF.libraries
    for path in library.path.rglob("*")
    if path.suffix in (".md", ".adoc")
)
PERSIAN = [path for path in PAGES if re.match(r"# .*[آ-ی]", path.read_text(encoding="utf-8"))]

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
ZWNJ = "\u200c"


def prose(path: Path) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text(encoding="utf-8")))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_shelf_holds_the_documentation_and_the_handbook() -> None:
    assert [library.name for library in SHELF.libraries] == ["refdesk-docs", "cloud-handbook"]


def test_the_documentation_at_the_top_is_the_library_itself() -> None:
    [docs, _] = SHELF.libraries
    assert (ROOT / "docs").resolve() == docs.path


def test_the_handbook_holds_both_languages_and_both_formats() -> None:
    handbook = [path for path in PAGES if path.is_relative_to(HANDBOOK)]
    persian = [path for path in PERSIAN if path.is_relative_to(HANDBOOK)]
    assert len(handbook) >= 12
    assert 4 <= len(persian) <= len(handbook) - 4
    assert {path.suffix for path in handbook} == {".md", ".adoc"}


@pytest.mark.parametrize("path", PERSIAN, ids=name)
def test_persian_prose_joins_its_prefixes_and_suffixes(path: Path) -> None:
    text = prose(path)
    assert ZWNJ in text
    assert not re.search(r"(?<![آ-ی\u200c])ن?می [آ-ی]", text)
    assert not re.search(r"[آ-ی] (ها|های|هایی|ترین)(?![آ-ی])", text)


@pytest.mark.parametrize("path", PERSIAN, ids=name)
def test_persian_prose_uses_persian_letters(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search("[\u064a\u0643\u0649\u0660-\u0669]", text)
    assert not re.search(f"{ZWNJ}(\\s|$)|\\s{ZWNJ}|{ZWNJ}{{2}}", text)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_every_link_of_a_page_leads_to_a_page(path: Path) -> None:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text) + re.findall(r"xref:([^\[#]+)", text)
    for target in targets:
        assert (path.parent / target).is_file(), target


def test_every_page_of_the_handbook_is_in_its_contents() -> None:
    contents = (HANDBOOK / "index.md").read_text(encoding="utf-8")
    for path in PAGES:
        if path.is_relative_to(HANDBOOK) and path.name != "index.md":
            assert f"({path.relative_to(HANDBOOK).as_posix()})" in contents


QUESTIONS = [
    ("attach a persistent disk", "run/disks.md"),
    ("بازگشت به نسخه قبلی", "fix/rollback.md"),
    ("برگشت به نسخه‌ی قبل", "fix/rollback.md"),
    ("گواهی دامنه", "run/domains-and-tls.md"),
    ("متغیر محیطی", "run/environment-variables.md"),
    ("داکر", "deploy/docker.md"),
    ("جنگو", "deploy/django.md"),
    ("helth chek interval", "run/health-checks.md"),
    ("pg_restore", "run/databases-and-backups.md"),
    ("exit code 137", "run/logs.md"),
    ("Cannot find module 'express'", "fix/build-errors.md"),
    ("more instances sessions redis", "run/scaling.adoc"),
    ("deploy on push pull request", "deploy/ci-cd.md"),
    ("npm ci package-lock", "deploy/node.md"),
]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.mark.parametrize(("query", "page"), QUESTIONS)
def test_the_handbook_answers_its_questions_among_the_first_three_hits(
    query: str,
    page: str,
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DATA_DIR", str(data_dir))
    where = ["--config", str(ROOT / "corpus.toml"), "--root", str(ROOT / "corpus")]
    assert main([*where, "search", query, "--library", "cloud-handbook", "--json"]) == 0
    refs = [hit["ref"] for hit in json.loads(capsys.readouterr().out)["results"]]
    wanted = "corpus://" + posixpath.join("cloud-handbook", page)
    assert wanted in refs[:3]
