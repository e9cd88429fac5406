from __future__ import annotations

import pytest

from refdesk.ranking import persian


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("کتابها", "کتاب"),
        ("برنامههای", "برنامه"),
        ("دیسکهایی", "دیسک"),
        ("سریعترین", "سریع"),
        ("پروژهشان", "پروژه"),
        ("کاربری", "کاربر"),
        ("میخواهم", "خواهم"),
        ("نمیشود", "شود"),
    ],
)
def test_an_ending_or_a_verb_prefix_comes_off(word: str, stem: str) -> None:
    assert stem in persian.stems(word)


@pytest.mark.parametrize("word", ["ها", "می", "تر", "وب", "رم"])
def test_short_words_stay_whole(word: str) -> None:
    assert persian.stems(word) == ()


@pytest.mark.parametrize(
    ("word", "stem"),
    [("دیتابیسم", "دیتابیس"), ("کاربرا", "کاربر"), ("فایلامون", "فایل"), ("سایتو", "سایت")],
)
def test_spoken_endings_are_guessed_at(word: str, stem: str) -> None:
    assert stem in persian.spoken_stems(word)


def test_parts_leave_endings_and_verb_prefixes_out() -> None:
    assert persian.pieces("فایل\u200cسیستم\u200cها") == ("فایل", "سیستم")
    assert persian.pieces("می\u200cخواهم") == ("خواهم",)
    assert persian.pieces("حرفه\u200cای") == ("حرفه",)
    assert persian.pieces("سی\u200cال\u200cای") == ("سی", "ال", "ای")
    assert persian.pieces("ها") == ("ها",)


@pytest.mark.parametrize(
    ("word", "verb"),
    [("می\u200cکنم", True), ("نمی\u200cشود", True), ("میرور", False), ("میزبانی", False)],
)
def test_verbs_are_known_by_their_prefix(word: str, verb: bool) -> None:
    assert persian.is_verb(word) is verb
