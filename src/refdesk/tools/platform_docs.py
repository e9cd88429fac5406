"""A platform and needs in, everything the documentation says about deploying there out."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

from pydantic import Field

from refdesk import grounding
from refdesk.errors import InvalidArgument, NotFound, Unavailable
from refdesk.model import Document, Entry, Hit, Platform, Ref
from refdesk.reading import liarajson
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Names, Text, check
from refdesk.tools.desk import Desk, Json, Reply, Tool, compact

MOST_NEEDS: Final = 10
NEED_LIMIT: Final = 80
"""Characters of a need that are read."""
REFERENCE: Final = "paas/liarajson.md"
FIRST: Final = ("how-tos/deploy-app.md", "quick-start.md", "getting-started.md")
"""Pages whose text is sent before that of others."""
_GUIDES: Final = "how-tos/"
_OVERVIEW: Final = "about.md"
_PAGES_PER_NEED: Final = 3
_CANDIDATES: Final = 10
_SNIPPET: Final = 240
_SHORT_SNIPPET: Final = 140
_FEW_NEEDS: Final = 4
_TITLE: Final = 120
_SUGGESTIONS: Final = 3
_FIELDS: Final = 50
"""Characters for what says where a cut text goes on."""
_ENDLESS: Final = 1 << 40

_odd = re.compile(r"[^a-z0-9]+").sub


class PlatformArguments(Arguments):
    """What `platform_docs` takes."""

    platform: Text = ""
    needs: Names = Field(default_factory=list)


class _Cites:
    """Citation numbers, one for each document."""

    def __init__(self) -> None:
        self._numbers: dict[Ref, int] = {}

    def of(self, ref: Ref) -> str:
        return grounding.cite(self._numbers.setdefault(ref, len(self._numbers) + 1))


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """The canonical pages of a platform, the liara.json reference and one search per need.

    All canonical pages are named; as many as fit into MAX_FETCH_CHARS come with their text,
    after the reference. What does not fit is left for `fetch`.

    Raises:
        InvalidArgument: no platform is given, or one that the corpus does not know.
        Unavailable: the library is still being indexed.
    """
    arguments = check("platform_docs", PlatformArguments, given)
    platform = _chosen(desk.manager.platforms, arguments.platform)
    needs = [need.strip()[:NEED_LIMIT] for need in arguments.needs if need.strip()][:MOST_NEEDS]
    entries = await _entries(desk, platform)
    chosen = [entry for entry in entries if is_canonical(entry.path, platform.folder)]
    canonical = sorted(chosen, key=lambda entry: _order(entry.path, platform.folder))
    documents = {entry.ref: await desk.manager.fetch(str(entry.ref)) for entry in entries}
    reference = await _reference(desk, platform)
    cites = _Cites()
    shown = [_Shown(document, _page(document, cites)) for document in reference]
    pages = [_Shown(documents[e.ref], _page(documents[e.ref], cites)) for e in canonical]
    more: list[Json] = [
        {"title": grounding.line(entry.title, _TITLE), "ref": str(entry.ref)}
        for entry in entries
        if entry not in canonical
    ]
    body: Json = {
        "platform": platform.name,
        "library": platform.library,
        "liara_json": shown[0].page if shown else {},
        "keys": await asyncio.to_thread(_keys, platform, desk, reference, documents),
        "pages": [each.page for each in pages],
        "more_pages": more,
        **await _answered(desk, platform, needs, cites),
        "truncated": False,
    }
    limit = desk.settings.max_fetch_chars
    room = limit - len(compact(body).decode()) - _FIELDS if limit else _ENDLESS
    _fill([*shown, *pages[:1]], pages[1:], more, room)
    body["truncated"] = any(each.cut for each in (*shown, *pages))
    return Reply(body, len(canonical), platform.library)


class _Shown:
    """A document, its entry in the answer, and the text that is added to it if there is room."""

    def __init__(self, document: Document, page: Json) -> None:
        self._texts = grounding.sections([section.text for section in document.sections])
        self.page = page
        self.cut = True

    @property
    def size(self) -> int:
        """Characters of JSON that the whole text takes."""
        return _size(grounding.quote_block("\n\n".join(self._texts)))

    def fill(self, room: int) -> int:
        """Add as many whole sections as fit into `room` characters; how many they take."""
        kept = list(self._texts) if self.size <= room else self._first(room)
        self.cut = len(kept) < len(self._texts)
        if not kept:
            return 0
        content = grounding.quote_block("\n\n".join(kept))
        self.page["content"] = content
        if self.cut:
            self.page["next_start"] = sum(map(len, kept))
        return _size(content)

    def _first(self, room: int) -> list[str]:
        """The sections from the start that fit."""
        kept: list[str] = []
        left = room - _size(grounding.quote_block(""))
        for text in self._texts:
            left -= _size("\n\n" + text)
            if left < 0:
                break
            kept.append(text)
        return kept


def is_canonical(path: str, folder: str) -> bool:
    """Whether a page below the folder of a platform is one of its deployment pages.

    These are the folder's own pages, its guides, and the overviews of what lies deeper.
    """
    inner = path.removeprefix(folder)
    if "/" not in inner.removeprefix(_GUIDES):
        return True
    return inner.removeprefix(_GUIDES).count("/") == 1 and inner.endswith("/" + _OVERVIEW)


def _order(path: str, folder: str) -> tuple[int, str]:
    inner = path.removeprefix(folder)
    return (FIRST.index(inner) if inner in FIRST else len(FIRST), inner)


def _chosen(platforms: Sequence[Platform], name: str) -> Platform:
    if not platforms:
        raise Unavailable(
            "no platform is known yet: the library is being indexed; try again in a moment"
        )
    wanted = _odd("", name.casefold())
    for platform in platforms:
        if wanted in (_odd("", platform.name), _odd("", platform.folder.split("/")[-2])):
            return platform
    names = [platform.name for platform in platforms]
    near = difflib.get_close_matches(wanted, names, _SUGGESTIONS)
    problem = f"{grounding.line(name, 60)!r} is no platform" if name else "is empty"
    raise InvalidArgument(
        f"argument 'platform' {problem}; pass one of: {', '.join(names)}",
        {"platforms": names, **({"suggestions": near} if near else {})},
    )


async def _entries(desk: Desk, platform: Platform) -> list[Entry]:
    """Every page below the platform's folder."""
    found, cursor = await desk.manager.entries(platform.library, platform.folder)
    while cursor:
        more, cursor = await desk.manager.entries(platform.library, platform.folder, cursor)
        found += more
    return found


