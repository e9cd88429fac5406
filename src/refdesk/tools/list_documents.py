"""A library in, its table of contents out, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from refdesk import grounding
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Text, check
from refdesk.tools.desk import Desk, Json, Reply, Tool

LISTED: Final = frozenset({"markdown", "liara"})
"""Adapters whose libraries are small enough to be listed."""


class ListArguments(Arguments):
    """What `list_documents` takes."""

    library: Text = ""
    prefix: Text = ""
    cursor: Text = ""


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """Path, title and ref of every document; `next_cursor` is "" on the last page."""
    arguments = check("list_documents", ListArguments, given)
    entries, cursor = await desk.manager.entries(
        arguments.library, arguments.prefix, arguments.cursor
    )
    documents = [
        {
            "library": entry.ref.library,
            "path": grounding.line(entry.path),
            "title": grounding.line(entry.title),
            "ref": str(entry.ref),
        }
        for entry in entries
    ]
    body: Json = {"documents": documents, "next_cursor": cursor}
    return Reply(body, len(documents), arguments.library)


def shown(desk: Desk) -> bool:
    """Whether any library can be listed."""
    return any(library.adapter in LISTED for library in desk.manager.libraries)


def _schema(_: Settings) -> Json:
    return {
        "type": "object",
        "properties": {
            "library": {"type": "string", "default": "", "description": "Only this library."},
            "prefix": {
                "type": "string",
                "default": "",
                "description": 'Only paths that begin so, "guides/" for a folder.',
            },
            "cursor": {
                "type": "string",
                "default": "",
                "description": "`next_cursor` of the page before.",
            },
        },
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="list_documents",
    title="List the documents",
    description=(
        "List path, title and ref of the documents in the folder libraries, page by page: for an "
        "overview, or when search does not find a page that should exist."
    ),
    schema=_schema,
    answer=answer,
    shown=shown,
)
