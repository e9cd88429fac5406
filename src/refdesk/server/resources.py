"""A desk in, its one resource out: where the Liara pages come from and what they are.

`liara://corpus` exists where a library of that kind is configured; else there are no resources.
"""

from __future__ import annotations

from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)

from refdesk import grounding
from refdesk.errors import RefdeskError
from refdesk.model import Dense, Survey
from refdesk.tools.desk import Desk, Json, compact

URI: Final = "liara://corpus"
ADAPTER: Final = "liara"
_TYPE: Final = "application/json"
_UNKNOWN: Final = Survey("", "", "", "", 0, 0, {})


def exist(desk: Desk) -> bool:
    """Whether the server of `desk` offers resources at all."""
    return any(library.adapter == ADAPTER for library in desk.manager.libraries)


def listing() -> ListResourcesResult:
    """The answer to resources/list."""
    return ListResourcesResult(
        resources=[
            Resource(
                name="liara-corpus",
                title="State of the Liara documentation",
                uri=URI,
                description="Upstream commit, ingest date, counts and languages, as JSON.",
                mime_type=_TYPE,
            )
        ]
    )


async def read(desk: Desk, uri: str) -> ReadResourceResult:
    """The answer to resources/read.

    Raises:
        MCPError: `uri` names no resource, or the library cannot answer now.
    """
    if uri != URI:
        shown = grounding.line(uri, 100)
        raise MCPError(INVALID_PARAMS, f"Unknown resource: {shown}; there is only {URI}")
    try:
        text = compact(await corpus(desk)).decode()
    except RefdeskError as error:
        raise MCPError(INTERNAL_ERROR, grounding.line(str(error))) from error
    return ReadResourceResult(contents=[TextResourceContents(uri=URI, mime_type=_TYPE, text=text)])


async def corpus(desk: Desk) -> Json:
    """What the resource says of the first library; more of them are under `others`.

    While that library is indexed for the first time its texts are "" and its counts 0.
    """
    first, *others = await desk.manager.surveys() or [_UNKNOWN]
    return {
        **_survey(first),
        "others": [_survey(other) for other in others],
        "platforms": [grounding.line(platform.name) for platform in desk.manager.platforms],
        "dense": _dense(desk, first.library),
    }


def _dense(desk: Desk, name: str) -> Json:
    """Whether searches by meaning take part in that library, and why not."""
    state = next((one.dense for one in desk.manager.libraries if one.name == name), Dense())
    return {"on": state.on, "reason": grounding.line(state.reason)}


def _survey(survey: Survey) -> Json:
    return {
        "library": survey.library,
        "commit": grounding.line(survey.commit),
        "committed": grounding.line(survey.committed),
        "ingested": grounding.line(survey.ingested),
        "documents": survey.documents,
        "sections": survey.sections,
        "languages": dict(survey.languages),
    }
