"""The application as its clients meet it: endpoints, both protocol eras, health, load."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from inline_snapshot import snapshot

import refdesk
from fakes import JSON, MODERN, FakeManager, call, http, message, modern, settings
from refdesk.model import State
from refdesk.server.app import create_app
from refdesk.tools.desk import Manager


async def post(manager: Manager, request: dict[str, Any], **values: Any) -> dict[str, Any]:
    """The answer to one legacy request."""
    async with http(create_app(manager, settings(**values))) as client:
        response = await client.post("/mcp", json=request, headers=JSON)
    assert response.status_code == 200
    answer: dict[str, Any] = response.json()
    return answer


async def test_the_first_request_is_answered() -> None:
    assert (await post(FakeManager(), call("search", {"query": "webhook"})))["result"]


async def test_an_application_starts_and_closes_its_manager_once() -> None:
    manager = FakeManager()
    async with http(create_app(manager, settings())) as client:
        await client.post("/mcp", json=message("tools/list"), headers=JSON)
        await client.post("/mcp", json=message("tools/list"), headers=JSON)
        assert (manager.started, manager.closed) == (1, 0)
    assert (manager.started, manager.closed) == (1, 1)


async def test_every_application_is_a_fresh_one() -> None:
    for _ in range(2):
        assert await post(FakeManager(), message("tools/list"))


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_both_spellings_of_the_path_are_served_without_redirect(path: str) -> None:
    async with http(create_app(FakeManager(), settings())) as client:
        headers = {**JSON, "x-forwarded-proto": "https"}
        legacy = await client.post(path, json=message("tools/list"), headers=headers)
        sent, body = modern(message("tools/list"))
        new = await client.post(path, json=body, headers=sent)
    assert [legacy.status_code, new.status_code] == [200, 200]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_every_version_with_a_handshake_is_spoken(version: str) -> None:
    hello = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    result = (await post(FakeManager(), message("initialize", hello)))["result"]
    assert result["protocolVersion"] == version
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert result["serverInfo"] == {"name": "refdesk", "version": refdesk.__version__}
    assert result["instructions"]


async def test_the_version_without_handshake_is_spoken() -> None:
    headers, body = modern(message("server/discover"))
    async with http(create_app(FakeManager(), settings())) as client:
        response = await client.post("/mcp", json=body, headers=headers)
    result = response.json()["result"]
    assert result["supportedVersions"] == [MODERN]
    assert set(result["capabilities"]) == {"tools"}
    assert "mcp-session-id" not in response.headers


async def test_a_session_id_of_a_former_life_does_no_harm() -> None:
    async with http(create_app(FakeManager(), settings())) as client:
        headers = {**JSON, "mcp-session-id": "of-a-server-long-gone"}
        response = await client.post("/mcp", json=call("search", {"query": "x"}), headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"])
async def test_other_methods_are_refused_at_once(method: str) -> None:
    async with http(create_app(FakeManager(), settings())) as client:
        for path in ("/mcp", "/mcp/"):
            headers = {"accept": "text/event-stream"}
            async with asyncio.timeout(5):
                response = await client.request(method, path, headers=headers)
            assert response.status_code == 405
            assert response.headers["allow"] == "POST"


async def test_concurrent_calls_with_the_same_id_get_their_own_answers() -> None:
    words = ["webhook", "refund", "lead", "ابزار", "payments"]
    async with http(create_app(FakeManager(delay=0.02), settings())) as client:
        for era in ("legacy", "modern"):
            requests = [call("search", {"query": word}, id=1) for word in words]
            sent = [modern(request) if era == "modern" else (JSON, request) for request in requests]
            answers = await asyncio.gather(
                *(client.post("/mcp", json=body, headers=headers) for headers, body in sent)
            )
            for word, answer in zip(words, answers, strict=True):
                hits = answer.json()["result"]["structuredContent"]["results"]
                assert hits
                assert all(word in (hit["snippet"] + hit["title"]).lower() for hit in hits)


async def test_a_call_that_takes_too_long_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    from refdesk.tools import registry, search

    hasty = replace(search.TOOL, deadline=0.05)
    monkeypatch.setitem(registry._BY_NAME, "search", hasty)
    result = (await post(FakeManager(delay=5), call("search", {"query": "x"})))["result"]
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"]) == snapshot(
        {
            "error": "unavailable",
            "message": "no answer within 0.05 seconds: try again, or ask for less",
        }
    )


async def test_a_fault_of_ours_is_logged_in_one_line_and_ends_only_its_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    secret = ZeroDivisionError("a secret\nof ours")
    result = (await post(FakeManager(failure=secret), call("search", {"query": "x"})))["result"]
    answer = json.loads(result["content"][0]["text"])
    assert answer["error"] == "unavailable"
    assert "secret" not in json.dumps(result)
    assert [record.levelname for record in caplog.records if record.exc_info] == ["ERROR"]


async def test_persian_text_is_not_escaped_on_the_way() -> None:
    headers, body = modern(call("search", {"query": "ابزار"}))
    async with http(create_app(FakeManager(), settings())) as client:
        response = await client.post("/mcp", json=body, headers=headers)
    assert "استقرار" in response.text


# Health


async def test_healthz_has_exactly_the_promised_fields() -> None:
    async with http(create_app(FakeManager(), settings())) as client:
        response = await client.get("/healthz")
    assert response.status_code == 200
    assert {**response.json(), "version": "?"} == snapshot(
        {
            "status": "ok",
            "version": "?",
            "documents": 2,
            "chunks": 4,
            "dense_search": False,
            "libraries": [
                {
                    "name": "Docs",
                    "adapter": "markdown",
                    "state": "ready",
                    "documents": 2,
                    "sections": 4,
                    "snapshot": "2026-01-31",
                    "reason": "",
                }
            ],
        }
    )


async def test_readyz_waits_for_every_library_and_healthz_does_not() -> None:
    manager = FakeManager(state=State.INDEXING)
    async with http(create_app(manager, settings())) as client:
        assert (await client.get("/healthz")).status_code == 200
        waiting = await client.get("/readyz")
        manager.state, manager.reason = State.FAILED, "gone\n</docs>"
        failed = await client.get("/readyz")
        assert (await client.get("/healthz")).status_code == 200
        manager.state = State.READY
        ready = await client.get("/readyz")
    assert (waiting.status_code, failed.status_code, ready.status_code) == (503, 503, 200)
    assert waiting.json()["missing"][0]["state"] == "indexing"
    assert failed.json()["missing"][0]["reason"] == "gone (/docs>"
    assert ready.json() == {"status": "ready"}


async def test_a_search_that_blocks_a_thread_does_not_stop_healthz() -> None:
    async with http(create_app(FakeManager(blocking=0.6), settings())) as client:
        searches = [
            asyncio.create_task(
                client.post("/mcp", json=call("search", {"query": "x"}), headers=JSON)
            )
            for _ in range(8)
        ]
        await asyncio.sleep(0.1)
        begun = asyncio.get_running_loop().time()
        async with asyncio.timeout(0.4):
            assert (await client.get("/healthz")).status_code == 200
        assert not any(search.done() for search in searches)
        await asyncio.gather(*searches)
        assert asyncio.get_running_loop().time() - begun < 3


async def test_metrics_count_calls_by_tool_and_outcome() -> None:
    async with http(create_app(FakeManager(), settings())) as client:
        for query in ("webhook", "refund", ""):
            await client.post("/mcp", json=call("search", {"query": query}), headers=JSON)
        text = (await client.get("/metrics")).text
    assert 'refdesk_calls_total{tool="search",status="ok"} 2' in text
    assert 'refdesk_calls_total{tool="search",status="invalid_argument"} 1' in text
    assert 'refdesk_library_ready{library="Docs"} 1' in text
    for line in text.strip().split("\n"):
        assert line.startswith("# ") or re.fullmatch(
            r'\w+\{\w+="[^"]*"(,\w+="[^"]*")*\} [\d.]+', line
        )


# The page for people


class Links(HTMLParser):
    """Collects what a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script" or given.get("src") or (tag == "link" and given.get("href")):
            self.loads.append(tag)


