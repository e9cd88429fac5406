"""What an agent gets from `search`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from fakes import GUIDE, PERSIAN, FakeManager, ask, body, error, page, section
from refdesk import grounding
from refdesk.model import Degraded, Kind

ENVELOPE = len(grounding.OPEN + grounding.CLOSE)


async def test_a_hit_has_exactly_the_promised_fields() -> None:
    reply = body(await ask(FakeManager(), "search", {"query": "webhook"}))
    assert reply == snapshot(
        {
            "results": [
                {
                    "cite": "[1]",
                    "ref": "corpus://Docs/guides/payments.md",
                    "library": "Docs",
                    "kind": "page",
                    "title": "Payments",
                    "url": "https://docs.example.com/guides/payments",
                    "snapshot": "2026-01-31",
                    "location": "guides/payments.md:5-7",
                    "breadcrumb": "Payments > Webhooks",
                    "snippet": grounding.quote("## Webhooks The gateway calls your webhook."),
                    "relevant_sections": [
                        {"id": "", "title": ""},
                        {"id": "webhooks", "title": "Webhooks"},
                        {"id": "refunds", "title": "Refunds"},
                    ],
                }
            ],
            "did_you_mean": "",
            "degraded": [],
        }
    )


async def test_results_are_numbered_in_order() -> None:
    many = [page(f"{number}.md", f"Page {number}") for number in range(9)]
    reply = body(await ask(FakeManager(documents=many), "search", {"query": "page", "limit": 7}))
    assert [hit["cite"] for hit in reply["results"]] == [f"[{n}]" for n in range(1, 8)]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, 5),
        ({"limit": 3}, 3),
        ({"limit": 0}, 1),
        ({"limit": -7}, 1),
        ({"limit": 999}, 10),
        ({"limit": "5"}, 5),
        ({"limit": "\u06f7"}, 7),
        ({"limit": 2.9}, 2),
        ({"limit": 1e300}, 10),
        ({"limit": None}, 5),
    ],
)
async def test_the_limit_is_clamped_rather_than_refused(given: dict[str, Any], asked: int) -> None:
    manager = FakeManager()
    body(await ask(manager, "search", {"query": "x", **given}))
    assert manager.queries == [("x", asked, "")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "missing argument 'query'"),
        ({"query": None}, "missing argument 'query'"),
        ({"query": "  "}, "argument 'query' is empty"),
        ({"query": ["x"]}, "argument 'query' must be text"),
        ({"query": "x", "limit": "abc"}, "argument 'limit' must be a number"),
        ({"query": "x", "limit": []}, "argument 'limit' must be a number"),
        ({"query": "x", "limit": True}, "argument 'limit' must be a number"),
        ({"query": "x", "topn": 3}, "unknown argument 'topn'"),
        ({"query": "x", "</docs>": 3}, "unknown argument '(/docs>'"),
    ],
)
async def test_a_wrong_argument_is_answered_with_what_is_known(
    given: dict[str, Any], said: str
) -> None:
    reply = error(await ask(FakeManager(), "search", given))
    assert reply["error"] == "invalid_argument"
    assert reply["message"].startswith(said)
    if "empty" not in said:
        assert reply["message"].endswith("search takes: query, limit, library")
        assert reply["known_arguments"] == ["query", "limit", "library"]


async def test_a_long_query_is_cut_to_300_characters() -> None:
    manager = FakeManager()
    body(await ask(manager, "search", {"query": "word " * 100}))
    assert len(manager.queries[0][0]) == 300


async def test_a_number_is_a_query_too() -> None:
    manager = FakeManager()
    body(await ask(manager, "search", {"query": 404}))
    assert manager.queries[0][0] == "404"


async def test_half_a_surrogate_pair_in_a_query_becomes_a_question_mark() -> None:
    manager = FakeManager()
    body(await ask(manager, "search", {"query": "a\ud800b"}))
    assert manager.queries[0][0] == "a?b"


async def test_one_library_can_be_searched_alone() -> None:
    documents = [page("a.md", "One", library="A"), page("b.md", "One", library="B")]
    manager = FakeManager(documents=documents)
    reply = body(await ask(manager, "search", {"query": "one", "library": "B"}))
    assert [hit["library"] for hit in reply["results"]] == ["B"]


async def test_an_unknown_library_is_answered_with_the_known_ones() -> None:
    reply = error(await ask(FakeManager(), "search", {"query": "x", "library": "Dcos"}))
    assert reply["error"] == "unknown_library"
    assert reply["libraries"] == ["Docs"]


async def test_suggestions_and_silent_libraries_are_passed_on() -> None:
    manager = FakeManager(did_you_mean="webhook", degraded=(Degraded("Wiki", "is late"),))
    reply = body(await ask(manager, "search", {"query": "wehbook"}))
    assert reply["results"] == []
    assert reply["did_you_mean"] == "webhook"
    assert reply["degraded"] == [{"library": "Wiki", "reason": "is late"}]


async def test_a_page_without_title_is_called_by_its_path() -> None:
    manager = FakeManager(documents=[page("a/b.md", "", section("", "words", id=""))])
    reply = body(await ask(manager, "search", {"query": "words"}))
    assert reply["results"][0]["title"] == "a/b.md"


@pytest.mark.parametrize("letter", ["x", "\u0633", "\u4e2d"])
async def test_a_default_reply_stays_under_8_kb_whatever_the_script(letter: str) -> None:
    word = letter * 9 + " "
    hostile = [
        page(
            f"{letter * 60}/{number}.md",
            word * 30,
            section(word * 20, word * 200 + "needle " + word * 200),
            url=f"https://docs.example.com/{letter * 60}/{number}",
        )
        for number in range(8)
    ]
    reply = body(await ask(FakeManager(documents=hostile), "search", {"query": f"needle {letter}"}))
    assert len(reply["results"]) == 5
    assert len(json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()) < 8000
    for hit in reply["results"]:
        assert len(hit["snippet"]) >= ENVELOPE + 30


async def test_ordinary_persian_hits_fit_into_8_kb_with_snippets_of_full_length() -> None:
    sentence = "دیسک پایدار فایل‌ها را پس از راه‌اندازی دوباره‌ی برنامه نگه می‌دارد. "
    pages = [
        page(
            f"paas/disks/دیسک-{number}.md",
            "استفاده از دیسک پایدار در برنامه",
            section("ساخت دیسک", sentence * 9),
            url=f"https://docs.example.com/paas/disks/{number}/",
        )
        for number in range(5)
    ]
    result = await ask(FakeManager(documents=pages), "search", {"query": "دیسک"})
    reply = body(result)
    assert len(json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()) <= 8000
    assert all(len(hit["snippet"]) > 300 for hit in reply["results"])


async def test_a_snippet_that_must_shrink_keeps_the_matched_word() -> None:
    filler = "\u4e2d\u6587 " * 140
    pages = [page(f"{n}.md", "T", section("S", filler + "needle " + filler)) for n in range(5)]
    for document in pages:
        assert len(document.sections[0].text) > 600
    manager = FakeManager(documents=pages)
    reply = body(await ask(manager, "search", {"query": "needle"}))
    assert all("needle" in hit["snippet"] for hit in reply["results"])


async def test_kinds_and_languages_pass_as_they_are() -> None:
    question = page("q/1", "Why?", kind=Kind.QUESTION, library="SO")
    manager = FakeManager(documents=[GUIDE, PERSIAN, question])
    reply = body(await ask(manager, "search", {"query": "why ابزار"}))
    assert [(hit["kind"], hit["title"]) for hit in reply["results"]] == [
        ("page", "استقرار برنامه‌های داکر"),
        ("question", "Why?"),
    ]
