"""Words in, sections that once stood in the pages out: who added them, who removed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import BeforeValidator

from refdesk import grounding
from refdesk.errors import InvalidArgument
from refdesk.model import Commit, Lifetime
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Number, Text, check, clamp
from refdesk.tools.desk import Desk, Json, Reply, Tool
from refdesk.tools.search import QUERY_LIMIT, is_asciidoc

DEFAULT_LIMIT: Final = 5
_BREADCRUMB_LIMIT: Final = 200
_SUBJECT_LIMIT: Final = 120
_NAME_LIMIT: Final = 80
_WORDS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    raise ValueError("must be true or false")


Switch = Annotated[bool, BeforeValidator(_switch)]
"""True or false, also when it comes as text or as 1 or 0."""


class SearchHistoryArguments(Arguments):
    """What `search_history` takes."""

    query: Text
    limit: Number = DEFAULT_LIMIT
    only_removed: Switch = False
    library: Text = ""


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """The lifetimes of sections that hold words of the query, best first."""
    arguments = check("search_history", SearchHistoryArguments, given)
    query = arguments.query.strip()[:QUERY_LIMIT]
    if not query:
        raise InvalidArgument("argument 'query' is empty: pass the words to look for")
    limit = clamp(arguments.limit, 1, desk.settings.search_max_limit)
    found = await desk.manager.search_history(
        query, limit=limit, only_removed=arguments.only_removed, library=arguments.library
    )
    body: Json = {
        "results": [_result(number, life) for number, life in enumerate(found[:limit], start=1)]
    }
    return Reply(body, len(found[:limit]), arguments.library)


def commit(one: Commit | None) -> Json | None:
    """A commit as it may be shown: its id, day, author and subject."""
    if one is None:
        return None
    return {
        "commit": one.id,
        "date": one.date,
        "author": grounding.line(one.author, _NAME_LIMIT),
        "subject": grounding.line(one.subject, _SUBJECT_LIMIT),
    }


def shown(desk: Desk) -> bool:
    """Whether any library has a history."""
    return bool(desk.manager.histories)


def library_schema() -> Json:
    """The argument that picks one library."""
    return {"type": "string", "default": "", "description": "Only this library."}


def _result(number: int, life: Lifetime) -> Json:
    return {
        "cite": grounding.cite(number),
        "library": life.library,
        "path": grounding.line(life.path),
        "section": grounding.line(life.section),
        "breadcrumb": grounding.line(" > ".join(life.breadcrumb), _BREADCRUMB_LIMIT),
        "status": life.status,
        "added": commit(life.added),
        "removed": commit(life.removed),
        "written": commit(life.written),
        "authors": _authors(life),
        "text": grounding.quote(grounding.neutral(life.text, asciidoc=is_asciidoc(life.path))),
    }


def _authors(life: Lifetime) -> list[str]:
    """Who wrote the text and who brought it to the main line, each once."""
    names = [one.author for one in (life.written, life.added) if one is not None]
    return list(dict.fromkeys(grounding.line(name, _NAME_LIMIT) for name in names))


def _schema(settings: Settings) -> Json:
    return {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": 'Key words; "quoted words" must occur together.',
            },
            "limit": {
                "type": "integer",
                "default": DEFAULT_LIMIT,
                "description": f"At most {settings.search_max_limit}.",
            },
            "only_removed": {
                "type": "boolean",
                "default": False,
                "description": "Only text that no page says any more.",
            },
            "library": library_schema(),
        },
        "required": ["query"],
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="search_history",
    title="Search what the documentation used to say",
    description=(
        "Search every past and present version of the pages. Each result is one section's text "
        "with the commits that `added` and `removed` it and its `status`: live, removed, or branch "
        "(never on the main line)."
    ),
    schema=_schema,
    answer=answer,
    shown=shown,
)
