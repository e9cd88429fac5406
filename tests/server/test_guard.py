"""What the guard lets through, and what it says to the rest."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from fakes import JSON, FakeManager, call, http, message, settings
from refdesk.server import payload
from refdesk.server.app import create_app

ROUTES = ["/", "/mcp", "/mcp/", "/healthz", "/readyz", "/metrics", "/nothing"]


async def get(path: str, headers: dict[str, str], **values: Any) -> httpx.Response:
    async with http(create_app(FakeManager(), settings(**values))) as client:
        return await client.get(path, headers=headers)


@pytest.mark.parametrize("path", ROUTES)
async def test_every_route_is_guarded_by_host_and_origin(path: str) -> None:
    refused = await get(path, {"host": "evil.example"})
    assert refused.status_code == 421
    foreign = await get(path, {"origin": "https://evil.example"})
    assert foreign.status_code == 403


async def test_a_refused_host_is_named_with_the_variable_to_set() -> None:
    response = await get("/mcp", {"host": "docs.example:8000"})
    assert response.status_code == 421
    assert response.text.count("\n") == 1
    assert "MCP_ALLOWED_HOSTS=docs.example:8000" in response.text


async def test_a_refused_origin_is_named_with_the_variable_to_set() -> None:
    response = await get("/", {"origin": "https://app.example"})
    assert response.status_code == 403
    assert response.text.count("\n") == 1
    assert "MCP_ALLOWED_ORIGINS=https://app.example" in response.text


async def test_what_was_refused_is_shown_without_doing_harm() -> None:
    response = await get("/", {"origin": "https://<script>" + "x" * 200})
    assert response.status_code == 403
    assert "<" not in response.text
    assert response.text.isascii()
    assert len(response.text) < 600


@pytest.mark.parametrize("path", ROUTES)
async def test_the_host_is_not_checked_when_a_proxy_controls_it(path: str) -> None:
    response = await get(path, {"host": "any.example"}, trust_proxy_host=True)
    assert response.status_code in (200, 404, 405)


async def test_an_allowed_host_is_served_and_its_own_pages_may_call() -> None:
    own = {"host": "docs.example", "origin": "https://docs.example"}
    response = await get("/healthz", own, allowed_hosts=("docs.example",))
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://docs.example"
    assert response.headers["vary"] == "Origin"


async def test_an_answer_without_origin_has_no_cors_headers() -> None:
    response = await get("/healthz", {})
    assert not [name for name in response.headers if name.startswith("access-control")]


async def test_a_browser_gets_an_answer_before_it_calls() -> None:
    values = {"allowed_hosts": ("docs.example",), "allowed_origins": ("https://app.example",)}
    async with http(create_app(FakeManager(), settings(**values))) as client:
        headers = {
            "origin": "https://app.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type, mcp-protocol-version, mcp-method",
            "access-control-request-private-network": "true",
        }
        asked = await client.options("/mcp", headers=headers)
        foreign = await client.options(
            "/mcp", headers={**headers, "origin": "https://evil.example"}
        )
        called = await client.post(
            "/mcp", json=message("tools/list"), headers={**JSON, "origin": "https://app.example"}
        )
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == "https://app.example"
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert "mcp-method" in asked.headers["access-control-allow-headers"]
    assert asked.headers["access-control-allow-private-network"] == "true"
    assert foreign.status_code == 403
    assert "access-control-allow-origin" not in foreign.headers
    assert called.headers["access-control-allow-origin"] == "https://app.example"


# Bodies


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_a_body_of_256_kib_is_taken_and_one_byte_more_is_not() -> None:
    query = call("search", {"query": ""})
    room = 256 * 1024 - len(json.dumps(query).encode())
    async with http(create_app(FakeManager(), settings())) as client:
        fits = json.dumps(call("search", {"query": "x" * room})).encode()
        assert len(fits) == 256 * 1024
        for content in (fits, fits + b" "):
            whole = await client.post("/mcp", content=content, headers=JSON)
            dripped = await client.post(
                "/mcp", content=chunks(content[:9], content[9:]), headers=JSON
            )
            expected = 200 if content is fits else 413
            assert (whole.status_code, dripped.status_code) == (expected, expected)


@pytest.mark.parametrize("path", ["/", "/healthz", "/nothing"])
async def test_no_path_takes_a_large_body(path: str) -> None:
    async with http(create_app(FakeManager(), settings())) as client:
        response = await client.post(path, content=b"x" * 300_000)
    assert response.status_code == 413


async def test_the_limit_of_a_body_can_be_set() -> None:
    async with http(create_app(FakeManager(), settings(max_body_bytes=1024))) as client:
        response = await client.post("/mcp", content=b" " * 1025, headers=JSON)
    assert response.status_code == 413


async def test_a_body_that_does_not_arrive_is_given_up() -> None:
    async def stuck() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(30)

    async with http(create_app(FakeManager(), settings(receive_timeout=0.05))) as client:
        async with asyncio.timeout(5):
            response = await client.post("/mcp", content=stuck(), headers=JSON)
    assert response.status_code == 408


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 200_000,
        b"{" * 200_000,
        b'{"a":' * 40_000,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":'
        + b"[" * 500
        + b"]" * 500
        + b"}}}",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"\\ud800"}}}',
        b'{"jsonrpc":"2.0","id":"\\udfff","method":"ping"}',
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
        b"{",
        b"\xff\xfe",
        b"\x00",
    ],
    ids=lambda content: repr(content[:30]),
)
async def test_json_that_breaks_parsers_is_refused_in_json(
    content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with http(create_app(FakeManager(), settings())) as client:
        for version in ("2025-06-18", "2026-07-28"):
            headers = {**JSON, "mcp-protocol-version": version}
            response = await client.post("/mcp", content=content, headers=headers)
            assert response.status_code == 400
            assert response.json()["error"]["code"] == -32700
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("query", ["\\ud83d\\ude00", "\\\\ud800", "\\u0627", "1" * 300, "[" * 300])
async def test_harmless_text_is_not_mistaken_for_broken_json(query: str) -> None:
    content = json.dumps(call("search", {"query": "?"})).replace("?", query).encode()
    async with http(create_app(FakeManager(), settings())) as client:
        response = await client.post("/mcp", content=content, headers=JSON)
    assert response.status_code == 200


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@examples(max_examples=300, deadline=None)
@given(JSON_VALUES)
def test_ordinary_json_has_no_flaw(value: object) -> None:
    assert payload.flaw(json.dumps(value).encode()) == ""
    assert payload.flaw(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) == ""


# Load


async def test_more_requests_than_are_admitted_are_told_to_come_back() -> None:
    manager = FakeManager(delay=0.3)
    async with http(create_app(manager, settings(max_concurrent=2))) as client:
        request = call("search", {"query": "webhook"})
        answers = await asyncio.gather(
            *(client.post("/mcp", json=request, headers=JSON) for _ in range(5)),
            client.get("/healthz"),
            client.get("/readyz"),
        )
        after = await client.post("/mcp", json=request, headers=JSON)
    statuses = sorted(answer.status_code for answer in answers[:5])
    assert statuses == [200, 200, 503, 503, 503]
    assert [answer.status_code for answer in answers[5:]] == [200, 200]
    assert after.status_code == 200
    refused = next(answer for answer in answers if answer.status_code == 503)
    assert refused.headers["retry-after"] == "1"
