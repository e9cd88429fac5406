"""A build or runtime log in; the line that matters and the pages that explain it out."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from refdesk import grounding
from refdesk.errors import InvalidArgument, NotFound, RequestError, Unavailable
from refdesk.model import Answer, Document, Entry, Hint, Hit, Platform, Section, State
from refdesk.ranking import analysis, snippets
from refdesk.settings import Settings
from refdesk.tools.arguments import Arguments, Text, check
from refdesk.tools.desk import Desk, Json, Manager, Reply, Tool, compact
from refdesk.tools.diagnosis import (
    MOST_CHARACTERS,
    MOST_LINES,
    SIGNATURE_LIMIT,
    UNKNOWN,
    Diagnosis,
    diagnose,
)

ADAPTER: Final = "liara"
PAGES: Final = 5
SNIPPET_LIMIT: Final = 420
"""Characters of a snippet, the envelope not counted."""
REPLY_BYTES: Final = 7800
_LEAST_SNIPPET: Final = 120
_CANDIDATES: Final = 6
_QUERY_LIMIT: Final = 200
_HINTS: Final = 3
_TITLE_LIMIT: Final = 150
_BREADCRUMB_LIMIT: Final = 200
_HINT_LIMIT: Final = 80

_UNKNOWN_MEANING: Final = (
    "No known failure was recognised: the pages are the best search for the signature, no more."
)
_NOTHING_MEANING: Final = "The log holds no line that tells what went wrong."
_GENERAL_NEED: Final = "رفع خطاهای رایج برنامه مشاهده لاگ‌ها"
_FEW_WORDS: Final = 4
_UNKNOWN_TOPICS: Final = (
    "paas/{platform}/fix-common-errors/about",
    "paas/{platform}/how-tos/deploy-app",
)

_TOPIC: Final = 1.0
"""Worth of the first topic of a failure; each after it is worth _STEP less."""
_STEP: Final = 0.09
_GUESSED_TOPIC: Final = 0.3
"""Worth of a topic where the failure is unknown."""
_FOUND: Final = 0.5
"""Worth of the first page of a search; that of the n-th is an n-th of it."""
_OWN: Final = 1.3
_OTHER: Final = 0.3
"""By how much a page of the log's platform is worth more, and one of another platform less."""

_FAR: Final = 0.4
"""What a page of another product, below one of these folders, is worth."""
_FAR_FOLDERS: Final = frozenset({"ai", "iaas", "one-click-apps"})

_HOLDER: Final = re.compile(r"\{(\w+)\}")
_SUFFIX: Final = ".md"
_NO_WORD: Final = re.compile(r"\S{0,200}[/\\@=]\S{0,200}|0x[0-9a-f]{1,16}|\b\d+(?:[.:]\d+)*\b")
_ALIASES: Final = {"net": "dotnet", "aspnet": "dotnet", "aspnetcore": "dotnet", "golang": "go"}


class DiagnoseArguments(Arguments):
    """What `diagnose_log` takes."""

    log: Text
    platform: Text = ""


@dataclass(frozen=True, slots=True)
class _Case:
    """A diagnosed log and where its pages are looked for.

    `platform` is None where neither the caller nor the log tells it.
    """

    found: Diagnosis
    library: str
    platform: Platform | None
    others: tuple[Platform, ...]

    def queries(self) -> list[str]:
        """The searches for what mends it."""
        words = " ".join(_NO_WORD.sub(" ", self.found.signature).split())[:_QUERY_LIMIT]
        if self.found.failure is None:
            short = " ".join(words.split()[:_FEW_WORDS])
            return [query for query in dict.fromkeys((words, short, _GENERAL_NEED)) if query]
        return list(self.found.failure.needs)

    def topics(self) -> list[str]:
        """Globs of the pages that explain it, best first."""
        topics = self.found.failure.topics if self.found.failure else _UNKNOWN_TOPICS
        folder = _folder(self.platform) if self.platform else ""
        names = {"platform": folder, "engine": self.found.engine, "mirror": self.found.mirror}
        told = [topic for topic in topics if all(names[n] for n in _HOLDER.findall(topic))]
        return [_HOLDER.sub(lambda match: names[match[1]], topic) for topic in told]

    def nearness(self, key: str) -> float:
        """What the page at `key` is worth for this platform."""
        parts = set(key.split("/"))
        if self.platform and _folder(self.platform) in parts:
            return _OWN
        if key.partition("/")[0] in _FAR_FOLDERS:
            return _FAR
        return _OTHER if parts & {_folder(other) for other in self.others} else 1.0


