"""Bytes of a connection in, requests out, within a deadline: what uvicorn leaves open."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from refdesk.server.guard import TARGET


def within(deadline: float) -> type[DeadlineProtocol]:
    """The protocol class for connections that get `deadline` seconds."""
    return type("DeadlineProtocol", (DeadlineProtocol,), {"deadline": deadline})


class DeadlineProtocol(HttpToolsProtocol):
    """httptools protocol that hangs up on half-open connections.

    A connection is closed when it sends no complete headers in time, also when it keeps
    dripping a body that has already been refused. It also notes the host of an absolute
    request target, which would otherwise be lost, for the guard to check.
    """

    deadline = 10.0
    """Seconds for a request's headers to arrive, from connecting or from their first byte."""
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser; the clock runs while no request is being answered."""
        if self._waiting is None and (self.cycle is None or self.cycle.response_complete):
            self._start()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Stop the clock and hand the request over."""
        self._stop()
        if self.url[:1] not in (b"/", b"*"):
            authority = httptools.parse_url(self.url)
            host = authority.host or b""
            host = b"[%s]" % host if b":" in host else host
            port = b":%d" % authority.port if authority.port else b""
            extensions: dict[str, Any] = {TARGET: host + port}
            self.scope["extensions"] = extensions
        super().on_headers_complete()

    def _start(self) -> None:
        self._waiting = self.loop.call_later(self.deadline, self._hang_up)

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _hang_up(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.close()