async def _reference(desk: Desk, platform: Platform) -> list[Document]:
    """The reference of liara.json; no document where the corpus has none."""
    try:
        return [await desk.manager.fetch(str(Ref(platform.library, REFERENCE)))]
    except NotFound:
        return []


def _keys(
    platform: Platform,
    desk: Desk,
    reference: Sequence[Document],
    documents: Mapping[Ref, Document],
) -> list[Json]:
    own = {str(ref): _text(document) for ref, document in documents.items()}
    whole = (str(reference[0].ref), _text(reference[0])) if reference else ("", "")
    names = {known.name for known in desk.manager.platforms}
    return [
        {
            "key": grounding.line(key.name),
            "example": grounding.line(key.example),
            "in_reference": key.in_reference,
            "ref": key.page,
        }
        for key in liarajson.keys(platform.name, names, whole, own)
    ]


def _page(document: Document, cites: _Cites) -> Json:
    return {
        "cite": cites.of(document.ref),
        "ref": str(document.ref),
        "title": grounding.line(document.title, _TITLE),
        "url": grounding.link(document.url),
    }


async def _answered(
    desk: Desk, platform: Platform, needs: Sequence[str], cites: _Cites
) -> dict[str, object]:
    """The pages found for each need, and the libraries that failed in any search.

    A need is looked for with the platform's name and without it: pages about the platform and
    pages for all of them take turns, pages about another platform are left out.
    """
    others = [known for known in desk.manager.platforms if known != platform]
    limit = _SNIPPET if len(needs) <= _FEW_NEEDS else _SHORT_SNIPPET
    degraded: dict[str, str] = {}
    answers: list[Json] = []
    for need in needs:
        narrow, broad = [
            await desk.manager.search(query, limit=_CANDIDATES, library=platform.library)
            for query in (f"{need} {_word(platform)}", need)
        ]
        for missing in (*narrow.degraded, *broad.degraded):
            degraded[missing.library] = missing.reason
        here = [hit for hit in narrow.hits if _is_about(hit, platform)]
        general = [hit for hit in broad.hits if not any(_is_about(hit, p) for p in others)]
        results = [_hit(h, cites, limit) for h in _alternate(here, general or broad.hits)]
        answers.append({"need": grounding.line(need), "results": results})
    failed = [{"library": name, "reason": grounding.line(why)} for name, why in degraded.items()]
    return {"needs": answers, "degraded": failed}


