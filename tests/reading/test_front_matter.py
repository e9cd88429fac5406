"""What stands above a page: used where it is readable, never in the way where it is not."""

from __future__ import annotations

import pytest

from refdesk.reading import Page, read


def head(text: str) -> tuple[str, str, tuple[str, ...]]:
    page = read("page.md", text)
    return page.title, page.description, page.tags


@pytest.mark.parametrize(
    ("matter", "expected"),
    [
        ("title: Plain\n# a comment\ntags: [a, 'b c']", ("Plain", "", ("a", "b c"))),
        ('title: "Quoted: yes"\ndescription: >-\n  two\n  lines', ("Quoted: yes", "two lines", ())),
        ("title: 1.10\ntags:\n- one\n- two", ("1.10", "", ("one", "two"))),
        ("title: Not: valid: yaml\ntags: a, b c", ("Not: valid: yaml", "", ("a", "b c"))),
        ("title: [unclosed\nbroken {{ template }}", ("[unclosed", "", ())),
        ("title: ~\ntags: a b", ("", "", ("a", "b"))),
        ("a: &x 1\ntitle: *x", ("*x", "", ())),
        ("other: 1", ("", "", ())),
        ("", ("", "", ())),
    ],
)
def test_yaml_front_matter_gives_title_description_and_tags(
    matter: str, expected: tuple[str, str, tuple[str, ...]]
) -> None:
    text = f"---\n{matter}\n---\ntext"
    assert head(text) == expected
    assert read("page.md", text).parts[0].start == text.count("\n") + 1


@pytest.mark.parametrize(
    ("matter", "expected"),
    [
        ('title = "Cold storage"\n# draft = true\n[extra]', ("Cold storage", "", ())),
        ('[taxonomies]\ntags = ["x", "y"]', ("", "", ("x", "y"))),
        ('title = "Kept"\nbroken = = 1', ("Kept", "", ())),
        ('title = 5\ndescription = "d"', ("", "d", ())),
    ],
)
def test_toml_front_matter_gives_title_description_and_tags(
    matter: str, expected: tuple[str, str, tuple[str, ...]]
) -> None:
    assert head(f"+++\n{matter}\n+++\ntext") == expected


@pytest.mark.parametrize(
    "text",
    [
        "---\n\ntext between rules\n\n---\n",
        "---\ntitle: never closed\n\n# a",
        "+++\ntitle = 'never closed'",
        " ---\ntitle: indented\n---",
        "text\n---\ntitle: below\n---",
    ],
)
def test_what_only_looks_like_front_matter_is_text(text: str) -> None:
    page: Page = read("page.md", text)
    assert page.parts[0].start == 1


@pytest.mark.parametrize(
    "matter",
    [
        "title: " + "[" * 50_000,
        "title: " + "[" * 4_000,
        "tags:\n" + "- " * 4_000,
        "tags:\n" + "-  " * 2_500,
        "title:\n " + "? " * 4_000,
        "title: &a [*a, *a]",
        "title: !!python/x y",
    ],
)
def test_hostile_front_matter_costs_nothing(matter: str) -> None:
    assert [part.title for part in read("page.md", f"---\n{matter}\n---\n# a").parts] == ["a"]


def test_asciidoc_pages_may_carry_front_matter_too() -> None:
    page = read("page.adoc", "---\ntitle: Site title\n---\n= Heading\n\ntext")
    assert (page.title, page.parts[0].start) == ("Site title", 4)
