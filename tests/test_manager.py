"""One door to many libraries: fan-out, deadlines, fusion, cache."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from refdesk.errors import (
    Busy,
    InvalidRef,
    NotFound,
    OpenError,
    Unavailable,
    UnknownLibrary,
)
from refdesk.manager import CALLS_PER_LIBRARY, CorpusManager
from refdesk.model import Hit, State
from refdesk.settings import Settings
from shelves import Gate, MemoryLibrary, Opener, manifest_of


@asynccontextmanager
async def desk(
    tmp_path: Path, *libraries: MemoryLibrary, **settings: object
) -> AsyncIterator[CorpusManager]:
    values = {"watch": False, "search_timeout": 0.3, **settings}
    manifest = manifest_of(tmp_path, *(library.name for library in libraries))
    manager = CorpusManager(manifest, Settings.load(**values), Opener(*libraries))
    try:
        yield manager
    finally:
        await manager.close()


def fail_with(error: Exception) -> Callable[[], None]:
    def fault() -> None:
        raise error

    return fault


async def test_every_library_is_searched_and_the_answers_are_one_list(tmp_path: Path) -> None:
    one = MemoryLibrary("One", {"alpha": "red apple"}, scores={"alpha": 2.0})
    two = MemoryLibrary("Two", {"beta": "green apple"}, scores={"beta": 3.0})
    async with desk(tmp_path, one, two) as manager:
        answer = await manager.search("apple", limit=5)
    assert [hit.title for hit in answer.hits] == ["beta", "alpha"]
    assert [hit.snippet for hit in answer.hits] == ["green apple", "red apple"]
    assert answer.degraded == ()


async def test_libraries_whose_scores_do_not_compare_are_fused_by_rank(tmp_path: Path) -> None:
    loud = MemoryLibrary("Loud", {"l1": "x", "l2": "x"}, "a", {"l1": 900.0, "l2": 800.0})
    calm = MemoryLibrary("Calm", {"c1": "x", "c2": "x"}, "b", {"c1": 0.2, "c2": 0.1})
    async with desk(tmp_path, loud, calm) as manager:
        answer = await manager.search("x", limit=4)
    assert [hit.title for hit in answer.hits] == ["l1", "c1", "l2", "c2"]


async def test_between_such_libraries_a_title_that_covers_the_query_counts(tmp_path: Path) -> None:
    one = MemoryLibrary("One", {"Notes": "persistent disk", "Misc": "disk"}, "a")
    two = MemoryLibrary("Two", {"Other": "disk", "Persistent disk size": "disk"}, "b")
    async with desk(tmp_path, one, two) as manager:
        answer = await manager.search("persistent disk", limit=4)
    assert answer.hits[0].title == "Persistent disk size"


async def test_a_page_whose_title_is_the_query_comes_first(tmp_path: Path) -> None:
    pages = {"other": "ray charles", "Ray Charles": "a singer named ray charles"}
    library = MemoryLibrary("One", pages, scores={"other": 9.0, "Ray Charles": 1.0})
    async with desk(tmp_path, library) as manager:
        answer = await manager.search("ray charles", limit=2)
    assert answer.hits[0].title == "Ray Charles"


async def test_one_library_can_be_asked_alone_in_any_case(tmp_path: Path) -> None:
    one, two = MemoryLibrary("One", {"a": "x"}), MemoryLibrary("Two", {"b": "x"})
    async with desk(tmp_path, one, two) as manager:
        answer = await manager.search("x", limit=5, library="two")
        assert [hit.title for hit in answer.hits] == ["b"]
        with pytest.raises(UnknownLibrary, match="configured are One, Two"):
            await manager.search("x", limit=5, library="Three")


async def test_snippets_are_cut_for_the_survivors_only(tmp_path: Path) -> None:
    library = MemoryLibrary("One", {f"p{number}": "x" for number in range(20)})
    async with desk(tmp_path, library) as manager:
        answer = await manager.search("x", limit=3)
    assert len(answer.hits) == 3
    assert sorted(library.cut) == sorted(hit.title for hit in answer.hits)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(Unavailable("being indexed"), "being indexed"), (ValueError("secret /path"), "server's log")],
)
async def test_a_library_that_fails_is_named_and_the_others_answer(
    tmp_path: Path, error: Exception, reason: str
) -> None:
    good = MemoryLibrary("Good", {"a": "x"})
    bad = MemoryLibrary("Bad", {"b": "x"}, fault=fail_with(error))
    async with desk(tmp_path, good, bad) as manager:
        answer = await manager.search("x", limit=5)
    assert [hit.title for hit in answer.hits] == ["a"]
    (degraded,) = answer.degraded
    assert degraded.library == "Bad"
    assert reason in degraded.reason
    assert "secret" not in degraded.reason


async def test_a_library_that_fails_to_show_a_hit_spoils_no_other(tmp_path: Path) -> None:
    class Torn(MemoryLibrary):
        def passage(self, hit: Hit) -> str:
            raise ValueError("torn page")

    good, torn = MemoryLibrary("Good", {"a": "x y"}), Torn("Torn", {"b": "x"})
    async with desk(tmp_path, good, torn) as manager:
        answer = await manager.search("x", limit=5)
    assert {hit.title: hit.snippet for hit in answer.hits} == {"a": "x y", "b": ""}


async def test_a_library_that_is_late_is_named_and_the_others_answer(tmp_path: Path) -> None:
    gate = Gate()
    good = MemoryLibrary("Good", {"a": "x"})
    slow = MemoryLibrary("Slow", {"b": "x"}, fault=gate)
    async with desk(tmp_path, good, slow) as manager:
        answer = await manager.search("x", limit=5)
        gate.open()
    assert [hit.title for hit in answer.hits] == ["a"]
    assert "did not answer within 0.3 s" in answer.degraded[0].reason


async def test_a_library_that_hangs_cannot_take_every_thread(tmp_path: Path) -> None:
    gate = Gate()
    good = MemoryLibrary("Good", {"a": "x"})
    stuck = MemoryLibrary("Stuck", {"b": "x"}, fault=gate)
    async with desk(tmp_path, good, stuck) as manager:
        searches = [manager.search("x", limit=5) for _ in range(CALLS_PER_LIBRARY * 6)]
        answers = await asyncio.gather(*searches)
        with pytest.raises(Busy, match="Stuck"):
            await manager.fetch("corpus://Stuck/b")
        gate.open()
    named = [one.library for answer in answers for one in answer.degraded]
    assert named.count("Stuck") == len(searches)
    assert sum(bool(answer.hits) for answer in answers) >= CALLS_PER_LIBRARY


async def test_a_better_spelling_is_offered_only_when_the_answer_is_weak(tmp_path: Path) -> None:
    weak = MemoryLibrary("One", {"a": "x"}, weak=True, did_you_mean="asyncio")
    async with desk(tmp_path, weak) as manager:
        assert (await manager.search("asyncoi", limit=5)).did_you_mean == "asyncio"
    strong = MemoryLibrary("Two", {"a": "asyncoi"})
    async with desk(tmp_path, weak, strong) as manager:
        assert (await manager.search("asyncoi", limit=5)).did_you_mean == ""


async def test_a_document_is_fetched_by_ref_or_by_an_address_a_library_knows(
    tmp_path: Path,
) -> None:
    library = MemoryLibrary("One", {"alpha": "text"})
    async with desk(tmp_path, library) as manager:
        by_ref = await manager.fetch(" corpus://One/alpha ")
        by_url = await manager.fetch("https://one.example/alpha")
        assert by_ref == by_url
        with pytest.raises(NotFound, match="nothing is loaded from the web"):
            await manager.fetch("https://evil.example/alpha")
        with pytest.raises(NotFound) as missing:
            await manager.fetch("corpus://One/beta")
        assert missing.value.details["suggestions"] == ["corpus://One/alpha"]
        with pytest.raises(UnknownLibrary):
            await manager.fetch("corpus://Two/alpha")


@pytest.mark.parametrize("ref", ["", "alpha", "/etc/passwd", "file:///etc/passwd", "corpus://"])
async def test_nothing_else_can_be_fetched(tmp_path: Path, ref: str) -> None:
    library = MemoryLibrary("One", {"alpha": "text"})
    async with desk(tmp_path, library) as manager:
        with pytest.raises(InvalidRef):
            await manager.fetch(ref)
    assert library.fetched == []


async def test_documents_fetched_before_come_from_the_cache(tmp_path: Path) -> None:
    library = MemoryLibrary("One", {"a": "x" * 400, "b": "x" * 400, "c": "x" * 400})
    async with desk(tmp_path, library, cache_bytes=2000) as manager:
        for path in ("a", "a", "b", "a", "c", "b"):
            await manager.fetch(f"corpus://One/{path}")
    assert library.fetched == ["a", "b", "c", "b"]


async def test_a_document_larger_than_the_cache_is_served_all_the_same(tmp_path: Path) -> None:
    library = MemoryLibrary("One", {"a": "x" * 4000})
    async with desk(tmp_path, library, cache_bytes=100) as manager:
        for _ in range(2):
            assert (await manager.fetch("corpus://One/a")).size == 4000
    assert library.fetched == ["a", "a"]


async def test_entries_are_paged_across_libraries(tmp_path: Path) -> None:
    one = MemoryLibrary("One", {f"a{number:03}": "" for number in range(130)})
    two = MemoryLibrary("Two", {f"b{number:03}": "" for number in range(90)})
    async with desk(tmp_path, one, two) as manager:
        seen, cursor, pages = [], "", 0
        while True:
            page, cursor = await manager.entries(cursor=cursor)
            seen += [entry.path for entry in page]
            pages += 1
            if not cursor:
                break
        assert seen == [*one.pages, *two.pages]
        assert pages == 3
        only, _ = await manager.entries("two", "b00")
        assert [entry.path for entry in only] == [f"b00{digit}" for digit in range(10)]
        with pytest.raises(InvalidRef):
            await manager.entries(cursor="nonsense")


async def test_starting_refreshes_every_library(tmp_path: Path) -> None:
    library = MemoryLibrary("One", {"a": "x"}, state=State.INDEXING)
    async with desk(tmp_path, library) as manager:
        before = manager.ready
        await manager.start()
        for _ in range(100):
            if manager.ready:
                break
            await asyncio.sleep(0.01)
        after = manager.ready
    assert (before, after, library.closed) == (False, True, True)


async def test_reindexing_reports_each_library_and_says_why_one_fails(tmp_path: Path) -> None:
    library = MemoryLibrary("One", {"a": "x"})
    async with desk(tmp_path, library) as manager:
        assert (await manager.reindex())["One"].unchanged == 1
        library.fault = fail_with(OpenError("the folder is gone"))
        with pytest.raises(Unavailable, match="the folder is gone"):
            await manager.reindex("One")


def test_a_library_that_cannot_be_opened_stops_the_start_unless_allowed(tmp_path: Path) -> None:
    class Broken(Opener):
        def __call__(self, entry: object, data_dir: Path) -> MemoryLibrary:
            raise OpenError("its folder is gone")

    manifest = manifest_of(tmp_path, "One")
    with pytest.raises(OpenError, match="gone"):
        CorpusManager(manifest, Settings.load(), Broken())
    manager = CorpusManager(manifest, Settings.load(allow_degraded=True), Broken())
    (library,) = manager.libraries
    assert (library.state, library.reason) == (State.FAILED, "its folder is gone")
    assert not manager.ready
    manager.shut()
