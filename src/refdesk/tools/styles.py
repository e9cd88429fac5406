"""A tool's answer in, the object that the configured clients expect out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from refdesk.tools.desk import Json


def chatgpt(tool: str, body: Json) -> Json:
    """`body` as ChatGPT connectors expect it: `id`, `title`, `text` and `url`, and the rest."""
    shape = _CHATGPT.get(tool)
    return shape(body) if shape else body


def _search(body: Json) -> Json:
    return {**body, "results": [_hit(hit) for hit in _objects(body["results"])]}


def _hit(hit: Json) -> Json:
    rest = {key: value for key, value in hit.items() if key not in ("ref", "snippet")}
    return {"id": hit["ref"], **rest, "url": hit["url"] or hit["ref"], "text": hit["snippet"]}


def _fetch(body: Json) -> Json:
    sections = _objects(body["sections"])
    metadata = {
        key: body[key]
        for key in ("library", "kind", "snapshot", "truncated", "next_start", "available_sections")
    }
    metadata["sections"] = [section["id"] for section in sections]
    return {
        "id": body["ref"],
        "title": body["title"],
        "text": "\n".join(str(section["content"]) for section in sections),
        "url": body["url"] or body["ref"],
        "metadata": metadata,
    }


def _objects(value: object) -> list[Json]:
    return [dict(item) for item in value] if isinstance(value, list) else []


_CHATGPT: Final[Mapping[str, Callable[[Json], Json]]] = {"search": _search, "fetch": _fetch}
