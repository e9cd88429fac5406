"""Corpus text in, untrusted envelope out; citation numbers are minted here. Pure.

Everything a tool or a page shows passes through this room, and nothing else needs to think of
it: `neutral` and `sections` for text of many lines, `line` for titles and other strings of one
line, `link` for addresses, `value` for whole JSON values; `quote` and `quote_block` wrap the
result as data. All but those are idempotent and take time in proportion to their input.

    characters   invisible and control characters go
    tags         scripts, styles, comments, hidden elements and remote loads go
    links        remote images become their alternative text, script links lose their target
    forgery      envelope tags and line-leading citations are taken apart

What it does *not* do: judge what a text says. Instructions in a page stay in the page, as data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from refdesk.grounding.characters import scrub
from refdesk.grounding.forgery import ENVELOPE, SIGNS, disarm, disarm_lists
from refdesk.grounding.links import unlink
from refdesk.grounding.tags import SEAM, clean, restore

OPEN: Final = f'<{ENVELOPE} source="untrusted">'
CLOSE: Final = f"</{ENVELOPE}>"

LINE_LIMIT: Final = 300
"""Characters kept of a title, heading or path."""
_ROUNDS: Final = 4
"""How often text is cleaned again after cleaning has changed it."""
_UNSAFE_IN_URL: Final = re.compile(r"[\s<>\"'`{}|\\^]")
_WEB: Final = re.compile(r"(?i)https?://[^/]")


def cite(number: int) -> str:
    """The citation of the `number`-th result, "[1]" for the first."""
    return f"[{number}]"


def sections(texts: Sequence[str], *, asciidoc: bool = False) -> list[str]:
    """The sections of one document, neutral, not yet wrapped.

    They are cleaned together: an element opened in one section can hide the next.
    """
    if not texts:
        return []
    scrubbed = (scrub(text).strip("\n") for text in texts)
    whole = _clean(f"\n{SEAM}\n".join(scrubbed), asciidoc=asciidoc)
    return [text.strip("\n") for text in whole.split(SEAM)]


def seal(piece: str) -> str:
    """A piece cut out of neutral text: what the cut has laid bare at its ends is closed again."""
    return disarm(scrub(piece))


def quote(text: str) -> str:
    """Neutral text of one line, wrapped as data."""
    return OPEN + text + CLOSE


def quote_block(text: str) -> str:
    """Neutral text of many lines, wrapped as data."""
    return f"{OPEN}\n{text}\n{CLOSE}"


def neutral(text: str, *, asciidoc: bool = False) -> str:
    """`text` without anything that could act, hide or pass for words of the server."""
    return _clean(scrub(text), asciidoc=asciidoc)


@lru_cache(maxsize=4096)
def line(text: str, limit: int = LINE_LIMIT) -> str:
    """`text` on one line, neutral, at most `limit` characters long."""
    flat = " ".join(scrub(text[: 4 * limit]).split())
    if len(flat) > limit:
        flat = scrub(flat[: limit - 1]) + "\u2026"
    return " ".join(_clean(flat, line=True).split())


def link(url: str) -> str:
    """`url` if it is a web address, safe to print anywhere; else ""."""
    url = scrub(url).strip()
    if not _WEB.match(url):
        return ""
    return disarm(_UNSAFE_IN_URL.sub(lambda match: f"%{ord(match[0]):02X}", url))


def value(thing: object) -> object:
    """A JSON value with every string in it, keys too, as `line` gives it."""
    if isinstance(thing, str):
        return line(thing)
    if isinstance(thing, Mapping):
        return {line(str(key)): value(item) for key, item in thing.items()}
    if isinstance(thing, Sequence):
        return [value(item) for item in thing]
    return thing


def _clean(text: str, *, asciidoc: bool = False, line: bool = False) -> str:
    """The steps after `scrub`, until they change nothing: taking a piece out can join another."""
    if not asciidoc and not SIGNS.search(text):
        return text
    for _ in range(_ROUNDS):
        cleaned = _pass(text, asciidoc=asciidoc, line=line)
        if cleaned == text:
            return text
        text = cleaned
    return disarm(text.replace("<", "(").replace("![", "["))


def _pass(text: str, *, asciidoc: bool, line: bool) -> str:
    code: list[str] = []
    prose = clean(text, code, asciidoc=asciidoc, line=line) if _has_markup(text) else text
    prose = disarm_lists(unlink(prose, asciidoc=asciidoc))
    return disarm(restore(prose, code))


def _has_markup(text: str) -> bool:
    return "<" in text or "[" in text or "{/*" in text or "//" in text
