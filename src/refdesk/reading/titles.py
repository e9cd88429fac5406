"""Raw headings in; titles and ids out."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

LONGEST_TITLE: Final = 1_000
"""Characters of a heading that its title keeps."""
_LONGEST_SLUG: Final = 200
_TAGS: Final = (
    "a|abbr|b|bdi|bdo|big|br|center|cite|code|del|dfn|div|em|font|h[1-6]|i|img|ins|kbd|mark|p|q|"
    "s|samp|small|span|strike|strong|sub|sup|svg|tt|u|var|wbr"
)
_special = re.compile(r"[<{\[!\\&]").search
_attributes = re.compile(
    r"\s*\{:?\s*((?:[#.][^\s{}#]+|-|[\w:-]+=(?:\"[^\"]*\"|'[^']*'|[^\s{}\"']+))"
    r"(?:\s+(?:[#.][^\s{}#]+|-|[\w:-]+=(?:\"[^\"]*\"|'[^']*'|[^\s{}\"']+)))*)\s*\}\s*$"
).search
_attribute_id = re.compile(r"(?:^|\s)#(\S+)|(?:^|\s)id=[\"']?([^\s\"']+)").search
_jsx_comment = re.compile(r"\s*\{/\*(.*?)\*/\}")
_html_id = re.compile(r"\s(?:id|name)\s*=\s*[\"']?([^\s\"'>]+)").search
_anchor_tag = re.compile(r"<(?:a|span)\s[^>]*>", re.IGNORECASE).search
_anchor_line = re.compile(
    r"\s*<(a|span|div)\s[^<>]*(?:/>|>\s*</\1>)\s*$", re.IGNORECASE
).match
_alternative = re.compile(r"<img\s[^>]*?\balt=[\"']([^\"'>]*)", re.IGNORECASE).match
_markup = re.compile(
    r"(?P<code>(`+)(?!`)(?:(?!\2).|`(?=`))*?\2(?!`))"
    r"|(?P<comment><!--.*?-->|\{\{[<%].*?[%>]\}\})"
    rf"|(?P<tag></?(?:{_TAGS})(?:\s[^<>]*)?/?>|</?[A-Za-z][\w.-]*(?:\s[^<>]*[=/][^<>]*|\s*/)>)"
    r"|(?P<link>!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()\s]*(?:\([^()]*\)[^()\s]*)*"
    r"(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\]))"
    r"|(?P<escape>\\(?P<mark>[!-/:-@\[-`{-~]))",
    re.IGNORECASE,
)
_slug_drop = re.compile(r"[^\w\- ]")


def title_of(raw: str) -> tuple[str, str]:
    """A heading's text and its explicit id ("" if none), from the raw text behind its hashes.

    `{#id}`, HTML tags and comments, link targets and escapes go; emphasis and code marks stay.
    """
    raw = raw[:LONGEST_TITLE]
    if not _special(raw):
        return raw, ""
    anchor = ""
    if raw.endswith("}"):
        raw, anchor = _without_attributes(raw)
    if "<" in raw and not anchor:
        tag = _anchor_tag(raw)
        found = _html_id(tag.group()) if tag else None
        anchor = found.group(1) if found else ""
    return " ".join(html.unescape(_clean(raw)).split()), anchor


def _without_attributes(raw: str) -> tuple[str, str]:
    comment = None
    for comment in _jsx_comment.finditer(raw):
        pass
    if comment and comment.end() == len(raw):
        text = comment.group(1).strip()
        return raw[: comment.start()], text[1:] if text.startswith("#") else ""
    found = _attributes(raw)
    if not found:
        return raw, ""
    named = _attribute_id(found.group(1))
    return raw[: found.start()], (named.group(1) or named.group(2)) if named else ""


def _clean(raw: str) -> str:
    if not _special(raw):
        return raw
    # A badge is an image inside a link: the second pass meets what the first one uncovered.
    return _markup.sub(_replace, _markup.sub(_replace, raw) if "[" in raw else raw)


def _replace(found: re.Match[str]) -> str:
    if found.group("code"):
        return found.group()
    if found.group("link"):
        return found.group("text")
    if found.group("tag"):
        shown = _alternative(found.group("tag"))
        return shown.group(1) if shown else ""
    return found.group("mark") or ""


def html_id(attributes: str) -> str:
    """The id among the attributes of an HTML tag, "" if none."""
    found = _html_id(attributes)
    return found.group(1) if found else ""


def anchor_of(line: str) -> str:
    """The id of a line that is nothing but an empty anchor tag, "" for any other line."""
    found = _anchor_line(line)
    return html_id(found.group()) if found else ""


class Ids:
    """The section ids handed out for one page so far."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def mint(self, title: str, anchor: str = "") -> str:
        """An id no other section of the page has: the anchor, else the slug of the title."""
        base = anchor or slug(title) or "section"
        if base not in self._taken:
            self._taken[base] = 0
            return base
        count = self._taken[base]
        unique = base
        while unique in self._taken:
            count += 1
            unique = f"{base}-{count}"
        self._taken[base] = count
        self._taken[unique] = 0
        return unique


def slug(title: str) -> str:
    """The GitHub anchor of a heading: lower case, letters of any script, digits, `-` and `_`."""
    kept = _slug_drop.sub(_keep_marks, title.lower()).strip().replace(" ", "-")
    return kept[:_LONGEST_SLUG]


def _keep_marks(found: re.Match[str]) -> str:
    return found.group() if unicodedata.category(found.group())[0] == "M" else ""
