"""Fusing and spreading keep every item; only the order changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refdesk.ranking.diversity import copies, spread
from refdesk.ranking.fusion import fuse

rankings = st.lists(
    st.tuples(st.floats(0.1, 5.0), st.lists(st.integers(0, 30), max_size=12)), max_size=5
)


@given(rankings)
def test_fusion_keeps_every_item_once(lists: list[tuple[float, list[int]]]) -> None:
    fused = fuse(lists)
    assert set(fused) == {key for _, ranking in lists for key in ranking}


@given(rankings)
def test_fused_scores_fall(lists: list[tuple[float, list[int]]]) -> None:
    scores = list(fuse(lists).values())
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.integers(), unique=True, max_size=20), st.floats(0.1, 9.0))
def test_one_list_keeps_its_order(ranking: list[int], weight: float) -> None:
    assert list(fuse([(weight, ranking)])) == ranking


def test_what_two_lists_agree_on_comes_first() -> None:
    assert next(iter(fuse([(1.0, ["a", "b"]), (1.0, ["c", "b"])]))) == "b"


def test_a_heavier_list_wins_a_tie() -> None:
    assert list(fuse([(1.0, ["a"]), (2.0, ["b"])])) == ["b", "a"]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 3))
def test_spreading_keeps_every_item(items: list[int], per_group: int) -> None:
    assert sorted(spread(items, lambda item: item % 3, per_group)) == sorted(items)


def test_repeats_of_a_group_move_behind_the_others_in_order() -> None:
    items = ["a1", "a2", "b1", "a3", "c1", "b2"]
    assert spread(items, lambda item: item[0]) == ["a1", "b1", "c1", "a2", "a3", "b2"]
    assert spread(items, lambda item: item[0], 2) == ["a1", "a2", "b1", "c1", "b2", "a3"]


def test_copies_of_an_earlier_text_are_found() -> None:
    page = "open the disks tab and press create then choose a size and a name for {}"
    texts = [page.format("Django"), "something else entirely", page.format("Laravel"), "", ""]
    assert copies(texts) == {2}


@given(st.lists(st.text(alphabet="ab cd", max_size=20), max_size=8))
def test_a_text_is_a_copy_only_of_one_that_is_kept(texts: list[str]) -> None:
    found = copies(texts, alike=1.0)
    kept = [set(text.split()) for number, text in enumerate(texts) if number not in found]
    assert all(set(texts[number].split()) in kept for number in found)
    assert len({frozenset(words) for words in kept if words}) == sum(map(bool, kept))
