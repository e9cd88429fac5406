"""Included AsciiDoc: followed through the caller, never in circles, each line with its own file."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from refdesk.reading import Page, read
from refdesk.reading.directives import MAX_DEPTH, MAX_INCLUDES


class Folder:
    """A shelf of files by path; refuses what it does not hold and counts what it is asked."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.asked: list[tuple[str, str]] = []

    def __call__(self, source: str, target: str) -> tuple[str, str] | None:
        self.asked.append((source, target))
        folder, _, _ = source.rpartition("/")
        path = f"{folder}/{target}" if folder else target
        return (path, self.files[path]) if path in self.files else None

    def read(self, path: str) -> Page:
        return read(path, self.files[path], self)


def rows(page: Page) -> list[tuple[str, str, int, int, str]]:
    return [
        (part.title, passage.file, passage.start, passage.end, passage.text)
        for part in page.parts
        for passage in part.passages
    ]


def test_included_lines_keep_their_own_file_and_numbers() -> None:
    folder = Folder(
        {
            "docs/a.adoc": "= A\n\nbefore\n\ninclude::parts/b.adoc[leveloffset=+1]\n\nafter\n",
            "docs/parts/b.adoc": ":x: 1\n\n= B\n\nb {x}\n\n== C\n\nc\n",
        }
    )
    page = folder.read("docs/a.adoc")
    assert rows(page) == [
        ("A", "", 1, 5, "= A\n\nbefore"),
        ("B", "docs/parts/b.adoc", 3, 5, "== B\n\nb 1"),
        ("C", "docs/parts/b.adoc", 7, 9, "=== C\n\nc"),
        ("C", "", 6, 7, "after"),
    ]
    assert [part.breadcrumb for part in page.parts] == [("A",), ("A", "B"), ("A", "B", "C")]
    assert (page.parts[2].start, page.parts[2].end) == (7, 9)


def test_targets_are_asked_for_from_the_including_file_with_attributes_replaced() -> None:
    folder = Folder(
        {"a.adoc": ":dir: x\n\ninclude::{dir}/b.adoc[]\n", "x/b.adoc": "include::c.adoc[]\n"}
    )
    folder.read("a.adoc")
    assert folder.asked == [("a.adoc", "x/b.adoc"), ("x/b.adoc", "c.adoc")]


def test_what_is_refused_leaves_no_trace() -> None:
    page = Folder({"a.adoc": "= A\n\ninclude::/etc/passwd[]\n\ninclude::../../x[]\n\nend\n"}).read(
        "a.adoc"
    )
    assert rows(page) == [("A", "", 1, 7, "= A\n\nend")]


@pytest.mark.parametrize(
    "text",
    [
        "\\include::b.adoc[]",
        "////\ninclude::b.adoc[]\n////",
        "text include::b.adoc[]",
        "include::https://x.invalid/b.adoc[]",
        "include::b.adoc",
    ],
)
def test_what_is_no_include_asks_for_nothing(text: str) -> None:
    folder = Folder({"a.adoc": text, "b.adoc": "no"})
    folder.read("a.adoc")
    assert folder.asked == []


def test_a_page_without_a_way_to_include_reads_all_the_same() -> None:
    assert [part.title for part in read("a.adoc", "== A\n\ninclude::b[]\n\n== B").parts] == [
        "A",
        "B",
    ]


def test_files_that_include_each_other_end() -> None:
    folder = Folder(
        {
            "a.adoc": "a\n\ninclude::b.adoc[]\n",
            "b.adoc": "b\n\ninclude::a.adoc[]\n\ninclude::b.adoc[]\n",
        }
    )
    assert [row[4] for row in rows(folder.read("a.adoc"))] == ["a", "b"]


def test_a_chain_of_files_is_followed_to_a_depth() -> None:
    files = {f"{n}.adoc": f"line {n}\n\ninclude::{n + 1}.adoc[]\n" for n in range(40)}
    texts = [row[4] for row in rows(Folder(files).read("0.adoc"))]
    assert texts == [f"line {n}" for n in range(MAX_DEPTH + 1)]


def test_files_that_multiply_are_followed_so_often_only() -> None:
    files = {f"{n}.adoc": f"include::{n + 1}.adoc[]\n" * 9 for n in range(12)}
    folder = Folder(files)
    folder.read("0.adoc")
    assert len(folder.asked) == MAX_INCLUDES


def test_one_file_may_be_included_twice() -> None:
    folder = Folder({"a.adoc": "include::b.adoc[]\n\ninclude::b.adoc[]\n", "b.adoc": "b\n"})
    assert [row[4] for row in rows(folder.read("a.adoc"))] == ["b", "b"]


CODE = "1\n# tag::a[]\n3\n# tag::b[]\n5\n# end::b[]\n7\n# end::a[]\n9\n"


@pytest.mark.parametrize(
    ("attributes", "lines"),
    [
        ("", "1 3 5 7 9"),
        ("lines=3..5", "3 5"),
        ('lines="1;7..-1"', "1 7 9"),
        ("lines=5..", "5 7 9"),
        ("tag=a", "3 5 7"),
        ("tags=b", "5"),
        ("tags=a;!b", "3 7"),
        ("tags=**", "1 3 5 7 9"),
        ("tags=*", "3 5 7"),
        ("tags=!b", "1 3 7 9"),
        ("tag=none", ""),
    ],
)
def test_an_include_may_ask_for_some_lines(attributes: str, lines: str) -> None:
    folder = Folder({"a.adoc": f"----\ninclude::c.py[{attributes}]\n----\n", "c.py": CODE})
    text = "\n".join(row[4] for row in rows(folder.read("a.adoc")))
    assert " ".join(line for line in text.split("\n") if line.isdigit()) == lines


def test_included_code_is_code_in_its_own_passage() -> None:
    folder = Folder({"a.adoc": "== T\n\n----\ninclude::c.py[]\n----\n\nend\n", "c.py": "*x*\n"})
    assert rows(folder.read("a.adoc")) == [
        ("T", "", 1, 4, "== T\n\n----\n----"),
        ("T", "c.py", 1, 1, "----\n*x*\n----"),
        ("T", "", 5, 7, "----\n----\n\nend"),
    ]
