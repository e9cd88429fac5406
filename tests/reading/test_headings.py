"""Where a Markdown page's sections start and end, and what they are called."""

from __future__ import annotations

import pytest

from refdesk.reading import Page, read

Row = tuple[tuple[str, ...], int, int, int]


def outline(text: str, path: str = "page.md") -> list[Row]:
    return [(part.breadcrumb, part.level, part.start, part.end) for part in read(path, text).parts]


def titles(text: str, path: str = "page.md") -> list[str]:
    return [part.title for part in read(path, text).parts if part.breadcrumb]


def ids(page: Page) -> list[str]:
    return [part.id for part in page.parts]


def test_a_part_runs_from_its_heading_to_the_last_line_with_text_before_the_next() -> None:
    text = "lead\n\n# One\ntext\n\n\n## Two\n\nmore\n\n# Three\n"
    assert outline(text) == [
        ((), 0, 1, 1),
        (("One",), 1, 3, 4),
        (("One", "Two"), 2, 7, 9),
        (("Three",), 1, 11, 11),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a\n#b\n####### c\n\\# d\n##\n   ## e\nf\n# g", ["a", "", "e", "g"]),
        ("a\nb\n===\n\nc\n--", ["a b", "c"]),
        ("- item\n---\n\n> quote\n---\n\n- a\nlazy\n===", []),
        ("| a |\n---", []),
        ("| a | b |\n---", ["| a | b |"]),
        ("| a |\n|---|\nrow\n---\n", []),
        ("```\n# a\n```\n# b\n~~~\n# c\n```\n# d\n~~~\n# e", ["b", "e"]),
        ("````\n```\n# a\n```\n````\n# b", ["b"]),
        ("```\n# never closed\n\n# still code", []),
        ("1. a\n\n   ```\n   # b\n\n# c\n   ```\n\n# d", ["c"]),
        ("    # code\n\ntext\n    # continued\n# real", ["real"]),
        ("<!--\n# a\n\n# b\n-->\n# c", ["c"]),
        ("<div>\n# a\n\n# b\n</div>", ["b"]),
        ("<script>\n\n# a\n</script>\n# b", ["b"]),
        ("<custom-tag>\n# a\n\ntext\n<custom-tag>\n# b", ["b"]),
        ("> # a\n\n- # b\n\n1. # c\n\n# d", ["d"]),
        ("[a]: /url\n===\n\n[b]: /url\ntext\n===", ["text"]),
        ("[a]: /url 'title'\n'more'\n---\n", ["'more'"]),
        ("text\n===\n===", ["text"]),
        ("-\ttab\n\n\t# inside\n# outside", ["outside"]),
        ("- a\n\n      # code in the item\n  # inside\n # outside", ["outside"]),
        ("-\n\n  # outside", ["outside"]),
        ("!!! note\n\n    # inside\n\n# outside", ["outside"]),
        (":::caution\n\n## inside\n\n:::\n\n## after", ["inside", "after"]),
        ('=== "Linux"\n\n    text\n', []),
    ],
)
def test_headings_are_those_of_commonmark(text: str, expected: list[str]) -> None:
    assert titles(text) == expected


@pytest.mark.parametrize(
    ("line", "title", "anchor"),
    [
        ("# Billing { #billing-top }", "Billing", "billing-top"),
        ("# Refunds {#refunds .wide}", "Refunds", "refunds"),
        ("# Set {x} braces", "Set {x} braces", "set-x-braces"),
        ('# 9.7.6 <small>March 19</small> { id="9.7.6" }', "9.7.6 March 19", "9.7.6"),
        ("# Docusaurus {/* #own-id */}", "Docusaurus", "own-id"),
        ("# Closing ###", "Closing", "closing"),
        ("# C#", "C#", "c"),
        ('# <a name="old"></a>Named', "Named", "old"),
        ("# The `Option<T>` of *types*", "The `Option<T>` of *types*", "the-optiont-of-types"),
        ("# [Flask](https://flask.invalid) and more", "Flask and more", "flask-and-more"),
        ("# Tool [![Build](b.svg)](ci) <!-- hidden -->", "Tool Build", "tool-build"),
        ("# Q&amp;A \\*literal\\*", "Q&A *literal*", "qa-literal"),
        ("# می‌خواهم ساده", "می‌خواهم ساده", "میخواهم-ساده"),
        ("# हिन्दी", "हिन्दी", "हिन्दी"),
        ("# ???", "???", "section"),
    ],
)
def test_a_heading_gives_a_clean_title_and_an_id(line: str, title: str, anchor: str) -> None:
    (part,) = read("page.md", line).parts
    assert (part.title, part.id) == (title, anchor)


