"""The real parsing traps: every outline as it was marked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refdesk.reading import Page, decode, read

pytestmark = pytest.mark.corpora


def load(file: Path) -> Page:
    text = decode(file.read_bytes())
    assert text is not None
    return read(file.name, text)


def row(entry: dict[str, Any]) -> tuple[object, ...]:
    return tuple(entry["breadcrumb"]), entry["level"], entry["start"], entry["end"]


def test_every_trap_has_the_outline_marked_by_hand(corpora: Path) -> None:
    expectations = sorted((corpora / "folders" / "traps").glob("d*.expected.json"))
    assert len(expectations) >= 25
    for expectation in expectations:
        expected = json.loads(expectation.read_text(encoding="utf-8"))
        page = load(expectation.with_name(expected["file"]))
        have = [
            (part.breadcrumb, part.level if part.breadcrumb else None, part.start, part.end)
            for part in page.parts
        ]
        wanted = [row(entry) for entry in expected["outline"]]
        needed = [row(entry) for entry in expected["outline"] if not entry.get("optional")]
        assert have in (wanted, needed), expected["file"]
        assert page.title == expected.get("title", page.title)
        for line, anchor in expected.get("anchors", {}).items():
            assert {part.start: part.id for part in page.parts}[int(line)] == anchor
        if "resolved_text" in expected:
            assert expected["resolved_text"] in page.parts[0].passages[0].text
