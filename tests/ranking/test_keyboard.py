from __future__ import annotations

import pytest

from refdesk.ranking import keyboard


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("nh;v", "داکر"),
        ("fhrhj", "باقات"),
        ("nshjdh", "دساتیا"),
        ("سثقرثق", "server"),
        ("یخئشهد", "domain"),
        ("یخپشهد", "domain"),
    ],
)
def test_a_word_is_read_in_the_other_layout(typed: str, meant: str) -> None:
    assert meant in keyboard.other_layout(typed)


@pytest.mark.parametrize("typed", ["", "a!", "سلامa", "日本", "\0", "🙂"])
def test_what_neither_layout_can_type_has_no_reading(typed: str) -> None:
    assert keyboard.other_layout(typed) == ()