def test_ids_are_unique_in_their_page() -> None:
    page = read("page.md", "# a\n\n# a\n\n# a-1\n\n# b {#a}\n\n# a")
    assert ids(page) == ["a", "a-1", "a-1-1", "a-2", "a-3"]


def test_an_empty_anchor_above_a_heading_names_it() -> None:
    page = read("page.md", 'x\n\n<a id="old-name"></a>\n\n## Heading\n\n<span id="s"/>\n\n# Next\n')
    assert ids(page) == ["", "old-name", "s"]
    assert page.parts[1].start == 5


def test_an_anchor_of_an_earlier_section_names_no_other() -> None:
    assert ids(read("page.md", '# a\n<a id="x"></a>\ntext\n# b')) == ["a", "b"]


def test_html_headings_at_the_margin_open_sections() -> None:
    text = (
        "text\n\n<h2 id='install'>Install</h2>\n<p>how</p>\n\n"
        "<H1 align=center>\n  Big\n  name\n</H1>\n"
    )
    page = read("page.md", text)
    assert outline(text) == [((), 0, 1, 1), (("Install",), 2, 3, 4), (("Big name",), 1, 6, 9)]
    assert ids(page) == ["", "install", "big-name"]
    assert page.parts[1].passages[0].text.startswith("## Install\n")


@pytest.mark.parametrize(
    "text",
    [
        "```\n<h1>code</h1>\n```",
        "- <h2>in a list</h2>",
        "<!--\n<h1>hidden</h1>\n-->",
        "    <h1>code</h1>",
        "<h1><br></h1>",
    ],
)
def test_html_headings_that_are_code_nested_hidden_or_empty_are_not_sections(text: str) -> None:
    assert titles(text) == []


def test_a_logo_heading_is_called_by_its_alternative_text() -> None:
    assert titles('<h1><img src="a.png" alt="Our Tool"></h1>') == ["Our Tool"]


def test_text_behind_an_html_heading_is_kept() -> None:
    (part,) = read("page.md", "<h2>Name</h2> and text").parts
    assert part.passages[0].text == "## Name\nand text"


def test_a_paragraph_that_an_underline_follows_loses_none_of_its_text() -> None:
    paragraph = "word " * 400
    (part,) = read("page.md", f"{paragraph}\n---\n").parts
    assert len(part.title) <= 500
    assert sum(passage.text.count("word") for passage in part.passages) == 400


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From the head\n---\n# Other", "From the head"),
        ("## a\n# b\n# c", "b"),
        ("## only\n### under", "only"),
        ("## one\n## two", ""),
        ("text", ""),
        ("", ""),
    ],
)
def test_a_page_is_called_by_its_front_matter_else_by_its_top_heading(
    text: str, title: str
) -> None:
    assert read("page.md", text).title == title


def test_a_text_file_is_one_lead() -> None:
    page = read("notes.TXT", "\n# no heading\n\nsecond\n")
    (part,) = page.parts
    assert (part.id, part.level, part.breadcrumb, part.start, part.end) == ("", 0, (), 2, 4)
    assert part.passages[0].text == "# no heading\n\nsecond"


@pytest.mark.parametrize("path", ["a.md", "a.mdx", "a.adoc", "a.txt", "a"])
@pytest.mark.parametrize("text", ["", "\n", " \n\t\n"])
def test_an_empty_page_has_no_parts(path: str, text: str) -> None:
    assert read(path, text).parts == ()
