"""The state of the libraries in, one page for people out."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib import resources
from string import Template
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

import refdesk
from refdesk import grounding
from refdesk.model import Library
from refdesk.tools.desk import Manager


def _read(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


_STYLE: Final = _read("page.css")
_PAGE: Final = Template(_read("page.html"))
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS: Final = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
"""The page loads nothing and runs nothing."""


class Page:
    """The endpoint `/`."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager

    async def show(self, request: Request) -> Response:
        """What this server is, what it holds, and how to connect to it."""
        libraries = self._manager.libraries
        page = _PAGE.substitute(
            style=_STYLE,
            version=html.escape(refdesk.__version__),
            url=html.escape(str(request.url.replace(path="/mcp", query=""))),
            documents=f"{sum(library.documents for library in libraries):,}",
            count=len(libraries),
            rows="\n".join(map(_row, libraries)),
        )
        return HTMLResponse(page, headers=HEADERS)


def _row(library: Library) -> str:
    cells = (
        library.name,
        library.adapter,
        library.state.value,
        f"{library.documents:,}",
        f"{library.sections:,}",
        grounding.line(library.reason or library.snapshot, 80),
    )
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
