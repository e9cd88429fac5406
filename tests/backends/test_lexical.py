from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tantivy

from refdesk.backends.lexical import LexicalReader, LexicalWriter
from refdesk.errors import OpenError, RefdeskError
from refdesk.model import Clause, Group, Plan
from refdesk.ranking import analysis
from refdesk.ranking.plan import plan


def fields(title: str, body: str = "") -> dict[str, str]:
    return analysis.fields(title=title, breadcrumb=(title,), path="page.md", body=body)


def index(folder: Path, titles: Sequence[str], first: int = 0) -> None:
    """Add one document of two passages per title."""
    writer = LexicalWriter(folder)
    for number, title in enumerate(titles, first):
        writer.add(number * 2, number, fields(title))
        writer.add(number * 2 + 1, number, fields(title, "more of it"))
    writer.commit()
    writer.close()


def documents(folder: Path, query: str) -> set[int]:
    reader = LexicalReader(folder)
    found = reader.search(plan(query, reader), 500)
    reader.close()
    return {hit.document for hit in found}


def test_what_was_committed_is_found_with_its_ids(tmp_path: Path) -> None:
    index(tmp_path, ["apples", "pears"])
    reader = LexicalReader(tmp_path)
    hits = reader.search(plan("pears", reader), 10)
    assert {(hit.passage, hit.document) for hit in hits} == {(2, 1), (3, 1)}
    assert reader.passages == 4
    reader.close()


def test_what_was_not_committed_is_lost(tmp_path: Path) -> None:
    writer = LexicalWriter(tmp_path)
    writer.commit()
    writer.add(1, 1, fields("apples"))
    writer.close()
    assert documents(tmp_path, "apples") == set()


def test_a_deleted_document_is_gone_and_its_new_passages_stay(tmp_path: Path) -> None:
    index(tmp_path, ["apples", "pears"])
    writer = LexicalWriter(tmp_path)
    writer.delete(0)
    writer.add(9, 0, fields("plums"))
    writer.commit()
    writer.close()
    assert documents(tmp_path, "apples") == set()
    assert documents(tmp_path, "plums") == {0}
    assert documents(tmp_path, "pears") == {1}


def test_an_index_of_hard_links_grows_without_touching_the_old_one(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    index(old, [f"apples {number}" for number in range(50)])
    before = {path.name: path.read_bytes() for path in old.iterdir()}
    reader = LexicalReader(old)
    new.mkdir()
    for path in old.iterdir():
        os.link(path, new / path.name)
    for round_ in range(10):  # enough segments for a merge
        index(new, [f"pears {round_}"], first=100 + round_)
        writer = LexicalWriter(new)
        writer.delete(round_)
        writer.commit()
        writer.close()
    assert {path.name: path.read_bytes() for path in old.iterdir()} == before
    assert len(reader.search(plan("apples", reader), 200)) == 100
    reader.close()
    assert len(documents(old, "apples")) == 50
    assert documents(old, "pears") == set()
    assert documents(new, "pears") == set(range(100, 110))
    assert documents(new, "apples") <= set(range(10, 50))


def test_a_reader_keeps_its_state_while_the_folder_moves_on(tmp_path: Path) -> None:
    index(tmp_path, ["apples"])
    reader = LexicalReader(tmp_path)
    index(tmp_path, ["pears"], first=5)
    assert reader.search(plan("pears", reader), 5) == []
    assert documents(tmp_path, "pears") == {5}


def test_two_writers_are_refused(tmp_path: Path) -> None:
    writer = LexicalWriter(tmp_path)
    with pytest.raises(OpenError, match="cannot be written"):
        LexicalWriter(tmp_path)
    writer.close()


def test_a_folder_without_an_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OpenError, match="cannot be read"):
        LexicalReader(tmp_path)
    with pytest.raises(OpenError):
        LexicalReader(tmp_path / "nowhere")


def test_an_index_of_another_format_is_refused(tmp_path: Path) -> None:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words")
    tantivy.Index(builder.build(), str(tmp_path))
    with pytest.raises(OpenError, match="another format"):
        LexicalReader(tmp_path)
    with pytest.raises(OpenError):
        LexicalWriter(tmp_path)


@pytest.mark.parametrize("kind", ["meta.json", ".idx", ".term", ".fast", ".pos", ".fieldnorm"])
def test_a_damaged_index_is_an_error_of_ours(tmp_path: Path, kind: str) -> None:
    index(tmp_path, [f"apples {number}" for number in range(300)])
    (damaged,) = [path for path in tmp_path.iterdir() if path.name.endswith(kind)]
    data = damaged.read_bytes()
    for cut in (data[: len(data) // 2], b"\xff" * len(data), data[:-40] + bytes(40)):
        damaged.write_bytes(cut)
        with pytest.raises(RefdeskError):
            LexicalReader(tmp_path).search(plan("apples", LexicalReader(tmp_path)), 5)


def test_a_passage_that_meets_more_of_the_query_stands_first(tmp_path: Path) -> None:
    writer = LexicalWriter(tmp_path)
    writer.add(1, 1, fields("Logo"))
    writer.add(2, 2, fields("Changing the header", "Replace the logo by an image of your own " * 9))
    writer.add(3, 3, fields("Header"))
    for number in range(4, 60):
        writer.add(number, number, fields(f"Other {number}"))
    writer.commit()
    writer.close()
    reader = LexicalReader(tmp_path)
    first, second, *_ = reader.search(plan("replace header logo image", reader), 10)
    assert first.document == 2
    assert first.coverage == pytest.approx(1.0)
    assert second.coverage < 0.6


def test_more_groups_than_one_mask_holds_are_all_counted(tmp_path: Path) -> None:
    words = [f"w{number:02d}x" for number in range(40)]
    writer = LexicalWriter(tmp_path)
    writer.add(1, 1, {"body": " ".join(words)})
    writer.add(2, 2, {"body": " ".join(words[:10])})
    writer.commit()
    writer.close()
    groups = tuple(Group(word, (Clause("body", (word,), 1.0),), 1.0) for word in words)
    hits = LexicalReader(tmp_path).search(Plan(groups), 5)
    assert [hit.coverage for hit in hits] == [1.0, 0.25]


def test_a_guess_is_credited_with_less(tmp_path: Path) -> None:
    index(tmp_path, ["apples"])
    group = Group("appels", (Clause("body", ("more",), 1.0),), 2.0, credit=0.5)
    reader = LexicalReader(tmp_path)
    assert reader.search(Plan((group,)), 1)[0].coverage == 0.5


def test_terms_are_counted_and_listed_by_prefix(tmp_path: Path) -> None:
    index(tmp_path, ["apples", "apple pie", "pears"])
    reader = LexicalReader(tmp_path)
    assert reader.frequency("head", "appl") == 4
    assert reader.frequency("head", "none") == 0
    assert reader.beginning("exact", "appl", 10) == [("apple", 2), ("apples", 2)]
    assert len(reader.beginning("exact", "", 2)) == 2


def test_many_threads_get_the_same_answers(tmp_path: Path) -> None:
    index(tmp_path, [f"apples number {number}" for number in range(100)])
    reader = LexicalReader(tmp_path)
    queries = [f"apples {number}" for number in range(40)] * 3

    def answer(query: str) -> list[int]:
        return [hit.passage for hit in reader.search(plan(query, reader), 5)]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answer, queries)) == [answer(query) for query in queries]
