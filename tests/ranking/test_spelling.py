from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from refdesk.ranking import spelling


def counts(known: Mapping[str, int]) -> Callable[[str], int]:
    return lambda word: known.get(word, 0)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("timout", "timeout"),
        ("redircet", "redirect"),
        ("kubernetess", "kubernetes"),
        ("postgrasql", "postgresql"),
        ("حچم", ""),
        ("برنلمه", "برنامه"),
        ("رایکان", "رایگان"),
        ("настройкы", "настройки"),
    ],
)
def test_a_word_one_slip_away_is_found(typed: str, meant: str) -> None:
    known = counts({meant: 5, "другое": 3}) if meant else counts({})
    assert [word for word, _ in spelling.corrections(typed, known)] == ([meant] if meant else [])


def test_the_likelier_slip_comes_first() -> None:
    known = counts({"رایگان": 3, "رایتان": 3})
    assert spelling.corrections("رایکان", known)[0][0] == "رایگان"


def test_of_equal_slips_the_more_frequent_word_comes_first() -> None:
    known = counts({"coded": 1, "codes": 900})
    assert spelling.corrections("codeq", known)[0][0] == "codes"


@pytest.mark.parametrize("word", ["", "ab", "x" * 500])
def test_too_short_or_too_long_words_are_left_alone(word: str) -> None:
    assert spelling.corrections(word, lambda _: 1) == []


def test_joined_words_are_parted_where_both_halves_are_known() -> None:
    known = counts({"file": 9, "system": 9, "filesy": 1, "stem": 1})
    assert spelling.split("filesystem", known) == ("file", "system")
    assert spelling.split("nonsense", known) is None
