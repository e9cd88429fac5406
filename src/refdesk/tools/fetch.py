"""A ref in, the text of the page out: whole, by section, or from where it was cut."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pydantic import Field

from refdesk import grounding
from refdesk.errors import InvalidArgument, SectionNotFound
from refdesk.model import Document, Section
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Names, Number, Text, check
from refdesk.tools.desk import Desk, Json, Reply, Tool
from refdesk.tools.search import is_asciidoc

CONTENTS_LIMIT: Final = 24_000
"""Characters of `available_sections`; a longer list leaves out its deepest levels."""
_ERROR_CONTENTS_LIMIT: Final = 8_000
_SUGGESTIONS: Final = 3
_LARGE: Final = 100_000


class FetchArguments(Arguments):
    """What `fetch` takes."""

    ref: Text = ""
    sections: Names = Field(default_factory=list)
    start: Number = 0


class ChatFetchArguments(FetchArguments):
    """What `fetch` takes in the chatgpt style: `id` is another name of `ref`."""

    id: Text = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A section, or as much of it as was asked for; `text` is neutral but not yet wrapped."""

    id: str
    title: str
    text: str


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """The sections asked for, cut at a section boundary where they grow too long.

    Raises:
        InvalidArgument: no ref is given.
        SectionNotFound: a section id is not one of this document's; nothing is sent then.
    """
    chat = desk.settings.result_style == "chatgpt"
    arguments = check("fetch", ChatFetchArguments if chat else FetchArguments, given)
    ref = arguments.ref or (arguments.id if isinstance(arguments, ChatFetchArguments) else "")
    if not ref.strip():
        raise InvalidArgument("argument 'ref' is empty: pass a ref as search returned it")
    document = await desk.manager.fetch(ref.strip())
    pieces = _chosen(document, await _neutral(document), arguments.sections)
    limit = desk.settings.max_fetch_chars
    cut, end = _cut(pieces, max(0, arguments.start), limit)
    truncated = end < sum(len(piece.text) for piece in pieces)
    body: Json = {
        "ref": str(document.ref),
        "library": document.ref.library,
        "kind": document.kind.value,
        "title": grounding.line(document.title) or grounding.line(document.ref.path),
        "url": grounding.link(document.url),
        "snapshot": grounding.line(document.snapshot),
        "sections": [
            {"id": piece.id, "title": piece.title, "content": grounding.quote_block(piece.text)}
            for piece in cut
        ],
        "available_sections": _contents(document.sections, CONTENTS_LIMIT),
        "truncated": truncated,
        "next_start": end if truncated else 0,
    }
    return Reply(body, len(cut), document.ref.library)


async def _neutral(document: Document) -> Sequence[Piece]:
    """Every section of `document`, neutral; a large one is cleaned beside the event loop."""
    if document.size < _LARGE:
        return _pieces(document)
    return await asyncio.to_thread(_remembered, document)


def _pieces(document: Document) -> Sequence[Piece]:
    """Every section, neutral. The whole document is cleaned, so that offsets mean the same."""
    adoc = is_asciidoc(document.ref.path)
    texts = grounding.sections([section.text for section in document.sections], asciidoc=adoc)
    return [
        Piece(grounding.line(section.id), grounding.line(section.title), text)
        for section, text in zip(document.sections, texts, strict=True)
    ]


_remembered: Final = lru_cache(maxsize=8)(_pieces)
"""Large documents are read part by part, and each part needs all of the document cleaned."""


def _chosen(document: Document, pieces: Sequence[Piece], wanted: Sequence[str]) -> Sequence[Piece]:
    if not wanted:
        return pieces
    ids = {grounding.line(name) for name in wanted}
    missing = sorted(ids - {piece.id for piece in pieces})
    if not missing:
        return [piece for piece in pieces if piece.id in ids]
    known = [piece.id for piece in pieces]
    near = [
        name
        for wrong in missing
        for name in difflib.get_close_matches(wrong, known, _SUGGESTIONS, cutoff=0.5)
    ]
    raise SectionNotFound(
        "the document has no such section: pass ids from available_sections, or no sections at "
        "all for the whole page",
        {
            "missing_sections": missing,
            **({"suggestions": list(dict.fromkeys(near))} if near else {}),
            "available_sections": _contents(document.sections, _ERROR_CONTENTS_LIMIT),
        },
    )


def _cut(pieces: Sequence[Piece], start: int, limit: int) -> tuple[list[Piece], int]:
    """The pieces from character `start` on, at most `limit` (0: no limit), and where they end.

    Characters are those of the pieces' texts, one after the other. The cut falls between two
    sections; only a section that is too long on its own is cut inside, at the end of a line.
    """
    cut: list[Piece] = []
    begin, end, room = 0, start, limit
    for piece in pieces:
        first, begin = begin, begin + len(piece.text)
        if begin <= start and (piece.text or first < start):
            continue
        text = piece.text[max(0, start - first) :]
        if limit and len(text) > room:
            if end == start:
                text = text[: _line_end(text, room)]
                cut.append(_part(piece, text))
                end += len(text)
            break
        cut.append(_part(piece, text))
        room -= len(text)
        end = begin
    return cut, end


def _part(piece: Piece, text: str) -> Piece:
    if text == piece.text:
        return piece
    return Piece(piece.id, piece.title, grounding.seal(text))


def _line_end(text: str, room: int) -> int:
    """Where to cut `text` so that at most `room` characters, and at least one, come before."""
    newline = text.rfind("\n", 0, room) + 1
    return newline or text.rfind(" ", 0, room) + 1 or room


def _contents(sections: Sequence[Section], limit: int) -> list[Json]:
    """Id and title of every section, without the deepest levels if that would be too long."""
    levels = sorted({section.level for section in sections}, reverse=True)
    for deepest in levels:
        contents: list[Json] = [
            {"id": grounding.line(section.id), "title": grounding.line(section.title, 120)}
            for section in sections
            if section.level <= deepest
        ]
        if len(json.dumps(contents, ensure_ascii=False)) <= limit:
            return contents
    return contents[: limit // 100] if levels else []


def _schema(settings: Settings) -> Json:
    key = "id" if settings.result_style == "chatgpt" else "ref"
    return {
        "type": "object",
        "properties": {
            key: {
                "type": "string",
                "description": f"`{key}` of a search result, or the URL of a page in a library.",
            },
            "sections": {
                "type": "array",
                "items": {"type": "string"},
                "default": [],
                "description": "Section ids to read; empty reads the whole page.",
            },
            "start": {
                "type": "integer",
                "default": 0,
                "description": "`next_start` of a truncated answer, to read on.",
            },
        },
        "required": [key],
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="fetch",
    title="Read a page",
    description=(
        "Read a page found by search: the whole page, or only some `sections` of it (cheaper). "
        "A long page comes in parts: when `truncated` is true, call again with the same "
        "arguments and `start` = `next_start`. `available_sections` lists what the page holds. "
        "Only pages of the configured libraries can be read; nothing is loaded from the web."
    ),
    schema=_schema,
    answer=answer,
    shown=lambda _: True,
    reply_limit=120_000,
)