async def answer(desk: Desk, given: Mapping[str, object]) -> Reply:
    """Signature, class of failure, platform, and up to PAGES pages, best first.

    Raises:
        InvalidArgument: the log is empty, or the platform is none of the corpus.
        Unavailable: the library is still being indexed.
    """
    arguments = check("diagnose_log", DiagnoseArguments, given)
    if not arguments.log.strip():
        raise InvalidArgument("argument 'log' is empty: pass the end of the log, as it is")
    library = _library(desk.manager)
    platforms = [known for known in desk.manager.platforms if known.library == library]
    wanted = _wanted(platforms, arguments.platform)
    found = await asyncio.to_thread(diagnose, arguments.log)
    platform = wanted or _first_named(platforms, (*found.told, found.platform))
    others = tuple(known for known in platforms if known != platform)
    case = _Case(found, library, platform, others)
    hits, answers = await _pages(desk.manager, case)
    body: Json = {
        "signature": grounding.line(found.signature, SIGNATURE_LIMIT)[:SIGNATURE_LIMIT],
        "error_class": found.failure.name if found.failure else UNKNOWN,
        "meaning": _meaning(found),
        "platform": platform.name if platform else "",
        "results": [],
        "degraded": [
            {"library": missing.library, "reason": grounding.line(missing.reason)}
            for missing in {
                lost.library: lost for each in answers for lost in each.degraded
            }.values()
        ],
    }
    _fill(body, hits)
    return Reply(body, len(hits), library)


def shown(desk: Desk) -> bool:
    """Whether there is a library of the Liara documentation."""
    return any(library.adapter == ADAPTER for library in desk.manager.libraries)


def _library(manager: Manager) -> str:
    libraries = [library for library in manager.libraries if library.adapter == ADAPTER]
    if not libraries:
        raise NotFound("no library of the Liara documentation is configured")
    return min(libraries, key=lambda known: known.state is not State.READY).name


def _wanted(platforms: Sequence[Platform], name: str) -> Platform | None:
    if not name.strip():
        return None
    if not platforms:
        raise Unavailable(
            "no platform is known yet: the library is being indexed; try again in a moment"
        )
    platform = _named(platforms, name)
    if platform is None:
        known = [each.name for each in platforms]
        raise InvalidArgument(
            f"argument 'platform' is none of: {', '.join(known)}; leave it empty to detect it",
            {"platforms": known},
        )
    return platform


def _named(platforms: Sequence[Platform], name: str) -> Platform | None:
    """The platform that is called so, by its name, its folder or as its users spell it."""
    bare = re.sub(r"[^a-z0-9]", "", name.casefold())
    wanted = {bare, bare.removesuffix("js"), _ALIASES.get(bare, "")} - {""}
    return next((each for each in platforms if wanted & {each.name, _folder(each)}), None)


def _first_named(platforms: Sequence[Platform], names: Iterable[str]) -> Platform | None:
    return next((known for name in names if (known := _named(platforms, name))), None)


def _folder(platform: Platform) -> str:
    return platform.folder.rstrip("/").rpartition("/")[2]


def _meaning(found: Diagnosis) -> str:
    if found.failure is not None:
        return found.failure.meaning
    return _UNKNOWN_MEANING if found.signature else _NOTHING_MEANING


async def _pages(manager: Manager, case: _Case) -> tuple[list[Hit], list[Answer]]:
    """The best pages, and the answers of the searches they were chosen from."""
    queries = case.queries()
    topics, answers = await asyncio.gather(
        _topics(manager, case),
        asyncio.gather(
            *(manager.search(query, limit=_CANDIDATES, library=case.library) for query in queries)
        ),
    )
    first = _TOPIC if case.found.failure else _GUESSED_TOPIC
    worth = {key: first - _STEP * place for place, key in enumerate(topics)}
    hits: dict[str, Hit] = {}
    for found in answers:
        best = {_key(hit.ref.path): hit for hit in reversed(found.hits)}
        for place, hit in enumerate(hit for hit in found.hits if hit is best[_key(hit.ref.path)]):
            key = _key(hit.ref.path)
            hits.setdefault(key, hit)
            worth[key] = worth.get(key, 0.0) + _FOUND / (1 + place) * case.nearness(key)
    chosen = sorted(worth, key=lambda key: -worth[key])[:PAGES]
    words = " ".join((*queries, case.found.signature))
    for key in chosen:
        if key not in hits and (read := await _read(manager, topics[key], words)):
            hits[key] = read
    return [hits[key] for key in chosen if key in hits], answers