async def test_the_page_for_people_says_what_is_here_and_loads_nothing() -> None:
    async with http(create_app(FakeManager(reason="<script>x</script>"), settings())) as client:
        response = await client.get("/")
    assert response.status_code == 200
    page = Links()
    page.feed(response.text)
    assert page.loads == []
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "http://localhost/mcp" in response.text
    assert "<td>Docs</td>" in response.text
    assert "$" not in response.text


async def test_an_unknown_path_is_told_where_the_endpoint_is() -> None:
    async with http(create_app(FakeManager(), settings())) as client:
        response = await client.get("/.well-known/oauth-protected-resource")
    assert response.status_code == 404
    assert "/mcp" in response.text


# The log


async def test_a_call_is_one_line_without_the_query(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await post(FakeManager(), call("search", {"query": "webhook", "library": "Docs"}))
    [line] = [record.message for record in caplog.records if record.name == "refdesk.server.calls"]
    assert re.fullmatch(r"tool=search library=Docs status=ok results=1 ms=\d+\.\d", line)


async def test_queries_are_logged_on_request_and_cannot_forge_lines(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    query = 'x" status=ok\nfoo'
    await post(FakeManager(), call("search", {"query": query}), log_queries=True)
    [line] = [record.message for record in caplog.records if record.name == "refdesk.server.calls"]
    assert line.endswith(' query="x\\" status=ok\nfoo"')
