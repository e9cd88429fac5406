"""The block scanner against markdown-it-py, on documents made to confuse and on real ones."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from refdesk.reading import decode
from refdesk.reading.blocks import scan
from refdesk.reading.frontmatter import take

Row = tuple[int, int, int, str]

LINES = (
    "# a|## b #|#|####### x|text|word two||===|---|- item|- |* x|1. one|2) two|10. ten|> q|>|> > r"
    "|```|````|~~~|``` js|    code|  two|   three|\ttab|- \tx|<div>|</div>|<!-- c|-->|<!-- x -->"
    "|<b>|<b>x</b>|<pre>|</pre>|* * *|- - -|>```|> - x|- > y|- # h|- ```|  - sub|    - deep|-|+"
    "|  ===|\\# x|<?x|?>|a `b` c"
).split("|")
TABLE_LINES = ("| a | b |", "|---|---|", "| a |", "a | b", "--- | ---", "| c", "a | b \\| c")
SHALLOW = ("", "", "", " ", "  ", "   ", "> ", "- ")
ALL_LINES = (*LINES, *TABLE_LINES)
DEEP = ("", "", "", " ", "   ", "    ", "\t")


def documents(indents: Sequence[str], lines: Sequence[str]) -> st.SearchStrategy[str]:
    row = st.tuples(st.sampled_from(indents), st.sampled_from(lines)).map("".join)
    return st.lists(row, min_size=1, max_size=9).map("\n".join)


# Where a line indented by four lazily goes on with a paragraph of a quote or list, markdown-it-py
# may end the paragraph and CommonMark does not, and it takes a list item for a table row if a
# delimiter row follows: containers, deep indents and tables are not mixed.
MARKERS = re.compile(r"\s*(?:[-+*>]|[0-9]+[.)])(?:\s|$)|>")
nested = documents(SHALLOW, [line for line in LINES if not line.startswith("  ")])
indented = documents(DEEP, [line for line in ALL_LINES if not MARKERS.match(line)])


class Oracle:
    """Top-level headings as markdown-it-py sees them."""

    def __init__(self) -> None:
        self.parser = MarkdownIt("commonmark").enable("table")
        self.parser.core.ruler.disable("inline")

    def headings(self, text: str) -> list[Row]:
        tokens = self.parser.parse(text)
        return [
            (token.map[0], token.map[1], int(token.tag[1]), one_line(tokens[at + 1].content))
            for at, token in enumerate(tokens)
            if token.type == "heading_open" and token.level == 0 and token.map
        ]


def one_line(text: str) -> str:
    return " ".join(line.strip(" \t") for line in text.split("\n"))


def headings(lines: list[str]) -> list[Row]:
    return [
        (found.line, found.until, found.level, found.text)
        for found in scan(lines).headings
        if found.tag is None
    ]


@settings(max_examples=800, deadline=None)
@given(st.one_of(nested, indented))
def test_generated_documents_have_the_same_headings(text: str) -> None:
    assert headings(text.split("\n")) == Oracle().headings(text)


def pages(archives: Path) -> Iterator[tuple[str, str]]:
    for archive in sorted(archives.glob("*.tar.xz")):
        with tarfile.open(archive) as tar:
            for member in tar:
                data = tar.extractfile(member) if member.isreg() else None
                if data and member.name.endswith((".md", ".mdx", ".markdown")):
                    yield member.name, decode(data.read()) or ""


@pytest.mark.corpora
def test_real_pages_have_the_same_headings(corpora: Path) -> None:
    oracle = Oracle()
    different, seen = [], 0
    for name, text in pages(corpora / "folders"):
        lines = text.split("\n")
        del lines[: take(lines).lines]
        seen += 1
        if headings(lines) != oracle.headings("\n".join(lines)):
            different.append(name)
    assert seen > 2_000
    assert different == []
