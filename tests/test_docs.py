from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from refdesk import errors, manifest
from refdesk.adapters import ADAPTERS
from refdesk.cli import connect
from refdesk.cli.main import COMMANDS, main
from refdesk.manager import CorpusManager
from refdesk.reading import read
from refdesk.settings import PLAIN, PREFIX, Settings
from refdesk.tools.desk import Desk, Tool
from refdesk.tools.registry import TOOLS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.resolve().glob("*.md"))
PAPERS = sorted(ROOT.glob("*.md"))

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
NOT_SETTINGS = {"REFDESK_CORPORA"}
"""Read by the tests, not by the server."""


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def rows(name: str) -> dict[str, list[str]]:
    """The table rows of a page: text of the first cell, without backticks -> the other cells."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page(name).split("\n")
        if line.startswith("|")
    ]
    return {first.strip("`"): rest for first, *rest in cells}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(language: str) -> Iterator[tuple[str, str]]:
    """Code blocks of a language in all papers: (file, text)."""
    for path in (*PAPERS, *PAGES):
        for found, text in FENCE.findall(path.read_text(encoding="utf-8")):
            if found == language:
                yield name(path), text


def documents(text: str) -> list[object]:
    """The JSON of a block: one document, or one per line."""
    lines = [text] if text.startswith("{\n") else text.strip().split("\n")
    return [json.loads(line) for line in lines]


def shown_default(value: object) -> str:
    """How docs/settings.md writes a default."""
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


@pytest.mark.parametrize("field", Settings.model_fields)
def test_every_setting_is_documented_with_its_names_and_default(field: str) -> None:
    plain, default, meaning = rows("settings")[PREFIX + field.upper()]
    assert plain.strip("`") == PLAIN.get(field, "")
    value = Settings.model_fields[field].default
    assert default == shown_default(value) or (default == "none" and str(value) in ("", "()"))
    assert meaning


def test_every_documented_setting_exists() -> None:
    known = {PREFIX + field.upper() for field in Settings.model_fields} | NOT_SETTINGS
    for path in (*PAPERS, *PAGES):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"\bREFDESK_[A-Z_]*[A-Z]", text)) <= known, name(path)


def test_the_settings_are_counted_right() -> None:
    words = ["six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen"]
    assert f"{words[len(PLAIN) - 6]} settings answer to a plain name" in page("settings")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented_with_its_options(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, section = page("cli").partition(f"\n## refdesk {command}\n")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    usage = capsys.readouterr().out.split("\n\n")[0]
    options = set(re.findall(r"--[a-z-]+", usage)) - {"--config", "--root"}
    assert options <= set(re.findall(r"--[a-z-]+", section.split("\n## ")[0]))


def test_every_documented_command_exists() -> None:
    assert re.findall(r"^## refdesk (\w+)$", page("cli"), re.MULTILINE) == list(COMMANDS)


def test_no_paper_shows_a_command_that_does_not_exist() -> None:
    for path, text in blocks("bash"):
        for command in re.findall(r"(?:^|/)refdesk ([a-z]+)", text, re.MULTILINE):
            assert command in COMMANDS, path


@pytest.mark.parametrize("adapter", [*ADAPTERS, *manifest.RESERVED])
def test_every_adapter_is_documented(adapter: str) -> None:
    assert f"`{adapter}`" in page("corpus-toml")


def test_the_adapters_that_are_served_have_a_row_and_a_page() -> None:
    for adapter in ADAPTERS:
        [text] = rows("corpus-toml")[adapter]
        assert LINK.search(text)


@pytest.mark.parametrize("key", [field.name for field in fields(manifest.LibraryEntry)])
def test_every_key_of_a_library_is_documented(key: str) -> None:
    assert key in rows("corpus-toml")


def tool_section(tool: str) -> str:
    _, _, section = page("tools").partition(f"\n## {tool}\n")
    return section.split("\n## ")[0]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_documented_with_its_arguments_and_defaults(tool: Tool) -> None:
    assert tool.name in rows("tools")
    section = tool_section(tool.name)
    properties = tool.schema(Settings.load())["properties"]
    assert isinstance(properties, dict)
    for argument, schema in properties.items():
        shown = json.dumps(schema["default"]) if "default" in schema else ""
        cells, *_ = re.findall(rf"^\| `{argument}` \|(.*)\|", section, re.MULTILINE)
        assert cells.split("|")[1].strip(" `") == shown


@pytest.mark.parametrize(
    ("tool", "arguments", "listed"),
    [
        ("search", {"query": "tools"}, "results"),
        ("fetch", {"ref": "corpus://docs/tools.md"}, "sections"),
        ("list_documents", {}, "documents"),
        ("reindex", {}, "libraries"),
    ],
)
async def test_every_field_of_an_answer_is_documented(
    tool: str, arguments: dict[str, object], listed: str, tmp_path: Path
) -> None:
    shelf = manifest.LibraryEntry("docs", "markdown", DOCS.resolve())
    settings = Settings.load(data_dir=tmp_path, watch=False)
    manager = CorpusManager(manifest.Manifest(tmp_path, ROOT, (shelf,)), settings)
    try:
        manager.refresh()
        [found] = [known for known in TOOLS if known.name == tool]
        body = (await found.answer(Desk(manager, settings), arguments)).body
    finally:
        manager.shut()
    items = body[listed]
    assert isinstance(items, list)
    assert items
    section = tool_section(tool)
    for field in (*body, *items[0]):
        assert re.search(rf"`{field}`|[{{ ]{field}[,}}]", section), field


def subclasses(error: type[errors.RefdeskError]) -> Iterator[type[errors.RefdeskError]]:
    for child in error.__subclasses__():
        yield child
        yield from subclasses(child)


@pytest.mark.parametrize("code", sorted({error.code for error in subclasses(errors.RequestError)}))
def test_every_error_code_is_documented(code: str) -> None:
    assert code in rows("tools")


@pytest.mark.parametrize("client", connect.CLIENTS)
def test_every_client_is_documented(client: str) -> None:
    heading = client.replace("-", " ").replace("vscode", "vs code")
    assert f"\n## {heading}\n" in page("clients").lower()


@pytest.mark.parametrize("client", ["cursor", "vscode", "gemini-cli", "zed", "windsurf"])
def test_a_documented_configuration_is_the_one_that_connect_prints(
    client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["connect", client])
    printed = json.loads(capsys.readouterr().out)
    assert printed in [document for text in blocks("json") for document in documents(text[1])]


@pytest.mark.parametrize("path", [*PAPERS, *PAGES], ids=name)
def test_every_relative_link_and_anchor_resolves(path: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text(encoding="utf-8")))
    for link in LINK.findall(text):
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        if anchor:
            content = target.read_text(encoding="utf-8")
            assert anchor in {part.id for part in read(target.name, content).parts}, link


def test_every_page_is_reached_from_the_first() -> None:
    assert {path.name for path in PAGES} == {"index.md", *LINK.findall(page("index"))}


def test_every_test_that_a_promise_names_exists() -> None:
    named = set(re.findall(r"`(tests/[\w/.]+)`", page("security")))
    assert named
    for path in named:
        assert (ROOT / path).is_file() or list((ROOT / path).glob("test_*.py")), path


def test_every_make_target_that_is_shown_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for path, text in blocks("bash"):
        assert set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)) <= targets, path


def test_every_make_target_explains_itself() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)", makefile, re.MULTILINE)
    assert phony
    explained = re.findall(r"^([a-z-]+):.* ## ", makefile, re.MULTILINE)
    assert sorted(explained) == sorted(phony.group(1).replace("\\\n", " ").split())


def test_every_example_in_json_toml_and_python_is_well_formed() -> None:
    for _, text in blocks("json"):
        assert all(isinstance(document, dict) for document in documents(text))
    for _, text in blocks("toml"):
        tomllib.loads(text)
    for path, text in blocks("python"):
        compile(text, path, "exec")


def test_every_example_corpus_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "team-docs").mkdir()
    for _, text in blocks("toml"):
        if "[[library]]" in text:
            version = "" if "version" in text else "version = 1\n"
            (tmp_path / "corpus.toml").write_text(version + text, encoding="utf-8")
            assert manifest.load(tmp_path / "corpus.toml", tmp_path).libraries
