"""Markdown with samples of liara.json in, the keys that a platform may use out."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

EXAMPLE_CHARS: Final = 80
_LONGEST_SAMPLE: Final = 20_000
_DEEPEST: Final = 4

_fenced = re.compile(
    r"^[ \t]*+(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^[ \t]*+\1[`~]*+[ \t]*+$|\Z)",
    re.MULTILINE | re.DOTALL,
).finditer
_trailing_comma = re.compile(r",(\s*[}\]])").sub
_digits = re.compile(r"\d+").sub

Sample = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Key:
    """One key of liara.json: dotted, `[]` for the items of a list.

    `example` is the JSON of a value that a page shows, at most EXAMPLE_CHARS long. `page` says
    which of the pages tells most about it; `in_reference` whether the reference has it at all.
    """

    name: str
    example: str
    page: str
    in_reference: bool


def keys(
    platform: str, platforms: Collection[str], reference: tuple[str, str], own: Mapping[str, str]
) -> list[Key]:
    """The keys that apply to `platform`: those of every platform first, then its own.

    `reference` is (page, text) of the reference, `own` the same of the platform's own pages. In a
    sample, the settings of a platform stand in an object of its name; what stands beside such an
    object belongs to that platform alone, unless another sample shows it without.
    """
    page, text = reference
    samples = list(_samples(text))
    common: dict[str, object] = {}
    special: dict[str, object] = {}
    for sample in samples:
        owners = _owners(sample, platforms)
        if owners and platform not in owners:
            continue
        into = special if owners else common
        for name, value in _paths(sample).items():
            into.setdefault(name, value)
    found = common | {name: value for name, value in special.items() if name not in common}
    places = dict.fromkeys(found, page)
    tops = {name.partition(".")[0].partition("[")[0] for name in common}
    for each, written in own.items():
        for sample in _samples(written):
            marked = sample.get("platform") == platform or platform in _owners(sample, platforms)
            if marked or sample.keys() <= tops:
                for name, value in _paths(sample).items():
                    if name not in found or places[name] == page:
                        places[name] = each
                    found.setdefault(name, value)
    found = {name: value for name, value in found.items() if name != platform}
    if "platform" in found:
        found["platform"] = platform
    return [
        Key(name, _example(value), places[name], name in common or name in special)
        for name, value in found.items()
    ]


def _samples(text: str) -> Iterator[Sample]:
    """The JSON objects among the code blocks, whatever their language is said to be."""
    for block in _fenced(text):
        code = block.group(2).strip()
        if not code.startswith("{") or len(code) > _LONGEST_SAMPLE:
            continue
        try:
            value = json.loads(_trailing_comma(r"\1", code))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _owners(sample: Sample, platforms: Collection[str]) -> list[str]:
    return [name for name, value in sample.items() if name in platforms and isinstance(value, dict)]


def _paths(value: object, prefix: str = "", depth: int = 0) -> dict[str, object]:
    """Dotted path -> value of everything below `value` that is no object itself."""
    if isinstance(value, list) and len(value) > 0 and isinstance(value[0], dict):
        return _paths(value[0], f"{prefix}[]", depth + 1)
    if not isinstance(value, dict) or not value or depth >= _DEEPEST or _are_invented(value):
        return {prefix: value} if prefix else {}
    found: dict[str, object] = {}
    for name, inner in value.items():
        found |= _paths(inner, f"{prefix}.{name}" if prefix else str(name), depth + 1)
    return found


def _are_invented(value: Sequence[str] | Mapping[str, object]) -> bool:
    """Whether names are placeholders that only their number tells apart, such as env1, env2."""
    return len(value) > 1 and len({_digits("", str(name)) for name in value}) == 1


def _example(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    cut = len(text) > EXAMPLE_CHARS
    return text[: EXAMPLE_CHARS - 1] + "\N{HORIZONTAL ELLIPSIS}" if cut else text
