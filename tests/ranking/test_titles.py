"""When a query is a title."""

from __future__ import annotations

import pytest

from refdesk.ranking.titles import coverage, key

ZWNJ = "\u200c"


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("ray charles", "Ray Charles"),
        ("json.dumps", "json.dumps()"),
        ("اتصال به ديتابيس", "اتصال به دیتابیس"),
        (f"راه{ZWNJ}اندازی", "راه اندازی"),
        ("راه اندازی", "راه‌اندازی"),
        ("  What is  Rust?  ", "What Is Rust"),
    ],
)
def test_case_blanks_and_spelling_do_not_matter(query: str, title: str) -> None:
    assert key(query) == key(title) != ""


@pytest.mark.parametrize(
    ("query", "title"),
    [("", ""), (" ", "?"), ("ray", "Ray Charles"), ("charles ray", "Ray Charles")],
)
def test_less_than_the_whole_title_is_no_title(query: str, title: str) -> None:
    assert key(query) == "" or key(query) != key(title)


def test_coverage_is_the_share_of_the_query_that_a_title_holds() -> None:
    assert coverage("persistent disk", "Persistent disks") == 1.0
    assert coverage("persistent disk", "Disk") == 0.5
    assert coverage("persistent disk", "Networks") == coverage("", "Disk") == 0.0
