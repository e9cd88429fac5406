"""A literal text in, the commits that wrote it and removed it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from refdesk import grounding
from refdesk.errors import InvalidArgument
from refdesk.model import Documented, Mention
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Text, check
from refdesk.tools.desk import Desk, Json, Reply, Tool
from refdesk.tools.search_history import commit, library_schema, shown

_PATHS: Final = 5


class WhenArguments(Arguments):
    """What `when_documented` takes."""

    text: Text
    library: Text = ""


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """For each library with history: does the text stand, and which commits changed that."""
    arguments = check("when_documented", WhenArguments, given)
    if not arguments.text.strip():
        raise InvalidArgument("argument 'text' is empty: pass the words exactly as they stood")
    found = await desk.manager.when_documented(arguments.text, library=arguments.library)
    count = sum(len(one.main_line) + len(one.branches) for one in found)
    return Reply({"results": [_result(one) for one in found]}, count, arguments.library)


def _result(one: Documented) -> Json:
    return {
        "library": one.library,
        "status": one.status,
        "paths": _paths(one.paths),
        "main_line": [_mention(mention) for mention in one.main_line],
        "branches": [_mention(mention) for mention in one.branches],
        "note": grounding.line(one.note),
    }


def _mention(mention: Mention) -> Json:
    return {
        "change": mention.change,
        **(commit(mention.commit) or {}),
        "paths": _paths(mention.paths),
        "confirmed": mention.confirmed,
    }


def _paths(paths: Sequence[str]) -> list[str]:
    more = [f"and {len(paths) - _PATHS} more"] if len(paths) > _PATHS else []
    return [*(grounding.line(path) for path in paths[:_PATHS]), *more]


def _schema(_: Settings) -> Json:
    return {
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "description": "The words exactly as they stood; line breaks do not matter.",
            },
            "library": library_schema(),
        },
        "required": ["text"],
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="when_documented",
    title="When did the documentation say this",
    description=(
        "Find the commits that wrote a literal text and those that removed it, newest first, on "
        "the main line and on branches. `confirmed`: git's pickaxe agrees."
    ),
    schema=_schema,
    answer=answer,
    shown=shown,
)
