"""Which tools are shown, `list_documents`, `reindex`, and the styles of results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot
from mcp import Client
from mcp_types import TextContent

from fakes import FakeManager, ask, body, error, large, page, protocol_server, settings
from refdesk.errors import InvalidArgument
from refdesk.server.mcp import INSTRUCTIONS
from refdesk.tools.desk import Desk, Tool
from refdesk.tools.registry import TOOLS

REF = "corpus://Docs/guides/payments.md"


async def listing(manager: FakeManager, **values: Any) -> list[dict[str, Any]]:
    """tools/list as it goes over the wire."""
    async with Client(protocol_server(manager, **values)) as client:
        tools = (await client.list_tools()).tools
    return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]


@pytest.mark.parametrize(
    ("adapter", "values", "names"),
    [
        ("zim", {}, ["search", "fetch"]),
        ("mediawiki", {}, ["search", "fetch"]),
        ("markdown", {}, ["search", "fetch", "list_documents"]),
        ("liara", {}, ["search", "fetch", "list_documents", "platform_docs", "diagnose_log"]),
        ("zim", {"allow_reindex": True}, ["search", "fetch", "reindex"]),
        ("zim", {"local": True}, ["search", "fetch", "reindex"]),
    ],
)
async def test_only_tools_that_make_sense_are_shown(
    adapter: str, values: dict[str, Any], names: list[str]
) -> None:
    shown = await listing(FakeManager(adapter=adapter), **values)
    assert [tool["name"] for tool in shown] == names


async def test_every_tool_is_read_only_and_of_a_closed_world() -> None:
    for tool in await listing(FakeManager(), allow_reindex=True):
        assert tool["annotations"] == {"readOnlyHint": True, "openWorldHint": False}


async def test_the_list_of_tools_is_small() -> None:
    core = await listing(FakeManager(adapter="zim"))
    everything = await listing(FakeManager(), allow_reindex=True)
    assert len(json.dumps({"tools": core}, separators=(",", ":"))) <= 3000
    assert len(json.dumps({"tools": everything}, separators=(",", ":"))) <= 7000


async def test_descriptions_and_instructions_are_not_cut_by_any_client() -> None:
    assert len(INSTRUCTIONS) < 2000
    for tool in await listing(FakeManager(), allow_reindex=True):
        assert len(tool["description"]) < 2000


async def test_no_parameter_has_more_than_one_type() -> None:
    for tool in await listing(FakeManager(), allow_reindex=True):
        for parameter in tool["inputSchema"]["properties"].values():
            assert isinstance(parameter["type"], str)
        assert tool["inputSchema"]["additionalProperties"] is False


async def test_nothing_but_tools_is_advertised() -> None:
    for mode in ("legacy", "auto"):
        async with Client(protocol_server(FakeManager()), mode=mode) as client:
            offered = client.server_capabilities.model_dump(exclude_none=True)
            assert offered == {"tools": {"list_changed": False}}
            assert client.instructions == INSTRUCTIONS


async def test_a_hidden_tool_cannot_be_called() -> None:
    assert error(await ask(FakeManager(adapter="zim"), "reindex", {})) == {
        "error": "invalid_argument",
        "message": "unknown tool; the tools are: search, fetch",
        "known_tools": ["search", "fetch"],
    }


async def test_documents_are_listed_page_by_page() -> None:
    manager = large(FakeManager(), 5)
    paths: list[str] = []
    cursor = ""
    while True:
        reply = body(await ask(manager, "list_documents", {"cursor": cursor}))
        paths += [document["path"] for document in reply["documents"]]
        cursor = reply["next_cursor"]
        if not cursor:
            break
    assert paths == ["fa/docker.md", "guides/payments.md", *(f"more/0000{n}.md" for n in range(5))]


async def test_a_listed_document_has_path_title_and_ref() -> None:
    reply = body(await ask(FakeManager(), "list_documents", {"prefix": "guides/"}))
    assert reply == snapshot(
        {
            "documents": [
                {
                    "library": "Docs",
                    "path": "guides/payments.md",
                    "title": "Payments",
                    "ref": "corpus://Docs/guides/payments.md",
                }
            ],
            "next_cursor": "",
        }
    )


async def test_listing_an_unknown_library_fails() -> None:
    assert error(await ask(FakeManager(), "list_documents", {"library": "X"}))["error"] == (
        "unknown_library"
    )


async def test_reindex_counts_what_changed() -> None:
    manager = FakeManager(documents=[page("a", "A", library="A"), page("b", "B", library="B")])
    assert body(await ask(manager, "reindex", {}, allow_reindex=True)) == snapshot(
        {
            "new": 2,
            "updated": 4,
            "removed": 0,
            "unchanged": 6,
            "libraries": [
                {
                    "library": "A",
                    "new": 1,
                    "updated": 2,
                    "removed": 0,
                    "unchanged": 3,
                    "skipped": {"too large": 1},
                },
                {
                    "library": "B",
                    "new": 1,
                    "updated": 2,
                    "removed": 0,
                    "unchanged": 3,
                    "skipped": {"too large": 1},
                },
            ],
        }
    )


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_every_tool_refuses_unknown_arguments_and_names_its_own(tool: Tool) -> None:
    with pytest.raises(InvalidArgument, match="unknown argument 'nonsense'") as refusal:
        await tool.answer(Desk(FakeManager(), settings()), {"nonsense": 1})
    assert refusal.value.details["known_arguments"]


# Styles


async def test_structured_style_sends_the_payload_once() -> None:
    result = await ask(FakeManager(), "fetch", {"ref": REF}, result_style="structured")
    assert result.structured_content is not None
    assert isinstance(result.content[0], TextContent)
    assert "\n" not in result.content[0].text
    assert len(result.content[0].text) < 60


async def test_text_style_has_no_structured_content() -> None:
    result = await ask(FakeManager(), "search", {"query": "webhook"}, result_style="text")
    assert result.structured_content is None
    assert isinstance(result.content[0], TextContent)
    assert json.loads(result.content[0].text)["results"][0]["ref"] == REF


async def test_chatgpt_style_has_the_names_that_connectors_expect() -> None:
    found = body(await ask(FakeManager(), "search", {"query": "webhook"}, result_style="chatgpt"))
    [hit] = found["results"]
    assert {name: hit[name] for name in ("id", "title", "url")} == {
        "id": REF,
        "title": "Payments",
        "url": "https://docs.example.com/guides/payments",
    }
    assert "webhook" in hit["text"]
    assert hit["cite"] == "[1]"
    read = body(await ask(FakeManager(), "fetch", {"id": hit["id"]}, result_style="chatgpt"))
    assert set(read) == {"id", "title", "text", "url", "metadata"}
    assert read["text"].count("<docs") == 3
    assert read["metadata"]["sections"] == ["", "webhooks", "refunds"]
    assert read["metadata"]["truncated"] is False


async def test_chatgpt_style_gives_every_result_something_to_cite() -> None:
    manager = FakeManager(documents=[page("a.md", "Alpha")])
    found = body(await ask(manager, "search", {"query": "alpha"}, result_style="chatgpt"))
    assert found["results"][0]["url"] == "corpus://Docs/a.md"


async def test_id_is_no_argument_in_other_styles() -> None:
    assert error(await ask(FakeManager(), "fetch", {"id": REF}))["error"] == "invalid_argument"


async def test_chatgpt_style_shows_id_as_the_argument_of_fetch() -> None:
    shown = await listing(FakeManager(), result_style="chatgpt")
    assert list(shown[1]["inputSchema"]["properties"]) == ["id", "sections", "start"]
