"""A path in, every revision of that page out, through all its names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from refdesk import grounding
from refdesk.errors import InvalidArgument
from refdesk.model import Revision
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Text, check
from refdesk.tools.desk import Desk, Json, Reply, Tool
from refdesk.tools.search_history import commit, library_schema, shown


class PageHistoryArguments(Arguments):
    """What `page_history` takes."""

    path: Text
    library: Text = ""


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """The revisions of one page, newest first."""
    arguments = check("page_history", PageHistoryArguments, given)
    if not arguments.path.strip():
        raise InvalidArgument("argument 'path' is empty: pass the page's path or ref")
    found = await desk.manager.page_history(arguments.path, library=arguments.library)
    body: Json = {
        "library": found.library,
        "path": grounding.line(found.path),
        "revisions": [_revision(revision) for revision in found.revisions],
        "note": grounding.line(found.note),
    }
    return Reply(body, len(found.revisions), found.library)


def _revision(revision: Revision) -> Json:
    return {
        **(commit(revision.commit) or {}),
        "line": revision.line,
        "change": revision.change,
        "path": grounding.line(revision.path),
        "previous": grounding.line(revision.previous),
    }


def _schema(_: Settings) -> Json:
    return {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "Path of the page now or under any former name, or its ref.",
            },
            "library": library_schema(),
        },
        "required": ["path"],
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="page_history",
    title="List the revisions of a page",
    description="List every commit that changed one page, newest first, following renames.",
    schema=_schema,
    answer=answer,
    shown=shown,
    reply_limit=120_000,
)