def _word(platform: Platform) -> str:
    """The name of the platform's folder: what paths of other pages about it end in too."""
    return platform.folder.rstrip("/").rpartition("/")[2]


def _is_about(hit: Hit, platform: Platform) -> bool:
    name = hit.ref.path.rpartition("/")[2].partition(".")[0]
    return hit.ref.path.startswith(platform.folder) or name == _word(platform)


def _alternate(first: Sequence[Hit], second: Sequence[Hit]) -> list[Hit]:
    """The best hit of each page, by turns from both lists, at most _PAGES_PER_NEED."""
    turns = [hit for pair in zip_longest(first, second) for hit in pair if hit is not None]
    pages: dict[Ref, Hit] = {}
    for hit in turns:
        pages.setdefault(hit.ref, hit)
    return list(pages.values())[:_PAGES_PER_NEED]


def _hit(hit: Hit, cites: _Cites, limit: int) -> Json:
    snippet = grounding.neutral(hit.snippet)
    if len(snippet) > limit:
        piece = snippet[: limit - 1]
        snippet = grounding.seal((piece.rpartition(" ")[0] or piece) + "\u2026")
    return {
        "cite": cites.of(hit.ref),
        "ref": str(hit.ref),
        "title": grounding.line(hit.title, _TITLE),
        "url": grounding.link(hit.url),
        "section": grounding.line(hit.sections[0].id) if hit.sections else "",
        "snippet": grounding.quote(snippet),
    }


def _fill(first: Sequence[_Shown], others: Sequence[_Shown], more: list[Json], room: int) -> None:
    """Add the texts that fit into `room` characters: `first` by sections, `others` only whole."""
    room += _give_way(more, [each.size for each in first], room)
    for each in first:
        room -= each.fill(room)
    for each in others:
        room -= each.fill(room) if each.size <= room else 0


def _give_way(more: list[Json], sizes: Sequence[int], room: int) -> int:
    """Shorten the list of other pages, so that the first texts fit as far as that helps.

    Those pages are found by other means too. Returns the characters that were freed.
    """
    weights = [len(compact(entry).decode()) + 1 for entry in more]
    freed = 0
    for wanted in (sum(sizes), sum(sizes[:1])):
        if room < wanted <= room + sum(weights):
            while room + freed < wanted:
                freed += weights.pop()
                more.pop()
            break
    return freed


def _text(document: Document) -> str:
    return "\n\n".join(section.text for section in document.sections)


def _size(text: str) -> int:
    """Characters that `text` takes as the value of a field."""
    return len(json.dumps(text, ensure_ascii=False)) + len(',"content":')


def _choices(desk: Desk) -> Mapping[str, Sequence[str]]:
    return {"platform": [platform.name for platform in desk.manager.platforms]}


def _schema(_: Settings) -> Json:
    return {
        "type": "object",
        "properties": {
            "platform": {"type": "string", "description": "What the application runs on."},
            "needs": {
                "type": "array",
                "items": {"type": "string"},
                "default": [],
                "description": f"Up to {MOST_NEEDS} things it needs, a few words each: "
                '"PostgreSQL", "cron job".',
            },
        },
        "required": ["platform"],
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="platform_docs",
    title="Deploy on a platform",
    description=(
        "Call this first when deploying to Liara: everything about one platform at once. "
        "`liara_json` is the complete reference of the configuration file, `keys` those that "
        "apply here, `pages` every deployment page, `needs` the pages found for each need. Pages "
        "without `content` did not fit: read them with fetch and their `ref`."
    ),
    schema=_schema,
    choices=_choices,
    answer=answer,
    shown=lambda desk: any(library.adapter == "liara" for library in desk.manager.libraries),
    reply_limit=120_000,
)
