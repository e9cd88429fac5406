"""The short way for plain tool calls answers as the SDK does, or leaves the answer to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from fakes import JSON, FakeManager, call, http, message, modern, settings
from refdesk.server import mcp
from refdesk.server.app import Endpoint
from refdesk.server.calls import Calls
from refdesk.server.direct import Direct
from refdesk.server.metrics import Metrics
from refdesk.tools.desk import Desk


def app(*, direct: bool) -> Starlette:
    """The MCP endpoint alone, with and without the short way."""
    manager = FakeManager()
    calls = Calls(Desk(manager, settings()), Metrics(manager))
    sessions = StreamableHTTPSessionManager(mcp.build(calls), json_response=True, stateless=True)
    post = Direct(calls, sessions.handle_request) if direct else sessions.handle_request
    return Starlette(routes=[Route("/mcp", Endpoint(post))], lifespan=lambda _: sessions.run())


@asynccontextmanager
async def both() -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    async with http(app(direct=True)) as short, http(app(direct=False)) as long:
        yield short, long


async def compare(headers: Mapping[str, str], content: bytes) -> httpx.Response:
    """The answer to a request, after it has turned out the same on both ways."""
    async with both() as (short, long):
        one = await short.post("/mcp", content=content, headers=dict(headers))
        two = await long.post("/mcp", content=content, headers=dict(headers))
    assert one.status_code == two.status_code
    if one.content and one.headers.get("content-type", "").startswith("application/json"):
        assert one.json() == two.json()
    else:
        assert one.content == two.content
    return one


CALLS = [
    call("search", {"query": "webhook"}),
    call("search", {"query": "ابزار", "limit": 3}, id="a-text-id"),
    call("search", {"query": "x", "nonsense": 1}),
    call("search", {}),
    call("fetch", {"ref": "corpus://Docs/guides/payments.md", "sections": ["refunds"]}),
    call("fetch", {"ref": "corpus://Docs/none.md"}),
    call("list_documents", {}),
    call("reindex", {}),
    call("nonsense", {}),
    message("tools/call", {"name": "list_documents"}),
    message("tools/call", {"name": "list_documents", "arguments": None}),
    message("tools/call", {"name": "list_documents", "arguments": []}),
    message("tools/call", {"name": 1, "arguments": {}}),
    message("tools/call", {"arguments": {}}),
    message("tools/call", {"name": "search", "arguments": {"query": "x"}, "task": {"ttl": 1}}),
    message("tools/list"),
    message("ping"),
    message("nonsense"),
    call("search", {"query": "x"}, id=None),
    call("search", {"query": "x"}, id=True),
    call("search", {"query": "x"}, id=1.5),
    {"jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": {"name": "search"}},
    {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "search"}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
]


@pytest.mark.parametrize("request_", CALLS, ids=lambda request: json.dumps(request)[:60])
async def test_a_legacy_request_is_answered_as_by_the_sdk(request_: dict[str, Any]) -> None:
    for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        headers = {**JSON, "mcp-protocol-version": version}
        await compare(headers, json.dumps(request_).encode())
    await compare(JSON, json.dumps(request_).encode())


@pytest.mark.parametrize("request_", CALLS, ids=lambda request: json.dumps(request)[:60])
async def test_a_modern_request_is_answered_as_by_the_sdk(request_: dict[str, Any]) -> None:
    headers, body = modern({"params": {}, "method": "", **request_})
    if not isinstance(request_.get("params", {}).get("name", ""), str):
        headers["mcp-name"] = "search"
    await compare(headers, json.dumps(body).encode())


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/json; charset=utf-8"},
        {"content-type": "Application/JSON"},
        {"content-type": ""},
        {"accept": "text/html"},
        {"accept": "*/*"},
        {"accept": "application/*"},
        {"accept": "application/json"},
        {"accept": "application/json;q=0"},
        {"accept": ""},
        {"mcp-protocol-version": "1999-01-01"},
        {"mcp-protocol-version": ""},
        {"mcp-protocol-version": "2026-07-28"},
        {"mcp-session-id": "stale"},
        {"mcp-method": "nonsense"},
        {"mcp-name": "fetch"},
    ],
    ids=str,
)
async def test_headers_count_as_much_as_with_the_sdk(headers: dict[str, str]) -> None:
    request = call("search", {"query": "webhook"})
    await compare({**JSON, **headers}, json.dumps(request).encode())
    sent, body = modern(request)
    await compare({**sent, **headers}, json.dumps(body).encode())


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b"[[[[", b'"x"', b"\xff", b'{"jsonrpc":"2.0"}', b"NaN", b"{}" * 2],
)
async def test_what_is_no_request_is_refused_as_by_the_sdk(content: bytes) -> None:
    assert (await compare(JSON, content)).status_code == 400
    headers, _ = modern(call("search", {}))
    assert (await compare(headers, content)).status_code == 400


META: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(["2026-07-28", "x", None, 1]),
        "io.modelcontextprotocol/clientCapabilities": st.sampled_from(
            [{}, {"sampling": {}}, {"sampling": 1}, {"roots": {"listChanged": "x"}}, None, [], "x"]
        ),
        "io.modelcontextprotocol/clientInfo": st.sampled_from(
            [{"name": "a", "version": "1"}, {"name": "a"}, {}, None, "x"]
        ),
        "progressToken": st.sampled_from([1, "a", None, True, 1.5, {}]),
        "other": st.just(1),
    },
)


@examples(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    meta=META | st.sampled_from([None, [], "x"]),
    version=st.sampled_from(["2025-06-18", "2026-07-28", ""]),
    extra=st.sampled_from([{}, {"task": None}, {"inputResponses": {}}, {"x": 1}]),
)
async def test_no_envelope_gets_further_than_with_the_sdk(
    meta: object, version: str, extra: dict[str, Any]
) -> None:
    params = {"name": "search", "arguments": {"query": "webhook"}, "_meta": meta, **extra}
    headers = {**JSON, "mcp-method": "tools/call", "mcp-name": "search"}
    if version:
        headers["mcp-protocol-version"] = version
    await compare(headers, json.dumps(message("tools/call", params)).encode())
