"""A manager and settings in, a serving process out, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from mcp.server.stdio import stdio_server

import refdesk
from refdesk.errors import SettingsError
from refdesk.server import logs, mcp
from refdesk.server.allowlist import Allowlist
from refdesk.server.app import create_app
from refdesk.server.calls import Calls
from refdesk.server.metrics import Metrics
from refdesk.settings import Settings, spend_guard, variable
from refdesk.tools.desk import Desk, Manager

log = logging.getLogger(__name__)

DRAIN_SECONDS: Final = 10
"""How long requests under way may take once the process is told to stop."""
KEEP_ALIVE_SECONDS: Final = 65
"""Longer than proxies hold idle connections, so that they close first."""
_BACKLOG: Final = 2048


def serve_http(manager: Manager, settings: Settings) -> None:
    """Serve over HTTP until SIGTERM or SIGINT; requests under way are finished first.

    Raises:
        SettingsError: the address is taken or not ours, or an allowlist cannot be used.
    """
    logs.configure(settings)
    spend_guard(settings)
    app = create_app(manager, settings)
    sockets = _listen(settings)
    config = uvicorn.Config(
        app,
        http=_protocol(settings),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    server = _Server(config, _announcement(sockets, settings))
    try:
        server.run(sockets)
    finally:
        for listener in sockets:
            listener.close()
    log.info("stopped")


async def serve_stdio(manager: Manager, settings: Settings) -> None:
    """Serve one client over standard input and output until it closes them."""
    logs.configure(settings)
    desk = Desk(manager, settings, local=True)
    server = mcp.build(Calls(desk, Metrics(manager)))
    log.info("refdesk %s serves standard input and output", refdesk.__version__)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Server(uvicorn.Server):
    """uvicorn that says where it listens, and for which a signal is a normal end."""

    def __init__(self, config: uvicorn.Config, announcement: str) -> None:
        super().__init__(config)
        self._announcement = announcement

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            log.info("%s", self._announcement)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Drain on SIGTERM and SIGINT. uvicorn's own raises the signal again afterwards, which
        would turn an orderly stop into a death by signal."""
        handled = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _protocol(settings: Settings) -> type[asyncio.Protocol] | str:
    if sys.platform == "win32":
        return "auto"  # no httptools there
    from refdesk.server.protocol import within

    return within(settings.receive_timeout)


def _listen(settings: Settings) -> list[socket.socket]:
    """A listening socket for every address that the host stands for."""
    host, port = settings.host.strip("[]"), settings.port
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        addresses = {(family, address[0]) for family, _, _, _, address in found}
        sockets: list[socket.socket] = []
        for family, address in sorted(addresses):
            listener = socket.create_server((str(address), port), family=family, backlog=_BACKLOG)
            port = port or listener.getsockname()[1]
            sockets.append(listener)
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {settings.host}:{settings.port} ({error.strerror}): choose another "
            f"{variable('host')} or {variable('port')}"
        ) from None
    return sockets


def _announcement(sockets: list[socket.socket], settings: Settings) -> str:
    addresses = ", ".join(_url(listener) for listener in sockets)
    hosts = Allowlist.from_settings(settings).describe()
    return f"refdesk {refdesk.__version__} serves {addresses}; hosts accepted: {hosts}"


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"
