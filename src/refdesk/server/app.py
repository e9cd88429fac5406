"""A manager and settings in, the ASGI application out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from refdesk.server import mcp
from refdesk.server.allowlist import Allowlist
from refdesk.server.calls import Calls
from refdesk.server.direct import Direct
from refdesk.server.guard import Guard
from refdesk.server.health import Health
from refdesk.server.metrics import Metrics
from refdesk.server.web import Page
from refdesk.settings import Settings
from refdesk.tools.desk import Desk, Manager

MCP_PATHS: Final = ("/mcp", "/mcp/")
"""Both are served: a redirect would lose the body, and behind a proxy the scheme."""


def create_app(manager: Manager, settings: Settings) -> Starlette:
    """A fresh application; its lifespan starts and closes `manager`.

    Raises:
        SettingsError: the lists of hosts and origins cannot be used.
    """
    metrics = Metrics(manager)
    calls = Calls(Desk(manager, settings), metrics)
    sessions = StreamableHTTPSessionManager(
        mcp.build(calls),
        json_response=True,
        stateless=True,
        max_request_body_size=settings.max_body_bytes,
    )
    endpoint = Endpoint(Direct(calls, sessions.handle_request))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    health = Health(manager)
    app = Starlette(
        routes=[
            *(Route(path, endpoint) for path in MCP_PATHS),
            Route("/healthz", health.live),
            Route("/readyz", health.ready),
            Route("/metrics", metrics.show),
            Route("/", Page(manager).show),
        ],
        middleware=[Middleware(Guard, settings, Allowlist.from_settings(settings))],
        exception_handlers={404: _not_found},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


class Endpoint:
    """ASGI application of the MCP paths: POST goes on to `post`, other methods are refused."""

    def __init__(self, post: ASGIApp) -> None:
        self._post = post

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "POST":
            await self._post(scope, receive, send)
            return
        text = "this endpoint answers POST only: there are no sessions and no event streams\n"
        response = PlainTextResponse(text, 405, {"allow": "POST"})
        await response(scope, receive, send)


async def _not_found(request: Request, error: Exception) -> Response:
    return PlainTextResponse("nothing here: the MCP endpoint is /mcp\n", 404)