async def _topics(manager: Manager, case: _Case) -> dict[str, Entry]:
    """The pages of the case's topics that the library has, best first."""
    found: dict[str, Entry] = {}
    for topic in case.topics():
        entries, _ = await manager.entries(case.library, topic.partition("*")[0])
        matching = [entry for entry in entries if fnmatchcase(_key(entry.path), topic)]
        for entry in matching:
            found.setdefault(_key(entry.path), entry)
    return found


def _key(path: str) -> str:
    return path.removesuffix(_SUFFIX)


async def _read(manager: Manager, entry: Entry, words: str) -> Hit | None:
    """The page of `entry` as a hit; None where it has gone since it was listed."""
    try:
        document = await manager.fetch(str(entry.ref))
    except RequestError:
        return None
    return _hit(document, words) if document.sections else None


def _hit(document: Document, words: str) -> Hit:
    """A page that no search brought, shown by the section that speaks most of `words`."""
    terms = [frozenset(analysis.word_terms(word)) for _, _, word in analysis.surface(words)]
    wanted = frozenset().union(*terms)
    section = max(document.sections, key=lambda each: _overlap(each, wanted))
    located = f"{document.ref.path}:{section.start}-{section.end}" if section.start else ""
    return Hit(
        ref=document.ref,
        kind=document.kind,
        title=document.title,
        url=document.url,
        snapshot=document.snapshot,
        breadcrumb=section.breadcrumb,
        location=located,
        score=0.0,
        passage=0,
        sections=(Hint(section.id, section.title),),
        snippet=snippets.Matcher(terms).cut(section.text),
    )


def _overlap(section: Section, wanted: Iterable[str]) -> int:
    terms = {
        term for _, _, word in analysis.surface(section.text) for term in analysis.word_terms(word)
    }
    return len(terms.intersection(wanted))


def _fill(body: Json, hits: Sequence[Hit]) -> None:
    """Add the results, their snippets as long as the reply stays below REPLY_BYTES."""
    limit = SNIPPET_LIMIT
    while True:
        body["results"] = [_result(number, hit, limit) for number, hit in enumerate(hits, 1)]
        if limit <= _LEAST_SNIPPET or len(compact(body)) <= REPLY_BYTES:
            return
        limit -= _LEAST_SNIPPET // 2


def _result(number: int, hit: Hit, limit: int) -> Json:
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
        "snippet": grounding.quote(_clip(grounding.neutral(hit.snippet), limit)),
        "relevant_sections": [
            {"id": grounding.line(hint.id), "title": grounding.line(hint.title, _HINT_LIMIT)}
            for hint in hit.sections[:_HINTS]
        ],
    }


def _clip(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    piece = text[: limit - 1]
    return grounding.seal((piece.rpartition(" ")[0] or piece) + "\u2026")


def _schema(_: Settings) -> Json:
    return {
        "type": "object",
        "properties": {
            "log": {
                "type": "string",
                "description": f"The end of the log, as it is: the last {MOST_LINES} lines or "
                f"{MOST_CHARACTERS:,} characters are read.",
            },
            "platform": {
                "type": "string",
                "default": "",
                "description": "What the application runs on; empty to detect it.",
            },
        },
        "required": ["log"],
        "additionalProperties": False,
    }


TOOL: Final = Tool(
    name="diagnose_log",
    title="Diagnose a log",
    description=(
        "Paste a failed build, deployment or runtime log of Liara: get `signature`, the one line "
        "that matters, its `error_class` with its meaning, the platform, and the pages that "
        "explain it. Secrets are not repeated. `unknown` means that no known failure was found."
    ),
    schema=_schema,
    answer=answer,
    shown=shown,
)
