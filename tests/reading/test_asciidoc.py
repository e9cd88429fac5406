"""Where an AsciiDoc page's sections start and end, and what their text says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.reading import Page, read

Row = tuple[str, int, int, int]


def outline(text: str) -> list[Row]:
    parts = read("page.adoc", text).parts
    return [(part.title, part.level, part.start, part.end) for part in parts if part.breadcrumb]


def titles(text: str) -> list[str]:
    return [title for title, *_ in outline(text)]


def shown(page: Page) -> str:
    return "\n".join(passage.text for part in page.parts for passage in part.passages)


def text_of(text: str) -> str:
    return shown(read("page.adoc", text))


def test_titles_of_one_line_carry_their_level() -> None:
    text = "= Doc\nAnn <a@b.invalid>\n\n== One ==\n\ntext\n\n=== Two\n\n## Three\n"
    assert outline(text) == [
        ("Doc", 0, 1, 2),
        ("One", 1, 4, 6),
        ("Two", 2, 8, 8),
        ("Three", 1, 10, 10),
    ]
    assert read("page.adoc", text).parts[2].breadcrumb == ("Doc", "One", "Two")


def test_titles_of_two_lines_are_told_from_listings() -> None:
    text = (
        "git-x(1)\n========\n\nNAME\n----\nx - y\n\nOPTIONS\n-------\n-q::\n\tQuiet.\n+\n"
        "----\ncode\n----\n\nSub part\n~~~~~~~~\n\nDeep\n^^^^\n\nDeepest\n+++++++\n"
    )
    assert [(title, level, start) for title, level, start, _ in outline(text)] == [
        ("git-x(1)", 0, 1),
        ("NAME", 1, 4),
        ("OPTIONS", 1, 8),
        ("Sub part", 2, 17),
        ("Deep", 3, 20),
        ("Deepest", 4, 23),
    ]


@pytest.mark.parametrize(
    "block",
    [
        "----\n== x\n----",
        "....\n== x\n....",
        "====\n== x\n\n----\n====x\n----\n====",
        "****\n== x\n\n== x\n****",
        "____\n== x\n____",
        "--\n== x\n--",
        "++++\n== x\n++++",
        "////\n== x\n\n== x\n////",
        "|===\n|a\n\n== x\n|===",
        "```ruby\n== x\n```",
        "[tabs]\n====\nA::\n+\n----\n== x\n----\n====",
        "paragraph\n== x",
        " literal\n== x",
        "[discrete]\n== x",
        "[float]\nx\n~",
        "// == x",
        "* item\n== x",
        "text text\n====\n== x\n====",
        ".Title\n== x".replace("== x", "text"),
    ],
)
def test_what_stands_in_a_block_or_paragraph_is_no_title(block: str) -> None:
    assert titles(f"= Doc\n\n{block}\n\n== After\n\nend") == ["Doc", "After"]


def test_the_style_of_one_block_says_nothing_of_the_next() -> None:
    text = "[discrete]\ntext\n\n== A\n\n[[p]]\ntext\n\n== B\n"
    page = read("page.adoc", text)
    assert [(part.title, part.id) for part in page.parts[1:]] == [("A", "a"), ("B", "b")]


@pytest.mark.parametrize(
    ("lines", "anchor"),
    [
        ("[[install]]\n== T", "install"),
        ("[#install]\n== T", "install"),
        ("[#install.role,x=y]\n== T", "install"),
        ("[id=install]\n== T", "install"),
        ("[[install]]\n\n[.lead]\n== T", "install"),
        ("== T [[install]]", "install"),
        ("== [[install,label]]T", "install"),
        ("== T", "t"),
    ],
)
def test_an_anchor_names_the_section_it_stands_above_or_in(lines: str, anchor: str) -> None:
    (part,) = read("page.adoc", lines).parts
    assert (part.id, part.title) == (anchor, "T")
    assert part.passages[0].text == "== T"


def test_attributes_are_replaced_by_their_value_in_text_and_titles() -> None:
    text = (
        "= \\{product} guide\n:product: Aqua 7\n:long: one \\\ntwo\n:full: {product}+{long}\n\n"
        "Use {product} and {Long}, {full}, {late}, {unknown}, \\{product}, `+{product}+`,"
        " {counter:x}.\n\n----\n{product}\n----\n\n[subs=+attributes]\n----\n{product}\n----\n\n"
        ":late: later\n:!product:\n\n"
        "{product}\n"
    )
    page = read("page.adoc", text)
    assert page.title == "{product} guide"
    assert (
        "Use Aqua 7 and one two, Aqua 7+one two, later, {unknown}, {product}, `+{product}+`,"
        " {counter:x}." in shown(page)
    )
    assert "----\n{product}\n----\n\n[subs=+attributes]\n----\nAqua 7\n----" in shown(page)
    assert shown(page).endswith("{product}")


def test_a_title_may_use_an_attribute_that_is_set_below_it() -> None:
    page = read(
        "page.adoc", "= {name} guide\n:name: Pump\n:description: All of it\n:keywords: a, b c\n"
    )
    assert (page.title, page.description, page.tags) == ("Pump guide", "All of it", ("a", "b c"))
    assert page.parts[0].passages[0].text == "= Pump guide"


def test_both_branches_of_a_conditional_are_kept() -> None:
    text = (
        "= Doc\n\nifdef::site[]\n== On the site\n\nSite.\nendif::[]\nifndef::site[]\n"
        "== Elsewhere\n\nOther.\nendif::[]\n\nifdef::x[One line of {a}.]\nifeval::[1 == 2]\n"
        "Never.\nendif::[]\n"
    )
    assert outline(text) == [
        ("Doc", 0, 1, 3),
        ("On the site", 1, 4, 8),
        ("Elsewhere", 1, 9, 17),
    ]
    page = read("page.adoc", text)
    assert page.parts[2].passages[0].text == ("== Elsewhere\n\nOther.\n\nOne line of {a}.\nNever.")


def test_a_conditional_value_does_not_replace_the_plain_one() -> None:
    text = ":a: plain\nifdef::x[]\n:a: odd\nendif::[]\nifndef::b[:b: set]\n\n{a} {b}"
    assert text_of(text) == "plain set"


def test_comments_attributes_and_bare_anchors_are_not_shown() -> None:
    text = (
        "// licence\n\n== T\n\n:a: b\n// note\n[[here]]\n////\nhidden\n////\n[source,rb]\n----\n"
        "// code\n----\n\n====\n// note\n////\nhidden\n////\ntext\n====\n"
    )
    assert text_of(text) == "== T\n\n[source,rb]\n----\n// code\n----\n\n====\ntext\n===="


def test_level_offsets_move_titles() -> None:
    text = ":leveloffset: +1\n\n= A\n\n:leveloffset: -1\n\n== B\n\n:leveloffset!:\n\n===== C\n"
    assert [(title, level) for title, level, *_ in outline(text)] == [("A", 1), ("B", 1), ("C", 4)]


def test_a_code_block_longer_than_a_passage_keeps_its_delimiters() -> None:
    text = "== T\n\n----\n" + "x = 1\n" * 900 + "----\n\nafter"
    (part,) = read("page.adoc", text).parts
    for passage in part.passages[1:-1]:
        assert passage.text.startswith("----\nx = 1")
        assert passage.text.endswith("x = 1\n----")


LINES = (
    "= T|== A|=== B|text|word||====|----|....|--|////|// c|[[id]]|[discrete]|[source]|* item|+|a::"
    "|ifdef::x[]|ifndef::x[]|endif::[]|:a: b|{a}|Title|-----|~~~~~|.Cap|'''| lit|include::x[]"
).split("|")


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=14))
def test_every_line_lies_in_at_most_one_passage_and_parts_come_in_order(lines: list[str]) -> None:
    page = read("page.adoc", "\n".join(lines))
    last = 0
    for part in page.parts:
        assert part.start > last
        for passage in part.passages:
            assert last < passage.start <= passage.end
            last = passage.end
        assert part.end >= part.start
    numbers = {n for p in page.parts for s in p.passages for n in range(s.start, s.end + 1)}
    for number, line in enumerate(lines, 1):
        if line in ("text", "word", "Title") and page.parts:
            assert number in numbers or "////" in lines
