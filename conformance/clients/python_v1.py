"""URL and a query in: lists the tools, searches and reads with the last 1.x Python SDK.

It cannot live beside the current one, so the runner gives it an environment of its own.
"""

from __future__ import annotations

import asyncio
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


def expect(met: bool, result: object) -> None:
    """End with `result` as the reason unless `met`."""
    if not met:
        raise SystemExit(f"not as expected: {result}")


async def main() -> None:
    """List, search and read."""
    url, query = sys.argv[1:]
    async with (
        streamablehttp_client(url) as (reader, writer, _),
        ClientSession(reader, writer) as session,
    ):
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        expect([tool.name for tool in tools[:2]] == ["search", "fetch"], tools)
        found = await session.call_tool("search", {"query": query})
        expect(not found.isError, found)
        hit = found.structuredContent["results"][0]
        page = await session.call_tool("fetch", {"ref": hit["ref"]})
        expect(not page.isError, page)
        expect(page.structuredContent["ref"] == hit["ref"], page)
        sys.stdout.write(f"{hello.protocolVersion} {hit['cite']} {hit['title']}\n")


asyncio.run(main())
