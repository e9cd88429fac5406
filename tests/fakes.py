"""A corpus manager over documents in memory: the real interface, nothing on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import httpx
from mcp import Client
from mcp.server import Server
from mcp_types import CallToolResult, TextContent
from starlette.applications import Starlette

from refdesk.errors import InvalidRef, NotFound, UnknownLibrary
from refdesk.model import (
    REF_SCHEME,
    Answer,
    Changes,
    Degraded,
    Document,
    Documented,
    Entry,
    Hint,
    Hit,
    Kind,
    Library,
    Lifetime,
    PageHistory,
    Platform,
    Ref,
    Section,
    Skip,
    State,
    Survey,
)
from refdesk.server import mcp
from refdesk.server.calls import Calls
from refdesk.server.metrics import Metrics
from refdesk.settings import Settings
from refdesk.tools.desk import Desk

ENTRIES_PER_PAGE = 3


def section(
    title: str, text: str, *, id: str | None = None, level: int = 2, start: int = 0
) -> Section:
    """A section whose id is its title unless said otherwise."""
    lines = text.count("\n")
    return Section(
        id=title.lower().replace(" ", "-") if id is None else id,
        title=title,
        level=level,
        breadcrumb=(title,),
        start=start,
        end=start + lines if start else 0,
        text=text,
    )


def page(
    path: str,
    title: str,
    *sections: Section,
    library: str = "Docs",
    url: str = "",
    kind: Kind = Kind.PAGE,
) -> Document:
    """A document; its only section is its title unless sections are given."""
    body = sections or (section(title, f"# {title}\n\nText of {title}.", level=1, start=1),)
    return Document(Ref(library, path), kind, title, url, "2026-01-31", body)


GUIDE = page(
    "guides/payments.md",
    "Payments",
    section("", "Lead of the page.", id="", level=0, start=1),
    section("Webhooks", "## Webhooks\n\nThe gateway calls your webhook.", start=5),
    section("Refunds", "## Refunds\n\nA refund takes three days.", start=9),
    url="https://docs.example.com/guides/payments",
)
PERSIAN = page(
    "fa/docker.md",
    "استقرار برنامه‌های داکر",
    section("پیش‌نیازها", "## پیش‌نیازها\n\nابتدا ابزار خط فرمان را نصب می‌کنیم.", start=3),
)


@dataclass
class FakeManager:
    """Finds documents that hold a word of the query; what goes wrong can be arranged.

    `delay` seconds pass in every search without blocking the loop, `blocking` seconds block a
    thread, `failure` is raised by search and fetch.
    """

    documents: Sequence[Document] = (GUIDE, PERSIAN)
    adapter: str = "markdown"
    state: State = State.READY
    reason: str = ""
    degraded: tuple[Degraded, ...] = ()
    did_you_mean: str = ""
    delay: float = 0
    blocking: float = 0
    failure: Exception | None = None
    platforms: Sequence[Platform] = ()
    lifetimes: Sequence[Lifetime] = ()
    documented: Sequence[Documented] = ()
    revisions: PageHistory | None = None
    started: int = 0
    closed: int = 0
    queries: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def libraries(self) -> tuple[Library, ...]:
        names = list(dict.fromkeys(document.ref.library for document in self.documents))
        return tuple(self._library(name) for name in names)

    @property
    def ready(self) -> bool:
        return self.state is State.READY

    @property
    def histories(self) -> tuple[str, ...]:
        """Libraries that something was prepared for."""
        names = [life.library for life in self.lifetimes]
        names += [one.library for one in self.documented]
        if self.revisions is not None:
            names.append(self.revisions.library)
        return tuple(dict.fromkeys(names))

    async def search_history(
        self, query: str, *, limit: int, only_removed: bool = False, library: str = ""
    ) -> list[Lifetime]:
        self.queries.append((query, limit, library))
        found = [life for life in self.lifetimes if not only_removed or life.status != "live"]
        return found[:limit]

    async def when_documented(self, text: str, *, library: str = "") -> Sequence[Documented]:
        return self.documented

    async def page_history(self, path: str, *, library: str = "") -> PageHistory:
        if self.revisions is None or self.revisions.path != path:
            raise NotFound("no such page")
        return self.revisions

    async def surveys(self) -> list[Survey]:
        return [
            Survey(
                library.name, "", "", "2026-01-31", library.documents, library.sections, {"en": 1}
            )
            for library in self.libraries
            if library.adapter == "liara"
        ]

    async def search(self, query: str, *, limit: int, library: str = "") -> Answer:
        self._check(library)
        self.queries.append((query, limit, library))
        await self._trouble()
        words = query.casefold().split()
        found = [
            _hit(document, match, words)
            for document in self.documents
            if library in ("", document.ref.library)
            for match in document.sections
            if any(word in (document.title + match.text).casefold() for word in words)
        ]
        return Answer(tuple(found[:limit]), self.did_you_mean, self.degraded)

    async def fetch(self, ref: str) -> Document:
        await self._trouble()
        for document in self.documents:
            if ref in (str(document.ref), document.url):
                return document
        if ref.startswith("http"):
            raise NotFound("no library holds that address")
        if not ref.startswith(REF_SCHEME):
            raise InvalidRef("not a ref")
        self._check(Ref.parse(ref).library)
        raise NotFound("no such document", [str(document.ref) for document in self.documents[:3]])

    async def entries(
        self, library: str = "", prefix: str = "", cursor: str = ""
    ) -> tuple[list[Entry], str]:
        self._check(library)
        entries = sorted(
            (
                Entry(document.ref, document.ref.path, document.title)
                for document in self.documents
                if library in ("", document.ref.library) and document.ref.path.startswith(prefix)
            ),
            key=lambda entry: entry.path,
        )
        start = int(cursor or 0)
        end = start + ENTRIES_PER_PAGE
        return entries[start:end], str(end) if end < len(entries) else ""

    async def reindex(self, library: str = "") -> Mapping[str, Changes]:
        self._check(library)
        changes = Changes(new=1, updated=2, unchanged=3, skipped=(Skip("too large", 1, ("a",)),))
        return {known.name: changes for known in self.libraries if library in ("", known.name)}

    async def start(self) -> None:
        self.started += 1

    async def close(self) -> None:
        self.closed += 1

    def _library(self, name: str) -> Library:
        own = [document for document in self.documents if document.ref.library == name]
        sections = sum(len(document.sections) for document in own)
        return Library(
            name, self.adapter, self.state, len(own), sections, "2026-01-31", self.reason
        )

    def _check(self, library: str) -> None:
        names = [known.name for known in self.libraries]
        if library and library not in names:
            raise UnknownLibrary(f"no library is called {library!r}", {"libraries": names})

    async def _trouble(self) -> None:
        if self.failure is not None:
            raise self.failure
        if self.delay:
            self.reason = "searching"  # for tests to see that a call is under way
            await anyio.sleep(self.delay)
        if self.blocking:
            await anyio.to_thread.run_sync(time.sleep, self.blocking)


def _hit(document: Document, match: Section, words: Sequence[str]) -> Hit:
    location = f"{document.ref.path}:{match.start}-{match.end}" if match.start else ""
    return Hit(
        ref=document.ref,
        kind=document.kind,
        title=document.title,
        url=document.url,
        snapshot=document.snapshot,
        breadcrumb=(document.title, *match.breadcrumb),
        location=location,
        score=1.0,
        passage=0,
        sections=tuple(Hint(each.id, each.title) for each in document.sections[:3]),
        snippet=" ".join(match.text.split())[:800],
    )


def large(manager: FakeManager, count: int) -> FakeManager:
    """`manager` with `count` more documents."""
    more = [page(f"more/{number:05}.md", f"More {number}") for number in range(count)]
    return replace(manager, documents=[*manager.documents, *more])


def settings(**values: Any) -> Settings:
    """Settings of a test: nothing from the environment, `values` on top."""
    return Settings.load(**values)


def protocol_server(manager: FakeManager, *, local: bool = False, **values: Any) -> Server:
    """The MCP server of `manager`, for an in-process client."""
    return mcp.build(Calls(Desk(manager, settings(**values), local), Metrics(manager)))


async def ask(
    manager: FakeManager, tool: str, arguments: Mapping[str, Any], **values: Any
) -> CallToolResult:
    """The result of one tool call through an in-process client."""
    async with Client(protocol_server(manager, **values)) as client:
        return await client.call_tool(tool, dict(arguments))


def body(result: CallToolResult) -> dict[str, Any]:
    """What a successful call returned; its text and its structured content are the same."""
    assert not result.is_error, result
    assert isinstance(result.content[0], TextContent)
    read: dict[str, Any] = json.loads(result.content[0].text)
    assert result.structured_content == read
    return read


def error(result: CallToolResult) -> dict[str, Any]:
    """What a failed call says, in compact JSON and in text only."""
    assert result.is_error, result
    assert result.structured_content is None
    assert isinstance(result.content[0], TextContent)
    text = result.content[0].text
    read: dict[str, Any] = json.loads(text)
    assert text == json.dumps(read, ensure_ascii=False, separators=(",", ":"))
    return read


@asynccontextmanager
async def http(app: Starlette, base: str = "http://localhost") -> AsyncIterator[httpx.AsyncClient]:
    """An HTTP client of `app`, whose lifespan has begun."""
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            yield client


@contextmanager
def process(**values: Any) -> Iterator[Process]:
    """A real server process with a FakeManager; `values` are settings and fields of both.

    It is told to stop at the end, and killed if it does not.
    """
    own = {name: values.pop(name) for name in ("delay", "blocking") if name in values}
    code = (
        "from fakes import FakeManager, settings\n"
        "from refdesk.server.run import serve_http\n"
        f"serve_http(FakeManager(**{own!r}), settings(**{ ({'port': 0} | values)!r}))\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)},
        text=True,
    )
    try:
        assert running.stderr is not None
        first = running.stderr.readline()
        port = int(first.partition("/mcp")[0].rpartition(":")[2])
        yield Process(running, port, first)
        running.terminate()
        running.wait(15)
    finally:
        if running.poll() is None:
            running.kill()
        running.communicate()


@dataclass(frozen=True, slots=True)
class Process:
    """A server that runs: its process, its port and its first line of log."""

    popen: subprocess.Popen[str]
    port: int
    first_line: str

    def stop(self) -> tuple[int, str]:
        """Tell it to stop; its exit code and the rest of its log."""
        self.popen.terminate()
        _, log = self.popen.communicate(timeout=20)
        return self.popen.returncode, log


JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
MODERN = "2026-07-28"


def message(method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> dict[str, Any]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": dict(params or {})}


def call(tool: str, arguments: Mapping[str, Any], id: object = 1) -> dict[str, Any]:
    """A JSON-RPC request that calls a tool."""
    return message("tools/call", {"name": tool, "arguments": dict(arguments)}, id)


def modern(request: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of `request` in the 2026-07-28 protocol."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {**request, "params": {**request["params"], "_meta": meta}}
    headers = {**JSON, "mcp-protocol-version": MODERN, "mcp-method": request["method"]}
    if "name" in request["params"]:
        headers["mcp-name"] = request["params"]["name"]
    return headers, body
