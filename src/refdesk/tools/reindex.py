"""A library in, what changed in it since it was last indexed out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from refdesk import grounding
from refdesk.model import Changes
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Text, check
from refdesk.tools.desk import Desk, Json, Reply, Tool


class ReindexArguments(Arguments):
    """What `reindex` takes."""

    library: Text = ""


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """Counts of new, updated, removed and unchanged documents, in all and for each library."""
    arguments = check("reindex", ReindexArguments, given)
    changes = await desk.manager.reindex(arguments.library)
    total = Changes(
        new=sum(change.new for change in changes.values()),
        updated=sum(change.updated for change in changes.values()),
        removed=sum(change.removed for change in changes.values()),
        unchanged=sum(change.unchanged for change in changes.values()),
    )
    body: Json = {
        **_counts(total),
        "libraries": [
            {"library": name, **_counts(change), "skipped": _skipped(change)}
            for name, change in changes.items()
        ],
    }
    return Reply(body, len(changes), arguments.library)


def _counts(change: Changes) -> Json:
    return {
        "new": change.new,
        "updated": change.updated,
        "removed": change.removed,
        "unchanged": change.unchanged,
    }


def _skipped(change: Changes) -> Json:
    return {grounding.line(skip.reason): skip.count for skip in change.skipped}


def _schema(_: Settings) -> Json:
    return {
        "type": "object",
        "properties": {
            "library": {
                "type": "string",
                "default": "",
                "description": "Only this library; empty for all.",
            }
        },
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="reindex",
    title="Update the index",
    description=(
        "Index what changed on disk now instead of waiting for it to be noticed, and count new, "
        "updated, removed and unchanged documents. Changes the index only, never the documents."
    ),
    schema=_schema,
    answer=answer,
    shown=lambda desk: desk.local or desk.settings.allow_reindex,
    deadline=600.0,
)
