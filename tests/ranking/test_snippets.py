"""Snippets show why a passage matched, in any script, cut between words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.ranking import analysis
from refdesk.ranking.snippets import LIMIT, SHORTEST, Matcher

FILLING = "Lorem ipsum dolor sit amet consectetur. " * 60
PERSIAN_FILLING = "این متن فقط برای پر کردن صفحه نوشته شده است. " * 60


def cut(query: str, text: str, limit: int = LIMIT) -> str:
    words = [frozenset(analysis.word_terms(word)) for _, _, word in analysis.surface(query)]
    return Matcher(words).cut(text, limit)


def test_a_short_text_is_its_own_snippet() -> None:
    assert cut("b", "  a\n\n b \t c ") == "a b c"


@pytest.mark.parametrize(
    ("query", "hidden"),
    [
        ("health checks", "The health check asks the server."),
        ("کتاب", "کتاب\u200cهای تازه در این بخش آمده\u200cاند."),
        ("كتاب", "کتاب تازه رسید."),
        ("MÜLLER", "Herr Müller wohnt hier."),
        ("データベース", "このデータベースは安全です。"),
        ("target_link_libraries", "Call target_link_libraries(app z) once."),
        ("средство", "Это средство работает."),
    ],
)
def test_the_matched_words_are_in_the_snippet(query: str, hidden: str) -> None:
    for filling in (FILLING, PERSIAN_FILLING):
        snippet = cut(query, filling + hidden + " " + filling)
        assert hidden.split()[0].strip(".") in snippet
        assert len(snippet) <= LIMIT


def test_the_place_with_most_of_the_words_is_chosen() -> None:
    text = f"alpha {FILLING} beta {FILLING} alpha beta gamma {FILLING} gamma"
    assert "alpha beta gamma" in cut("gamma alpha beta", text)


def test_the_cut_falls_between_words_and_is_marked() -> None:
    text = FILLING + "needle " + FILLING
    snippet = cut("needle", text)
    assert snippet.startswith("…")
    assert snippet.endswith("…")
    words = set(re.findall(r"\w+", text))
    assert set(re.findall(r"\w+", snippet)) <= words


def test_a_snippet_begins_with_a_sentence_where_one_is_near() -> None:
    snippet = cut("needle", FILLING + "Here is the needle you wanted. " + FILLING)
    assert re.match(r"…(Lorem|Here)", snippet)


def test_without_a_match_the_beginning_is_shown() -> None:
    assert cut("absent", FILLING).startswith("Lorem ipsum")


@given(st.text(max_size=3000), st.text(max_size=30), st.integers(60, 700))
def test_a_snippet_keeps_its_limits_for_any_text(text: str, query: str, limit: int) -> None:
    snippet = cut(query, text, limit)
    assert len(snippet) <= limit
    flat = " ".join(text.split())
    assert len(snippet) >= min(SHORTEST, len(flat))
    assert snippet.strip("…").strip() in flat


def test_text_without_spaces_is_cut_all_the_same() -> None:
    snippet = cut("終了", "漢" * 2000 + "終了" + "漢" * 2000)
    assert len(snippet) <= LIMIT
    assert "終了" in snippet
