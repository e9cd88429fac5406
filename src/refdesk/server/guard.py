"""Every HTTP request in; those that may pass out, whole and clean, the others answered here.

One pure ASGI middleware in front of every route. In this order: Host and Origin, preflight
requests of browsers, size and pace of the body, what is in it, and how much is under way.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from refdesk.server import payload
from refdesk.server.allowlist import Allowlist, Host
from refdesk.server.logs import printable
from refdesk.settings import Settings, variable

log = logging.getLogger(__name__)

Headers = Sequence[tuple[bytes, bytes]]

Refusal = tuple[int, str]
"""HTTP status and one line for the caller."""

TARGET: Final = "refdesk.target"
"""Key in `scope["extensions"]` for the authority of an absolute request target."""
UNCOUNTED: Final = frozenset({"/healthz", "/readyz"})
"""Paths that answer even when everything else is told to wait."""
_MANY_HEADERS: Final = 100
_SHOWN: Final = 100
_PREFLIGHT_HEADERS: Final = re.compile(rb"[A-Za-z0-9, _-]{0,500}\Z")
_EXPOSED: Final = (b"access-control-expose-headers", b"mcp-session-id, mcp-protocol-version")


class Guard:
    """ASGI middleware; see the module."""

    def __init__(self, app: ASGIApp, settings: Settings, allowlist: Allowlist) -> None:
        self._app = app
        self._allowlist = allowlist
        self._max_body = settings.max_body_bytes
        self._deadline = settings.receive_timeout
        self._limit = settings.max_concurrent
        self._under_way = 0
        self._judge_host = lru_cache(maxsize=256)(self._judged_host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        scope = {**scope, "headers": headers}
        values = dict(headers)
        refusal, origin = self._refusal(scope, headers, values)
        if refusal is not None:
            log.warning("refused status=%d %s", refusal[0], refusal[1])
            await _say(send, *refusal)
            return
        if origin:
            if scope["method"] == "OPTIONS" and b"access-control-request-method" in values:
                await _preflight(send, origin, values)
                return
            send = _with_origin(send, origin)
        if b"content-length" in values or b"transfer-encoding" in values:
            body = await self._body(values, receive, send)
            if body is None:
                return
            receive = _replay(body, receive)
        await self._admit(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in UNCOUNTED:
            await self._app(scope, receive, send)
            return
        if self._under_way >= self._limit:
            log.warning("refused status=503 %d requests under way", self._under_way)
            await _say(send, 503, "too many requests at once: try again", (b"retry-after", b"1"))
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1

    # who asks, and for whom

    def _refusal(
        self, scope: Scope, headers: Headers, values: dict[bytes, bytes]
    ) -> tuple[Refusal | None, bytes]:
        """The status and reason to refuse with, if any, and the origin to answer to."""
        counts = [name for name, _ in headers if name in (b"host", b"origin")]
        if counts.count(b"host") != 1:
            word = "no" if b"host" not in values else "more than one"
            return (400, f"the request has {word} Host header"), b""
        if counts.count(b"origin") > 1 or len(headers) > _MANY_HEADERS:
            return (400, "the request has too many headers"), b""
        host = self._judge_host(values[b"host"])
        target = scope.get("extensions", {}).get(TARGET)
        if isinstance(host, Host) and target is not None:
            host = self._judge_host(target)
        if not isinstance(host, Host):
            return host, b""
        origin = values.get(b"origin", b"")
        if origin and not self._allowlist.accepts_origin(origin.decode("latin-1"), host):
            return (403, self._about_origin(origin)), b""
        return None, origin

    def _judged_host(self, name: bytes) -> Host | Refusal:
        """The host that `name` spells, or why it is not served."""
        shown = _shown(name)
        host = Host.parse(name.decode("latin-1"))
        if host is None:
            return 400, f"the Host {shown} is malformed"
        if self._allowlist.accepts_host(host):
            return host
        return 421, (
            f"the host {shown} is not allowed here; to serve it, set "
            f"{variable('allowed_hosts')}={shown} (commas separate several names)"
        )

    def _about_origin(self, origin: bytes) -> str:
        shown = _shown(origin)
        if origin == b"null":
            return f"the origin null is not allowed; {variable('allowed_origins')} cannot list it"
        return (
            f"the origin {shown} is not allowed to call; to let it, set "
            f"{variable('allowed_origins')}={shown} (commas separate several origins)"
        )

    # the body

    async def _body(self, values: dict[bytes, bytes], receive: Receive, send: Send) -> bytes | None:
        """The whole body, or None when the request has been answered or the caller has left."""
        declared = values.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._max_body:
            await self._too_large(send)
            return None
        try:
            async with asyncio.timeout(self._deadline):
                body = await self._read(receive)
        except TimeoutError:
            log.warning("refused status=408 the body did not arrive in %g s", self._deadline)
            text = f"the body did not arrive within {self._deadline:g} seconds"
            await _say(send, 408, text, (b"connection", b"close"))
            return None
        if body is None:
            return None
        if len(body) > self._max_body:
            await self._too_large(send)
            return None
        if reason := payload.flaw(body):
            log.warning("refused status=400 the body is %s", reason)
            await _bad_json(send, reason)
            return None
        return body

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or a little more than is allowed of it; None when the caller leaves."""
        chunks: list[bytes] = []
        size = 0
        more = True
        while more and size <= self._max_body:
            message = await receive()
            if message["type"] != "http.request":
                return None
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            more = message.get("more_body", False)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _too_large(self, send: Send) -> None:
        log.warning("refused status=413 the body is larger than %d bytes", self._max_body)
        await _say(send, 413, f"the body is larger than {self._max_body} bytes")


def check_names(settings: Settings) -> None:
    """Whether the lists of hosts and origins can be used.

    Raises:
        SettingsError: an entry is malformed, or origins are listed without any host.
    """
    Allowlist.from_settings(settings)


def _shown(value: bytes) -> str:
    """What a caller sent, fit to be shown to whoever reads the answer or the log."""
    text = printable(value[:_SHOWN].decode("ascii", "backslashreplace"))
    return text.replace("<", "%3C").replace(">", "%3E") or '""'


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that hands out `body` at once and then waits for the caller to leave."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay


def _with_origin(send: Send, origin: bytes) -> Send:
    """A `send` that lets pages of `origin` read the answer."""
    extra = [(b"access-control-allow-origin", origin), _EXPOSED, (b"vary", b"Origin")]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return sending


async def _preflight(send: Send, origin: bytes, values: dict[bytes, bytes]) -> None:
    asked = values.get(b"access-control-request-headers", b"")
    headers = [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", b"GET, POST"),
        (b"access-control-allow-headers", asked if _PREFLIGHT_HEADERS.match(asked) else b""),
        (b"access-control-max-age", b"600"),
        (b"vary", b"Origin, Access-Control-Request-Headers"),
    ]
    if values.get(b"access-control-request-private-network") == b"true":
        headers.append((b"access-control-allow-private-network", b"true"))
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _bad_json(send: Send, reason: str) -> None:
    error = {"code": -32700, "message": f"Parse error: {reason}"}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    await _answer(send, 400, body, [(b"content-type", b"application/json")])


async def _say(send: Send, status: int, text: str, *extra: tuple[bytes, bytes]) -> None:
    """Answer with one line of text."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *extra]
    await _answer(send, status, f"{text}\n".encode(), headers)


async def _answer(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
