"""Lines of a page in; its front matter (title, description, tags, length) out.

YAML between `---` lines and TOML between `+++` lines. Only the keys refdesk uses are parsed, each
by itself, so that a broken line elsewhere costs nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import yaml

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_LINES: Final = 2_000
_MOST_CHARS: Final = 8_192
_MOST_TOML: Final = 65_536
_MOST_TAGS: Final = 50
_DEEP: Final = 50

_key_line = re.compile(r"[\"']?[\w.$@/-][^:]*:(?:\s|$)").match
_wanted = re.compile(r"(title|description|tags):(?:[ \t]+(.*))?$", re.IGNORECASE).match
_simple = re.compile(r"[^\s\"'\[\]{}>|*&!%#`@,?:~-][^#:]*").fullmatch
_nested_blocks = re.compile(r"(?:[-?:][ \t]+){5}").search
_toml_line = re.compile(r"(title|description)\s*=\s*[\"'](.*)[\"']\s*$").match


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the head of a page says of it. `lines` is how many lines it takes, fences included."""

    lines: int = 0
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()


def take(lines: Sequence[str]) -> FrontMatter:
    """The front matter of a page; one of 0 lines where there is none. Never fails."""
    mark = lines[0].rstrip() if lines else ""
    if mark == "---":
        return _yaml(lines)
    if mark == "+++":
        return _toml(lines)
    return FrontMatter()


def _end(lines: Sequence[str], marks: tuple[str, ...]) -> int:
    for at in range(1, min(len(lines), _MOST_LINES)):
        if lines[at].startswith(marks) and lines[at].rstrip() in marks:
            return at
    return 0


def _yaml(lines: Sequence[str]) -> FrontMatter:
    end = _end(lines, ("---", "..."))
    if not end or not _is_mapping(lines[1:end]):
        return FrontMatter()
    values = dict(_wanted_values(lines[1:end]))
    return FrontMatter(
        lines=end + 1,
        title=_scalar(values.get("title", "")),
        description=_scalar(values.get("description", "")),
        tags=_tags(values.get("tags", "")),
    )


def _is_mapping(lines: Iterable[str]) -> bool:
    """Whether the lines are keys rather than text between two thematic breaks."""
    for line in lines:
        text = line.strip()
        if text and text[0] != "#":
            return bool(_key_line(text)) or text[0] in "{%"
    return True


def _wanted_values(lines: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Each key refdesk uses with its source text, the lines that continue it included."""
    for at, line in enumerate(lines):
        found = _wanted(line)
        if not found:
            continue
        until = at + 1
        while until < len(lines) and (not lines[until] or lines[until][0] in " \t-#"):
            until += 1
        value = "\n".join([found.group(2) or "", *lines[at + 1 : until]])
        yield found.group(1).lower(), value.rstrip()


def _parse(source: str) -> str | list[str]:
    """A YAML value as text, or as the texts of a list; what cannot be parsed is taken as it is."""
    if _simple(source) and "\n" not in source:
        return source.strip()
    if not source or len(source) > _MOST_CHARS or _is_deep(source):
        return ""
    try:
        node = yaml.compose("value: " + source, Loader=_LOADER)
    except yaml.YAMLError:
        return "" if "\n" in source else source.strip().strip("\"'")
    value = node.value[0][1] if isinstance(node, yaml.MappingNode) and node.value else None
    if isinstance(value, yaml.ScalarNode):
        return "" if value.tag.endswith(":null") else str(value.value)
    if isinstance(value, yaml.SequenceNode):
        return [str(item.value) for item in value.value if isinstance(item, yaml.ScalarNode)]
    return ""


def _is_deep(source: str) -> bool:
    """Whether the C parser, which recurses without a limit, might run out of stack on it."""
    return source.count("[") + source.count("{") > _DEEP or bool(_nested_blocks(source))


def _scalar(source: str) -> str:
    value = _parse(source)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _tags(source: str) -> tuple[str, ...]:
    value = _parse(source)
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    return _clean_tags(value)


def _clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(tag.strip() for tag in tags if tag.strip())[:_MOST_TAGS]


def _toml(lines: Sequence[str]) -> FrontMatter:
    end = _end(lines, ("+++",))
    if not end:
        return FrontMatter()
    source = "\n".join(lines[1:end])
    table = _toml_table(source)
    extra = table.get("taxonomies")
    tags = table.get("tags") or (extra.get("tags") if isinstance(extra, dict) else None)
    return FrontMatter(
        lines=end + 1,
        title=_toml_text(table.get("title")),
        description=_toml_text(table.get("description")),
        tags=_clean_tags(tag for tag in tags if isinstance(tag, str))
        if isinstance(tags, list)
        else (),
    )


def _toml_table(source: str) -> dict[str, object]:
    if len(source) <= _MOST_TOML and not _is_deep(source):
        try:
            return tomllib.loads(source)
        except tomllib.TOMLDecodeError:
            pass
    found = (_toml_line(line) for line in source.split("\n"))
    return {match.group(1): match.group(2) for match in found if match}


def _toml_text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
