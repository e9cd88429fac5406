"""What a search costs the server beside an empty tool on the bare SDK: CPU time per request.

    python bench/server_cost.py [--requests 3000]

Two servers run one after the other in processes of their own on loopback: the bare SDK with one
tool that returns an empty text, and refdesk with libraries that answer at once with five hits of
ordinary size, English and Persian, a thousand different ones in turn. So the difference is what
refdesk adds to a call: guard, arguments, grounding, JSON of the reply in text and structured
form, log line. Retrieval is not in it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

from refdesk.model import (
    Answer,
    Changes,
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
    State,
    Survey,
)

CONNECTIONS = 4
WARM_UP = 300
TARGET = 1.5
MODERN = "2026-07-28"

ENGLISH = (
    "A persistent disk keeps its files when the application restarts or is deployed again. Mount "
    "it at an absolute path outside of the source folder, and give the process write access to "
    "it; everything that is written anywhere else is lost. One disk can be mounted by one "
    "application only, and its size can grow but never shrink. Snapshots are taken every night "
    "and kept for seven days. To move files onto a disk, open a shell in the application or use "
    "the file transfer that the dashboard offers for every disk."
)
PERSIAN = (
    "دیسک پایدار فایل‌ها را پس از راه‌اندازی دوباره‌ی برنامه نگه می‌دارد. آن را در مسیری مطلق و "
    "بیرون از پوشه‌ی کد سوار کنید و دسترسی نوشتن بدهید؛ هر چیزی که جای دیگری نوشته شود از دست "
    "می‌رود. هر دیسک فقط به یک برنامه وصل می‌شود و اندازه‌ی آن بیشتر می‌شود ولی کمتر نمی‌شود."
)


class Canned:
    """Libraries that know their answer beforehand."""

    histories: tuple[str, ...] = ()
    libraries = (Library("Docs", "markdown", State.READY, 500, 4000, "2026-01-31"),)
    ready = True

    def __init__(self) -> None:
        self._answers = cycle(
            [Answer(tuple(_hit(5 * turn + place) for place in range(5))) for turn in range(200)]
        )

    async def search(self, query: str, *, limit: int, library: str = "") -> Answer:
        return next(self._answers)

    async def fetch(self, ref: str) -> Document:
        raise NotImplementedError

    async def entries(
        self, library: str = "", prefix: str = "", cursor: str = ""
    ) -> tuple[list[Entry], str]:
        return [], ""

    @property
    def platforms(self) -> list[Platform]:
        return []

    async def surveys(self) -> list[Survey]:
        return []

    async def search_history(
        self, query: str, *, limit: int, only_removed: bool = False, library: str = ""
    ) -> list[Lifetime]:
        return []

    async def when_documented(self, text: str, *, library: str = "") -> list[Documented]:
        return []

    async def page_history(self, path: str, *, library: str = "") -> PageHistory:
        raise NotImplementedError

    async def reindex(self, library: str = "") -> Mapping[str, Changes]:
        return {}

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        pass


def _hit(number: int) -> Hit:
    persian = number % 2 == 1
    title = f"استفاده از دیسک پایدار {number}" if persian else f"Persistent disks, part {number}"
    path = f"guides/disks-{number}.md"
    return Hit(
        ref=Ref("Docs", path),
        kind=Kind.PAGE,
        title=title,
        url=f"https://docs.example.com/{path.removesuffix('.md')}",
        snapshot="2026-01-31",
        breadcrumb=("Guides", title, "Mounting"),
        location=f"{path}:12-30",
        score=1.0,
        passage=number,
        sections=tuple(Hint(f"mounting-{part}", f"Mounting, step {part}") for part in range(3)),
        snippet=f"{number} {PERSIAN if persian else ENGLISH}",
    )


def serve_bare() -> None:
    """An empty tool on the SDK, on the same uvicorn that refdesk uses."""
    import uvicorn
    from mcp.server import Server, ServerRequestContext
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        TextContent,
        Tool,
    )

    listing = Tool(name="search", description="nothing", input_schema={"type": "object"})

    async def list_tools(
        context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[listing])

    async def call_tool(
        context: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult:
        return CallToolResult(content=[TextContent(text="")])

    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    app = server.streamable_http_app(stateless_http=True, json_response=True)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, log_level="error", ws="none", access_log=False)
    uvicorn.Server(config).run([listener])


def serve_refdesk() -> None:
    """refdesk over the canned libraries, logging as it does by default."""
    from refdesk.server.run import serve_http
    from refdesk.settings import Settings

    serve_http(Canned(), Settings.load(port=0))


@contextmanager
def server(kind: str) -> Iterator[tuple[int, int]]:
    """Process id and port of a running server."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", kind], stderr=subprocess.PIPE, text=True
    )
    try:
        stderr = process.stderr
        assert stderr is not None
        line = next(line for line in stderr if "/mcp" in line)
        port = int(line.partition("127.0.0.1:")[2].partition("/")[0])
        with open(os.devnull, "w") as sink, subprocess.Popen(["cat"], stdin=stderr, stdout=sink):
            yield process.pid, port
            process.terminate()
            process.wait(15)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has used, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def request(era: str, port: int) -> bytes:
    """A search as bytes of an HTTP request."""
    params: dict[str, object] = {"name": "search", "arguments": {"query": "persistent disk"}}
    headers = [
        f"host: 127.0.0.1:{port}",
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        f"mcp-protocol-version: {era}",
    ]
    if era == MODERN:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers += ["mcp-method: tools/call", "mcp-name: search"]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    body = json.dumps(message).encode()
    headers.append(f"content-length: {len(body)}")
    return ("POST /mcp HTTP/1.1\r\n" + "\r\n".join(headers) + "\r\n\r\n").encode() + body


async def load(port: int, message: bytes, count: int) -> int:
    """Send `message` `count` times over a few connections; bytes of one answer."""
    share = count // CONNECTIONS

    async def one() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        size = 0
        for _ in range(share):
            writer.write(message)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.decode())
            length = head.lower().partition(b"content-length:")[2].partition(b"\r")[0]
            size = int(length)
            await reader.readexactly(size)
        writer.close()
        await writer.wait_closed()
        return size

    return max(await asyncio.gather(*(one() for _ in range(CONNECTIONS))))


def measure(kind: str, eras: Sequence[str], count: int) -> dict[str, tuple[float, int]]:
    """Milliseconds of CPU per request and bytes per answer, by era."""
    figures = {}
    with server(kind) as (pid, port):
        for era in eras:
            message = request(era, port)
            asyncio.run(load(port, message, WARM_UP))
            before = cpu_seconds(pid)
            size = asyncio.run(load(port, message, count))
            figures[era] = ((cpu_seconds(pid) - before) * 1000 / count, size)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--serve", choices=("bare", "refdesk"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        (serve_bare if arguments.serve == "bare" else serve_refdesk)()
        return 0
    eras = ("2025-06-18", MODERN)
    bare = measure("bare", eras, arguments.requests)
    ours = measure("refdesk", eras, arguments.requests)
    print(f"{'protocol':<12}{'bare ms':>9}{'refdesk ms':>12}{'ratio':>7}{'reply bytes':>13}")
    worst = 0.0
    for era in eras:
        ratio = ours[era][0] / bare[era][0]
        worst = max(worst, ratio)
        print(f"{era:<12}{bare[era][0]:>9.3f}{ours[era][0]:>12.3f}{ratio:>7.2f}{ours[era][1]:>13}")
    print(f"worst ratio {worst:.2f}, promised at most {TARGET}")
    return 0 if worst <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
