"""Lines of Markdown and their block structure in; the lines worth showing out.

Gone are HTML comments, scripts, styles, MDX imports and exports, lines of nothing but tags or
empty shortcodes, and the payload of data: URIs. Code is left as it is, but for such payloads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from refdesk.reading.blocks import Blocks
from refdesk.reading.passages import join_blanks
from refdesk.reading.spans import CODE_LINE, DROPPED, Aside, erase, erased
from refdesk.reading.titles import LONGEST_TITLE

Lines = list[str | None]
"""One entry for each source line; None where nothing of it is worth showing."""

_RAW_KIND: Final = 1
_COMMENT_KIND: Final = 2
_FIRST_TAG_KIND: Final = 6
_VERBATIM: Final = ("<pre", "<textarea")
_MODULE: Final = ("import ", "export ", "import{", "export{")
_MOST_MODULE_LINES: Final = 400
_ATTRIBUTES: Final = r"(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?"
_TAG: Final = rf"</?[A-Za-z][\w-]*(?:\.\w+)*{_ATTRIBUTES}/?>"

_data_uri = re.compile(
    r"(data:[a-z]+/[a-z0-9.+-]+)(?:;[a-z0-9=-]+)*,(?:[A-Za-z0-9+/=%_-]{40,}|[^\s\"'()<>`]{200,})",
    re.IGNORECASE,
).sub
_comment = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL).sub
_tag = re.compile(_TAG)
_lone_tags = re.compile(
    r"^[\0 \t]*(?:</?[A-Za-z][\w-]*(?:\.\w+)*"
    r"(?:[ \t](?:[^<>\"'\n]|\"[^\"\n]*\"|'[^'\n]*')*)?/?>[ \t]*)+$",
    re.MULTILINE,
).sub
_long_component = re.compile(
    rf"^[ \t]*<[A-Z][\w.]*(?:[ \t][^<>\n{CODE_LINE}]*)?\n"
    rf"(?:[^<>\n{CODE_LINE}]+\n){{0,60}}?[^<>\n{CODE_LINE}]*>[ \t]*$",
    re.MULTILINE,
).sub
_tag_parts = re.compile(rf"<(/?)([A-Za-z][\w-]*(?:\.\w+)*)({_ATTRIBUTES})/?>").findall
_attribute = re.compile(r"([\w-]+)\s*=\s*(?:\{?\"([^\"]*)\"\}?|'([^']*)')").findall
_import = re.compile(
    r"import(?:\s*|\s+[\w$*{},\s]*?[\s}]from\s*)[\"'][^\"'\n]+[\"'][ \t]*;?[ \t]*(?://.*)?$"
).match
_export = re.compile(
    r"export\s+(?:default\b|(?:const|let|var|type|interface|class)\s+[\w${\[]"
    r"|(?:async\s+)?function\b|[{*])"
).match
_lone_shortcode = re.compile(
    r"^[ \t]*(?:\{\{[<%]\s*(?:/[^{}\n]*|[\w./-]+[\s/]*)[%>]\}\}|\{%[^{}\n]*%\})[ \t]*$",
    re.MULTILINE,
).sub
_quoted_words = re.compile(r"[\"'][^\"'\n]*\s[^\"'\n]*[\"']").search
_LABELS: Final = ("title", "label", "caption", "header", "summary", "file-name", "filename")
_EMBEDS: Final = frozenset(["iframe", "video", "audio", "embed", "source"])


def clean(lines: Sequence[str], blocks: Blocks, titles: Sequence[str]) -> Lines:
    """The page as it is worth showing, line for line. Linear in its characters.

    `titles` are the headings' texts: each heading becomes one Markdown line, whatever it was,
    unless it is a paragraph that an underline happens to follow.
    """
    prose = list(lines)
    text = "\n".join(prose)
    if "data:" in text:
        prose = [_without_payloads(line) if "data:" in line else line for line in prose]
    out: Lines = list(prose)
    if any(mark in text for mark in ("<", "{", "import", "export")):
        _clean_prose(prose, blocks, out)
    for heading, title in zip(blocks.headings, titles, strict=True):
        if len(heading.text) > LONGEST_TITLE:
            continue
        line = f"{'#' * heading.level} {title}".rstrip()
        out[heading.line] = f"{line}\n{heading.rest}" if heading.rest else line
        for at in range(heading.line + 1, heading.until):
            out[at] = None
    return out


def _without_payloads(line: str) -> str:
    return _data_uri("\\1,\N{HORIZONTAL ELLIPSIS}", line)


def _clean_prose(prose: list[str], blocks: Blocks, out: Lines) -> None:
    """Clean what is not code; put the result into `out`."""
    for start, end in blocks.fences:
        prose[start:end] = [CODE_LINE] * (end - start)
    for at in blocks.indented:
        prose[at] = CODE_LINE
    _clean_html(prose, blocks)
    text = "\n".join(prose)
    if text.startswith(_MODULE) or any(f"\n{word}" in text for word in _MODULE):
        _drop_modules(prose)
        text = "\n".join(prose)
    aside = Aside()
    if "<!--" in text or "{/*" in text:
        text = aside.take(text, "<{")
        text = erase(erase(text, "<!--", "-->"), "{/*", "*/}")
    if "<" in text:
        text = _long_component(_one_line, text)
        text = _lone_tags(_label, text)
    if "{%" in text or "{{" in text:
        text = _lone_shortcode(_shortcode, text)
    for at, line in enumerate(aside.back(text).split("\n")):
        if line == CODE_LINE:
            continue
        if DROPPED in line:
            line = line.replace(DROPPED, "")
            out[at] = line.rstrip() if line.strip() else None
        else:
            out[at] = line
    join_blanks(out)


def _clean_html(prose: list[str], blocks: Blocks) -> None:
    for start, end, kind in blocks.html:
        block = "\n".join(prose[start:end])
        if kind == _RAW_KIND and block.lstrip().lower().startswith(_VERBATIM):
            prose[start:end] = [CODE_LINE] * (end - start)
        elif kind == _COMMENT_KIND:
            prose[start:end] = _comment(_erase_match, block).split("\n")
        elif kind < _FIRST_TAG_KIND:
            prose[start:end] = [DROPPED] * (end - start)
        elif end - start > 1:
            prose[start:end] = _tag.sub(_one_line, block).split("\n")


def _erase_match(found: re.Match[str]) -> str:
    return erased(found.group().count("\n"))


def _one_line(found: re.Match[str]) -> str:
    """A tag that spans lines, on the first of them."""
    tag = found.group()
    newlines = tag.count("\n")
    return " ".join(tag.split()) + f"\n{DROPPED}" * newlines if newlines else tag


def _drop_modules(prose: list[str]) -> None:
    """Drop MDX imports and exports: they start a block at the margin."""
    at = 0
    for start, line in enumerate(prose):
        if start < at or not line.startswith(_MODULE):
            continue
        if start and prose[start - 1].strip() not in ("", DROPPED):
            continue
        at = _after_module(prose, start)
        prose[start:at] = [DROPPED] * (at - start)


def _after_module(prose: list[str], start: int) -> int:
    """The line after the import or export at `start`; `start` itself where it is prose."""
    most = min(len(prose), start + _MOST_MODULE_LINES)
    if prose[start].startswith("import"):
        return _after_import(prose, start, most)
    return _after_export(prose, start, most) if _export(prose[start]) else start


def _after_import(prose: list[str], start: int, most: int) -> int:
    statement = ""
    for at in range(start, most):
        statement += prose[at]
        if _import(statement):
            return at + 1
        if not prose[at].strip() or "(" in statement or "." in statement:
            break
        statement += "\n"
    return start


def _after_export(prose: list[str], start: int, most: int) -> int:
    """Exports go on over blank lines as long as a bracket is open."""
    depth = 0
    blanks = []
    for at in range(start, most):
        line = prose[at]
        if not line.strip():
            blanks.append(at)
            if depth <= 0:
                return at
        depth += sum(map(line.count, "{[(")) - sum(map(line.count, "}])"))
    return most if depth <= 0 or not blanks else blanks[0]


def _label(found: re.Match[str]) -> str:
    """What a line of nothing but tags has to say."""
    tags = _tag_parts(found.group())
    words = " ".join(
        filter(None, (_tag_words(name, rest) for shut, name, rest in tags if not shut))
    )
    return words or DROPPED


def _tag_words(name: str, rest: str) -> str:
    if "=" not in rest:
        return ""
    values = {key.lower(): double or single for key, double, single in _attribute(rest)}
    if name == "img":
        return f"![{values.get('alt', '')}]({values.get('src', '')})"
    if name in _EMBEDS:
        source = values.get("src", "")
        return f"[{values.get('title') or name}]({source})" if source else ""
    if name[0].islower() and "-" not in name:
        return ""
    words = [values[key] for key in _LABELS if values.get(key)]
    if "number" in values:
        words.insert(0, f"{name} {values['number']}")
    return " \N{EN DASH} ".join(words)


def _shortcode(found: re.Match[str]) -> str:
    return found.group() if _quoted_words(found.group()) else DROPPED
