"""Passages tile their part, say which lines they are, and can be read by themselves."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.reading import Page, Part, read
from refdesk.reading.page import PASSAGE_CHARS

SLACK = 60  # fence lines repeated around cut code

words = st.text("abc d.ef", min_size=1, max_size=60).map(lambda text: "w" + text)
paragraphs = st.lists(words, min_size=1, max_size=8).map("\n".join)
headings = st.tuples(st.integers(1, 6), words).map(lambda pair: f"{'#' * pair[0]} {pair[1]}")
fences = st.tuples(st.sampled_from(("```", "~~~~", "````")), st.integers(0, 150), words).map(
    lambda three: "\n".join([f"{three[0]}py", *[f"{three[2]}\n"] * three[1], three[0]])
)
items = st.lists(words, min_size=1, max_size=5).map(lambda rows: "\n".join("- " + r for r in rows))
long_lines = st.integers(1_500, 9_000).map(lambda size: ("word " * size)[:size])
noise = st.sampled_from(
    ("<!-- note\n\nmore -->", "import A from 'a'", "<Tabs>", "<a id='x'></a>", "===", "---", "> q")
)
blocks = st.one_of(paragraphs, headings, fences, items, long_lines, noise)
documents = st.lists(st.tuples(blocks, st.sampled_from(("\n", "\n\n", "\n\n\n"))), max_size=14).map(
    lambda pairs: "".join(block + gap for block, gap in pairs)
)


def lines_of(text: str, part: Part) -> list[int]:
    """The lines its passages cover, the pieces of one long line counted once."""
    lines = text.split("\n")
    covered: list[int] = []
    for passage in part.passages:
        assert passage.file == ""
        assert passage.start <= passage.end
        first = passage.start
        if covered and first == covered[-1] and len(lines[first - 1]) > PASSAGE_CHARS:
            first += 1
        assert not covered or first > covered[-1]
        covered += range(first, passage.end + 1)
    return covered


def filled(text: str, numbers: Iterable[int]) -> set[int]:
    lines = text.split("\n")
    return {number for number in numbers if lines[number - 1].strip()}


def check_tiling(text: str, page: Page) -> None:
    last = 0
    seen: set[int] = set()
    for part in page.parts:
        covered = lines_of(text, part)
        assert part.start > last
        assert (part.start, part.end) == (covered[0], covered[-1])
        seen.update(covered)
        last = part.end
    everything = filled(text, range(1, text.count("\n") + 2))
    first = page.parts[0].start if page.parts else len(text)
    assert {number for number in everything if number >= first} <= seen


@settings(max_examples=300, deadline=None)
@given(documents)
def test_every_line_lies_in_exactly_one_part_and_passage(text: str) -> None:
    for path in ("page.md", "page.txt"):
        check_tiling(text, read(path, text))


@settings(max_examples=200, deadline=None)
@given(documents)
def test_passages_keep_to_their_size(text: str) -> None:
    for part in read("page.md", text).parts:
        for passage in part.passages:
            assert len(passage.text) <= PASSAGE_CHARS + SLACK


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(paragraphs, items, fences, long_lines), max_size=8))
def test_no_word_of_a_page_is_lost_or_moved(pieces: list[str]) -> None:
    text = "\n\n".join(pieces)
    found = "\n".join(
        passage.text for part in read("p.txt", text).parts for passage in part.passages
    )
    assert "".join(found.split()) == "".join(text.split())


def test_a_long_section_is_cut_at_its_paragraphs() -> None:
    paragraph = "sentence " * 60
    text = "# Title\n\n" + "\n\n".join([paragraph] * 9)
    (part,) = read("page.md", text).parts
    assert [(passage.start, passage.end) for passage in part.passages] == [
        (1, 7),
        (9, 13),
        (15, 19),
    ]
    assert part.passages[0].text.startswith("# Title\n\nsentence")
    assert part.passages[1].text.startswith("sentence")


def test_code_with_blank_lines_stays_in_one_passage() -> None:
    code = "```py\n" + "a = 1\n\n" * 100 + "```"
    text = "# T\n\n" + "text " * 300 + "\n\n" + code + "\n\nend"
    (part,) = read("page.md", text).parts
    assert code in part.passages[1].text


@pytest.mark.parametrize(
    ("indent", "fence"), [("", "```py"), ("   ", "~~~~"), ("", "````js title")]
)
def test_code_longer_than_a_passage_is_fenced_in_each_of_its_pieces(
    indent: str, fence: str
) -> None:
    body = "\n".join(f"{indent}line {number}" for number in range(700))
    closer = indent + fence.rstrip("jspytile ")
    text = f"# T\n{indent}{fence}\n{body}\n{closer}\n\nafter"
    (part,) = read("page.md", text).parts
    *pieces, _ = part.passages
    assert len(pieces) >= 2
    for piece in pieces:
        assert piece.text.removeprefix("# T\n").startswith(indent + fence)
        assert piece.text.split("\n\n")[0].endswith("\n" + closer)
    shown = [
        line
        for passage in part.passages
        for line in passage.text.split("\n")
        if line.strip().startswith("line")
    ]
    assert shown == body.split("\n")


def test_code_in_a_list_item_is_fenced_again_without_the_bullet() -> None:
    text = "# T\n\n- ```py\n" + "  x = 1\n" * 600 + "  ```\n"
    (part,) = read("page.md", text).parts
    assert all(piece.text.startswith("  ```py\n  x") for piece in part.passages[1:-1])


def test_a_heading_is_not_left_alone_before_a_long_paragraph() -> None:
    (part,) = read("page.md", "# Title\n\n" + "word word\n" * 700).parts
    assert len(part.passages[0].text) > PASSAGE_CHARS // 2


def test_a_line_longer_than_a_passage_is_cut_at_words() -> None:
    line = "alpha beta " * 1_000
    (part,) = read("page.md", f"# T\n{line}\nend").parts
    pieces = part.passages[1:-1]
    assert {(piece.start, piece.end) for piece in pieces} == {(2, 2)}
    assert "".join(piece.text for piece in part.passages).count("alpha") == 1_000
    assert all(piece.text.rstrip().endswith(("alpha", "beta")) for piece in pieces)


def test_an_embedded_picture_does_not_make_a_line_long() -> None:
    picture = "![chart](data:image/png;base64," + "iVBORw0KGgo" * 20_000 + ")"
    (part,) = read("page.md", f"# T\n\nbefore {picture} after").parts
    (passage,) = part.passages
    assert "iVBOR" not in passage.text
    assert passage.text.startswith("# T\n\nbefore ![chart](data:image/png")
    assert passage.text.endswith(") after")


def test_what_stands_before_a_long_last_line_of_open_code_is_kept() -> None:
    text = "# T\n\n```\n" + "word " * 600
    (part,) = read("page.md", text).parts
    assert part.passages[0].text == "# T\n\n```\n```"
    assert (part.start, part.end) == (1, 4)
