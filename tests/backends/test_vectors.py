"""Vectors on disk: kept, stamped, refused when they are not ours; likeness is exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from refdesk.backends.vectors import JOURNAL, VECTORS, Likeness, Matrix, Store, corpus, key
from refdesk.errors import Unavailable


def units(*seeds: int, width: int = 8) -> Matrix:
    rows = np.array([np.random.default_rng(seed).normal(size=width) for seed in seeds])
    made: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return made


def keys(*texts: str) -> list[bytes]:
    return [key(text) for text in texts]


def same(rows: dict[bytes, Matrix], names: list[bytes], matrix: Matrix) -> bool:
    return list(rows) == names and bool((np.array(list(rows.values())) == matrix).all())


def test_a_new_folder_holds_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, "m")
    assert store.load() == {}
    assert store.corpus == ""


def test_published_vectors_come_back_with_the_hash_of_their_texts(tmp_path: Path) -> None:
    names, matrix = keys("a", "b"), units(1, 2)
    Store(tmp_path, "m").publish(dict(zip(names, matrix, strict=True)))
    store = Store(tmp_path, "m")
    assert same(store.load(), names, matrix)
    assert store.corpus == corpus(reversed(names))
    assert [path.name for path in tmp_path.iterdir()] == [VECTORS]


def test_what_is_noted_survives_without_being_published(tmp_path: Path) -> None:
    store = Store(tmp_path, "m")
    store.note(keys("a", "b"), units(1, 2))
    store.note(keys("c"), units(3))
    again = Store(tmp_path, "m")
    assert same(again.load(), keys("a", "b", "c"), units(1, 2, 3))
    assert again.corpus == ""


@pytest.mark.parametrize("lost", [1, 31, 33, 63])
def test_a_journal_cut_short_loses_its_last_row_only_and_goes_on(tmp_path: Path, lost: int) -> None:
    store = Store(tmp_path, "m")
    store.note(keys("a", "b"), units(1, 2))
    journal = tmp_path / JOURNAL
    journal.write_bytes(journal.read_bytes()[:-lost])
    assert same(Store(tmp_path, "m").load(), keys("a"), units(1))
    store.note(keys("c"), units(3))
    assert same(Store(tmp_path, "m").load(), keys("a", "c"), units(1, 3))


def test_publishing_ends_the_journal(tmp_path: Path) -> None:
    store = Store(tmp_path, "m")
    store.note(keys("a"), units(1))
    store.publish(store.load())
    assert not (tmp_path / JOURNAL).exists()
    assert same(Store(tmp_path, "m").load(), keys("a"), units(1))


def test_vectors_of_another_model_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path, "m")
    store.publish(dict(zip(keys("a"), units(1), strict=True)))
    store.note(keys("b"), units(2))
    other = Store(tmp_path, "n")
    assert other.load() == {}
    assert other.corpus == ""
    other.note(keys("c"), units(3))
    assert same(Store(tmp_path, "n").load(), keys("c"), units(3))


def test_vectors_of_another_width_are_not_mixed(tmp_path: Path) -> None:
    store = Store(tmp_path, "m")
    store.publish(dict(zip(keys("a"), units(1), strict=True)))
    store.note(keys("b"), units(2, width=4))
    assert same(Store(tmp_path, "m").load(), keys("a"), units(1))


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\xff" * 100,
        b"{}\n",
        b"[]\n",
        b'{"format":0,"model":"m","width":8,"corpus":""}\n',
        b'{"format":1,"model":"m","width":-8,"corpus":""}\n',
        b'{"format":1,"model":"m","width":"8","corpus":""}\n',
        b'{"format":1,"model":"m","width":8}\n',
        b'{"format":1,"model":"m","width":8,"corpus":"","more":1}\n',
    ],
)
@pytest.mark.parametrize("name", [VECTORS, JOURNAL])
def test_a_file_that_is_not_ours_is_as_good_as_none(
    tmp_path: Path, name: str, damage: bytes
) -> None:
    (tmp_path / name).write_bytes(damage)
    store = Store(tmp_path, "m")
    assert store.load() == {}
    store.note(keys("a"), units(1))
    assert same(Store(tmp_path, "m").load(), keys("a"), units(1))


def test_damaged_rows_are_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path, "m")
    store.note(keys("a", "b", "c"), units(1, 2, 3))
    journal = tmp_path / JOURNAL
    data = bytearray(journal.read_bytes())
    row = 32 + 8 * 4
    data[-2 * row + 32 : -row] = b"\xff" * 32  # the vector of b: all NaN
    journal.write_bytes(bytes(data))
    assert same(Store(tmp_path, "m").load(), keys("a", "c"), units(1, 3))


def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = Store(tmp_path / "file", "m")
    with pytest.raises(Unavailable, match="cannot be written"):
        store.note(keys("a"), units(1))
    with pytest.raises(Unavailable, match="cannot be written"):
        store.publish(dict(zip(keys("a"), units(1), strict=True)))


def test_forgotten_vectors_are_gone(tmp_path: Path) -> None:
    store = Store(tmp_path, "m")
    store.publish(dict(zip(keys("a"), units(1), strict=True)))
    store.note(keys("b"), units(2))
    store.forget()
    assert store.load() == {}


def test_the_likeness_of_a_page_is_the_mean_over_its_vectors() -> None:
    names, contents, query = units(*range(9)), units(*range(20, 29)), units(50)[0]
    pages = [f"p{number}" for number in range(9)]
    likeness = Likeness.of(pages, list(zip(names, contents, strict=True)))
    found = likeness.nearest(query, least=-99.0)
    scores = (names @ query + contents @ query) / 2
    wanted = (scores - scores.mean()) / scores.std()
    assert [found[page] for page in pages] == pytest.approx(wanted.tolist(), abs=1e-4)
    assert likeness.width == 8


def test_only_pages_above_the_limit_are_named() -> None:
    likeness = Likeness.of([f"p{n}" for n in range(30)], [(row,) for row in units(*range(30))])
    assert all(score > 1.0 for score in likeness.nearest(units(50)[0], least=1.0).values())


@pytest.mark.parametrize("count", [1, 5])
def test_pages_that_do_not_differ_say_nothing(count: int) -> None:
    likeness = Likeness.of([str(n) for n in range(count)], [(units(1)[0],)] * count)
    assert likeness.nearest(units(2)[0], least=0.0) == {}
