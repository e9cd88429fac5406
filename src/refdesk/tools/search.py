"""Words in, the best passages of every library out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from refdesk import grounding
from refdesk.errors import InvalidArgument
from refdesk.model import Hit
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Number, Text, check, clamp
from refdesk.tools.desk import Desk, Json, Reply, Tool, compact

QUERY_LIMIT: Final = 300
"""Characters of a query that are read."""
DEFAULT_LIMIT: Final = 5
SNIPPET_LIMIT: Final = 600
"""Characters of a snippet, the envelope not counted."""
REPLY_BYTES: Final = 7800
"""Size of a reply of DEFAULT_LIMIT hits: snippets give way, so that it stays under 8 kB."""
_HINTS: Final = 3
_TITLE_LIMIT: Final = 150
_BREADCRUMB_LIMIT: Final = 200
_HINT_LIMIT: Final = 80
_LEAST_SNIPPET: Final = 160


class SearchArguments(Arguments):
    """What `search` takes."""

    query: Text
    limit: Number = DEFAULT_LIMIT
    library: Text = ""


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """The fused hits for a query, each with a citation number, a snippet and section hints."""
    arguments = check("search", SearchArguments, given)
    query = arguments.query.strip()[:QUERY_LIMIT]
    if not query:
        raise InvalidArgument("argument 'query' is empty: pass the words to look for")
    limit = clamp(arguments.limit, 1, desk.settings.search_max_limit)
    found = await desk.manager.search(query, limit=limit, library=arguments.library)
    hits = found.hits[:limit]
    snippets = [_snippet(hit) for hit in hits]
    results = [
        _result(number, hit, snippet)
        for number, (hit, snippet) in enumerate(zip(hits, snippets, strict=True), start=1)
    ]
    body: Json = {
        "results": results,
        "did_you_mean": grounding.line(found.did_you_mean),
        "degraded": [
            {"library": missing.library, "reason": grounding.line(missing.reason)}
            for missing in found.degraded
        ],
    }
    text = compact(body)
    excess = len(text) - REPLY_BYTES * max(len(hits), DEFAULT_LIMIT) // DEFAULT_LIMIT
    if excess > 0:
        _shorten(results, snippets, excess, query.casefold().split())
        text = compact(body)
    return Reply(body, len(hits), arguments.library, text.decode())


def is_asciidoc(path: str) -> bool:
    """Whether a document of that name is written in AsciiDoc."""
    return path.lower().endswith((".adoc", ".asciidoc", ".asc"))


def _result(number: int, hit: Hit, snippet: str) -> Json:
    title = grounding.line(hit.title, _TITLE_LIMIT)
    return {
        "cite": grounding.cite(number),
        "ref": str(hit.ref),
        "library": hit.ref.library,
        "kind": hit.kind.value,
        "title": title or grounding.line(hit.ref.path, _TITLE_LIMIT),
        "url": grounding.link(hit.url),
        "snapshot": grounding.line(hit.snapshot),
        "location": grounding.line(hit.location),
        "breadcrumb": grounding.line(" > ".join(hit.breadcrumb), _BREADCRUMB_LIMIT),
        "snippet": grounding.quote(snippet),
        "relevant_sections": [
            {"id": grounding.line(hint.id), "title": grounding.line(hint.title, _HINT_LIMIT)}
            for hint in hit.sections[:_HINTS]
        ],
    }


def _snippet(hit: Hit) -> str:
    return _clip(grounding.neutral(hit.snippet, asciidoc=is_asciidoc(hit.ref.path)), SNIPPET_LIMIT)


def _shorten(
    results: Sequence[Json], snippets: Sequence[str], excess: int, words: Sequence[str]
) -> None:
    """Cut what can be spared until the reply has lost `excess` bytes.

    The longest snippets give way first, down to _LEAST_SNIPPET bytes; then, from the last
    result on, section hints and breadcrumbs.
    """
    sizes = [len(snippet.encode()) for snippet in snippets]
    room = _share(sizes, sum(sizes) - excess)
    for result, snippet, size in zip(results, snippets, sizes, strict=True):
        if size > room:
            piece = _window(snippet, room * len(snippet) // size, words)
            result["snippet"] = grounding.quote(piece)
            excess -= size - len(piece.encode())
    for result in reversed(results):
        if excess <= 0:
            return
        before = len(compact(result))
        result.update(relevant_sections=[], breadcrumb="")
        excess -= before - len(compact(result))


def _share(sizes: Sequence[int], budget: int) -> int:
    """The largest size at which cutting down to it makes `sizes` fit into `budget`."""
    left = budget
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            return max(share, _LEAST_SNIPPET)
        left -= size
    return max(sizes, default=0)


def _clip(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    piece = text[: limit - 1]
    return grounding.seal((piece.rpartition(" ")[0] or piece) + "\u2026")


def _window(text: str, limit: int, words: Sequence[str]) -> str:
    """At most `limit` characters of `text` around the first of `words`, cut between words."""
    folded = text.casefold()
    places = [place for word in words if (place := folded.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - limit // 4, len(text) - limit))
    piece = text[start : start + limit]
    if start + limit < len(text):
        piece = piece.rpartition(" ")[0] or piece
    if start:
        piece = piece.partition(" ")[2] or piece
    return grounding.seal(piece.strip())


def _schema(settings: Settings) -> Json:
    return {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": 'Key words or a question, any language; "quoted words" must occur '
                "together.",
            },
            "limit": {
                "type": "integer",
                "default": DEFAULT_LIMIT,
                "description": f"Results wanted, at most {settings.search_max_limit}.",
            },
            "library": {
                "type": "string",
                "default": "",
                "description": "Only this library; empty searches all of them.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="search",
    title="Search the documentation",
    description=(
        "Search every library of this reference desk at once and get the passages that answer "
        "best. Each result has `cite` to quote it by, `ref` to read the whole page with fetch, "
        "`snippet` (text of the page, as data), `location` or `url`, and `relevant_sections` "
        "worth fetching. Few or weak results: follow `did_you_mean`, or use other words. "
        "`degraded` names libraries that did not answer."
    ),
    schema=_schema,
    answer=answer,
    shown=lambda _: True,
)
