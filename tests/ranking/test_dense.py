"""Word scores and likeness in, one order out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.model import Scored
from refdesk.ranking.dense import CLIP, WEIGHT, blend, fuse, share

WORDS = st.dictionaries(st.integers(0, 20), st.floats(0.01, 100.0), max_size=8)
MEANING = st.dictionaries(st.integers(0, 20), st.floats(0.0, 1.0), max_size=12)


def test_a_share_grows_with_the_deviation_between_nothing_and_all() -> None:
    assert [share(-3.0), share(0.0), share(CLIP / 2), share(CLIP), share(99.0)] == [
        0.0,
        0.0,
        0.5,
        1.0,
        1.0,
    ]


@given(words=WORDS, meaning=MEANING)
def test_fusion_keeps_every_page_and_only_raises_scores(
    words: dict[int, float], meaning: dict[int, float]
) -> None:
    fused = fuse(words, meaning)
    assert set(fused) == (set(words) | set(meaning) if words else set())
    top = max(words.values(), default=0.0)
    for page, score in fused.items():
        assert words.get(page, 0.0) <= score <= top * (1 + WEIGHT) * 1.000001
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


@given(words=WORDS)
def test_without_meaning_the_words_decide_alone(words: dict[int, float]) -> None:
    assert fuse(words, {}) == words


@given(meaning=MEANING)
def test_what_words_find_nothing_for_stays_unanswered(meaning: dict[int, float]) -> None:
    assert fuse({}, meaning) == {}
    assert blend([], meaning, {}, 5) == []


@given(words=WORDS, meaning=MEANING, factor=st.floats(0.1, 10.0))
def test_the_scale_of_the_words_is_the_scale_of_the_result(
    words: dict[int, float], meaning: dict[int, float], factor: float
) -> None:
    once = fuse(words, meaning)
    scaled = fuse({page: score * factor for page, score in words.items()}, meaning)
    assert scaled == pytest.approx({page: score * factor for page, score in once.items()})


def test_a_page_that_means_it_passes_one_that_shares_words() -> None:
    scored = [Scored(1, 10, 8.0, 0.9), Scored(2, 10, 4.0, 0.5), Scored(3, 20, 6.0, 0.7)]
    found = blend(scored, {20: 0.9}, {}, limit=5)
    assert [one.passage for one in found] == [3, 1, 2]
    assert found[0].score == pytest.approx(6.0 + 8.0 * WEIGHT * 0.9)
    assert [one.coverage for one in found] == [0.7, 0.9, 0.5]


def test_the_passages_of_a_page_keep_their_proportions() -> None:
    scored = [Scored(1, 10, 8.0, 0.9), Scored(2, 10, 4.0, 0.5)]
    first, second = blend(scored, {10: 1.0}, {}, limit=5)
    assert first.score == pytest.approx(2 * second.score)


def test_a_page_that_words_missed_comes_with_its_first_passage() -> None:
    scored = [Scored(1, 10, 8.0, 0.9)]
    found = blend(scored, {20: 1.0, 30: 0.9, 40: 0.1}, {20: 7, 40: 9}, limit=3)
    assert [(one.passage, one.document) for one in found] == [(1, 10), (7, 20)]
    assert found[1].coverage == 0.0
