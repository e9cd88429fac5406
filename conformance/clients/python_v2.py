"""URL and a query in: lists the tools, searches and reads with the SDK that refdesk stands on."""

from __future__ import annotations

import asyncio
import sys

from mcp import Client


def expect(met: bool, result: object) -> None:
    """End with `result` as the reason unless `met`."""
    if not met:
        raise SystemExit(f"not as expected: {result}")


async def visit(url: str, query: str, mode: str) -> None:
    """One visit in the protocol era that `mode` asks for."""
    async with Client(url, mode=mode) as client:
        tools = (await client.list_tools()).tools
        expect([tool.name for tool in tools[:2]] == ["search", "fetch"], tools)
        found = await client.call_tool("search", {"query": query})
        expect(not found.is_error, found)
        hit = found.structured_content["results"][0]
        page = await client.call_tool("fetch", {"ref": hit["ref"]})
        expect(not page.is_error, page)
        expect(page.structured_content["ref"] == hit["ref"], page)
        sys.stdout.write(f"{mode} {client.protocol_version} {hit['cite']} {hit['title']}\n")


async def main() -> None:
    """Visit once in each era, and once in the one that the client picks."""
    for mode in ("legacy", "auto", "2026-07-28"):
        await visit(sys.argv[1], sys.argv[2], mode)


asyncio.run(main())
