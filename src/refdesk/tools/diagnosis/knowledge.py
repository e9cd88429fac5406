"""signatures.toml in, what is known of failures out."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

_REPEAT: Final = ("?", "*", "{")
_SHORTEST_NEEDLE: Final = 3
_CLASSES: Final = frozenset("dDwWsSbB")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, and texts in lower case: without any of them it cannot match."""

    source: str
    needles: tuple[str, ...]

    def search(self, line: str) -> re.Match[str] | None:
        """The first match in `line`, whatever the case."""
        return _compiled(self.source).search(line)


@dataclass(frozen=True, slots=True)
class Failure:
    """A class of failure: how it shows, and what mends it.

    Of several failures in a log the highest `weight` counts. Of several matching lines the
    earliest of `patterns` counts, then the last line, or the first where `first` says so.
    `needs` are searches, `topics` globs of page paths with {platform}, {engine} and {mirror}.
    """

    name: str
    meaning: str
    weight: int
    patterns: tuple[Pattern, ...]
    needs: tuple[str, ...]
    topics: tuple[str, ...]
    platform: str = ""
    engine: str = ""
    first: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words that speak for one platform, database or registry."""

    name: str
    weight: int
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All of signatures.toml."""

    failures: tuple[Failure, ...]
    platforms: tuple[Evidence, ...]
    engines: tuple[Evidence, ...]
    mirrors: tuple[Evidence, ...]


@lru_cache(maxsize=1)
def knowledge() -> Knowledge:
    """What the package knows; read once."""
    text = files("refdesk.tools.diagnosis").joinpath("signatures.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return Knowledge(
        failures=tuple(_failure(table) for table in data["failure"]),
        platforms=tuple(
            Evidence(table["platform"], table["weight"], _patterns(table["patterns"]))
            for table in data["evidence"]
        ),
        engines=tuple(_named(data["engine"])),
        mirrors=tuple(_named(data["mirror"])),
    )


def _failure(table: Mapping[str, object]) -> Failure:
    texts = {key: _texts(table[key]) for key in ("patterns", "needs", "topics")}
    return Failure(
        name=str(table["name"]),
        meaning=str(table["meaning"]),
        weight=int(str(table["weight"])),
        patterns=_patterns(texts["patterns"]),
        needs=texts["needs"],
        topics=texts["topics"],
        platform=str(table.get("platform", "")),
        engine=str(table.get("engine", "")),
        first=table.get("pick") == "first",
    )


def _named(tables: Sequence[Mapping[str, object]]) -> Iterator[Evidence]:
    for table in tables:
        yield Evidence(str(table["name"]), 1, _patterns(_texts(table["patterns"])))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _patterns(sources: Sequence[str]) -> tuple[Pattern, ...]:
    return tuple(Pattern(source, needles(source)) for source in sources)


def needles(source: str) -> tuple[str, ...]:
    """Texts in lower case, one of which stands in whatever the expression `source` matches.

    The longest that stands there in any case, or one for each choice of a group. An expression
    that has neither gives `("",)`, which every line holds.
    """
    runs, groups, choice = _outline(source)
    longest = max(runs, key=len)
    if choice:
        return ("",)
    if len(longest) >= _SHORTEST_NEEDLE:
        return (longest,)
    for group in groups:
        found = tuple(needles(part)[0] for part in group)
        if min(map(len, found)) >= _SHORTEST_NEEDLE:
            return found
    return (longest,)


def _outline(source: str) -> tuple[list[str], list[list[str]], bool]:
    """What an expression surely holds: texts, the choices of groups; whether it is a choice.

    Groups are `(…)`, `(?:…)` or `(?flags:…)`: the patterns look neither ahead nor back.
    """
    runs = [""]
    groups: list[list[str]] = []
    parts: list[int] = []
    depth = place = 0
    while place < len(source):
        character = source[place]
        after = _atom_end(source, place)
        literal = ""
        if character == "(":
            depth += 1
            if depth == 1:
                after = source.index(":", place) + 1 if source.startswith("(?", place) else after
                parts = [after]
        elif character == ")":
            depth -= 1
            if depth == 0 and source[after : after + 1] not in _REPEAT:
                bounds = [*parts, place + 1]
                groups.append([source[a : b - 1] for a, b in pairwise(bounds)])
        elif character == "|" and depth == 0:
            return runs, groups, True
        elif character == "|" and depth == 1:
            parts.append(after)
        elif character == "\\":
            literal = "" if source[place + 1] in _CLASSES else source[place + 1]
        elif character not in ".^$?*+[{":
            literal = character
        place = after
        if literal and depth == 0 and source[place : place + 1] not in _REPEAT:
            runs[-1] += literal.lower()
        elif runs[-1]:
            runs.append("")
    return runs, groups, False


def _atom_end(source: str, place: int) -> int:
    if source[place] == "\\":
        return place + 2
    if source[place] == "[":
        return _class_end(source, place)
    if source[place] == "{":
        return source.index("}", place) + 1
    return place + 1


def _class_end(source: str, start: int) -> int:
    """Where the character class that begins at `start` is over."""
    place = start + 1
    if source[place] == "^":
        place += 1
    place += 2 if source[place] == "\\" else 1  # a bracket in first place is a character
    while source[place] != "]":
        place += 2 if source[place] == "\\" else 1
    return place + 1


@lru_cache(maxsize=4096)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)
