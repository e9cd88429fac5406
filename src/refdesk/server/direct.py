"""Plain tool calls in, their answers out, past the session machinery of the SDK.

The SDK builds a session, streams and tasks for every request, which costs several times what a
search does. A stateless tools/call needs none of it. So a call that is well-formed in every
respect is answered here, with the same JSON; whatever is the least bit unusual, and everything
that is not a tools/call, goes to the SDK, which knows how to refuse it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from mcp.shared.inbound import (
    MCP_PROTOCOL_VERSION_HEADER,
    InboundModernRoute,
    classify_inbound_request,
)
from mcp_types import SERVER_INFO_META_KEY
from mcp_types.methods import validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import from_json, to_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import refdesk
from refdesk.server.calls import Calls, Outcome
from refdesk.server.mcp import NAME
from refdesk.tools import registry
from refdesk.tools.desk import Json

_REQUEST_KEYS: Final = frozenset({"jsonrpc", "id", "method", "params"})
_OTHER_PARAMS: Final = frozenset({"arguments", "_meta"})
_MODERN_ONLY: Final[Json] = {
    "resultType": "complete",
    "_meta": {SERVER_INFO_META_KEY: {"name": NAME, "version": refdesk.__version__}},
}


@dataclass(frozen=True, slots=True)
class Call:
    """A tools/call with nothing odd about it; `modern` says that it came without a handshake."""

    id: int | str
    tool: str
    arguments: Json
    modern: bool


class Direct:
    """ASGI application: answers plain tool calls, hands everything else to `sdk`."""

    def __init__(self, calls: Calls, sdk: ASGIApp) -> None:
        self._calls = calls
        self._sdk = sdk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one POST request."""
        message = await receive()
        call = _plain_call(scope, message)
        tool = registry.find(self._calls.desk, call.tool) if call else None
        if call is None or tool is None:
            await self._sdk(scope, _again(message, receive), send)
            return
        result = _result(await self._calls.call(tool, call.arguments), modern=call.modern)
        body = to_json({"jsonrpc": "2.0", "id": call.id, "result": result})
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _plain_call(scope: Scope, message: Message) -> Call | None:
    if message["type"] != "http.request" or message.get("more_body", False):
        return None
    headers = _headers(scope)
    if headers is None:
        return None
    try:
        request = from_json(message.get("body", b""))
    except ValueError:
        return None
    if not isinstance(request, dict) or not request.keys() <= _REQUEST_KEYS:
        return None
    match request:
        case {"jsonrpc": "2.0", "id": bool()}:
            return None
        case {
            "jsonrpc": "2.0",
            "method": "tools/call",
            "id": int() | str() as id,
            "params": {"name": str() as tool, **rest},
        } if rest.keys() <= _OTHER_PARAMS:
            version = headers.get(MCP_PROTOCOL_VERSION_HEADER, HANDSHAKE_PROTOCOL_VERSIONS[0])
            arguments = rest.get("arguments", {})
            if isinstance(arguments, dict) and _is_served(version, request, headers):
                return Call(id, tool, arguments, version not in HANDSHAKE_PROTOCOL_VERSIONS)
    return None


def _headers(scope: Scope) -> dict[str, str] | None:
    """The headers by name; None where they do not simply ask for JSON in exchange for JSON."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1")
        if key in headers and key.startswith(("mcp-", "content-", "accept")):
            return None
        headers[key] = value.decode("latin-1")
    sent = headers.get("content-type", "").partition(";")[0]
    taken = headers.get("accept", "")
    return headers if sent == "application/json" and "application/json" in taken else None


def _is_served(version: str, request: Json, headers: Mapping[str, str]) -> bool:
    """Whether the SDK would let `request` through to its tool under that protocol version."""
    if version not in HANDSHAKE_PROTOCOL_VERSIONS:
        route = classify_inbound_request(request, headers=headers)
        if not isinstance(route, InboundModernRoute):
            return False
    try:
        validate_client_request("tools/call", version, cast("Json", request["params"]))
    except (ValidationError, KeyError):
        return False
    return True


def _result(outcome: Outcome, *, modern: bool) -> Json:
    result: Json = {
        "content": [{"type": "text", "text": outcome.text}],
        "isError": outcome.failed,
    }
    if outcome.structured is not None:
        result["structuredContent"] = outcome.structured
    return {**result, **_MODERN_ONLY} if modern else result


def _again(message: Message, receive: Receive) -> Receive:
    """A `receive` that begins with a message that has been taken already."""
    first = [message]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again
