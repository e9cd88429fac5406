"""Raw headings in; titles and ids out."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

LONGEST_TITLE: Final = 500
"""Characters a title keeps of its heading."""
_LONGEST_RAW: Final = 2_000
_LONGEST_SLUG: Final = 200
_TAGS: Final = (
    "a|abbr|b|bdi|bdo|big|br|center|cite|code|del|dfn|div|em|font|h[1-6]|i|img|ins|kbd|mark|p|q|"
    "s|samp|small|span|strike|strong|sub|sup|svg|tt|u|var|wbr"
)
_ATTRIBUTE: Final = r"(?:[#.][^\s{}#]+|-|[\w:-]+=(?:\"[^\"]*\"|'[^']*'|[^\s{}\"']+))"

_special = re.compile(r"[<{\[!\\&]").search
_attributes = re.compile(rf"\{{:?\s*({_ATTRIBUTE}(?:\s+{_ATTRIBUTE})*)\s*\}}$").search
_attribute_id = re.compile(r"(?:^|\s)#(\S+)|(?:^|\s)id=[\"']?([^\s\"']+)").search
_jsx_comment = re.compile(r"\{/\*([^{}]*)\*/\}$").search
_html_id = re.compile(r"\s(?:id|name)\s*=\s*[\"']?([^\s\"'<>]+)").search
_anchor_tag = re.compile(r"<(?:a|span)\s[^<>]*>", re.IGNORECASE).search
_anchor_line = re.compile(r"\s*<(a|span|div)\s[^<>]*(?:/>|>\s*</\1>)\s*$", re.IGNORECASE).match
_alternative = re.compile(r"<img\s[^>]*?\balt=[\"']([^\"'>]*)", re.IGNORECASE).match
_markup = re.compile(
    r"(?P<code>(?<!`)(`{1,5})(?!`)(?:.*?[^`])?\2(?!`))"
    r"|<!--.{0,400}?-->|\{\{[<%].{0,400}?[%>]\}\}"
    rf"|(?P<tag></?(?:{_TAGS})(?:\s[^<>]*)?/?>"
    r"|</?[A-Za-z][\w.-]*\s[^<>=/]*[=/][^<>]*>|<[A-Za-z][\w.-]*/>)"
    r"|!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()\s]*(?:\([^()]*\)[^()\s]*)*"
    r"(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])"
    r"|\\(?P<mark>[!-/:-@\[-`{-~])",
    re.IGNORECASE,
).sub
_slug_drop = re.compile(r"[^\w\- ]")


def title_of(raw: str) -> tuple[str, str]:
    """A heading's text and its explicit id ("" if none), from the raw text behind its hashes.

    `{#id}`, HTML tags and comments, link targets and escapes go; emphasis and code marks stay.
    """
    raw = raw[:_LONGEST_RAW]
    if not _special(raw):
        return raw[:LONGEST_TITLE], ""
    anchor = ""
    if raw.endswith("}"):
        raw, anchor = _without_attributes(raw)
    if "<" in raw and not anchor:
        tag = _anchor_tag(raw)
        anchor = html_id(tag.group()) if tag else ""
    return " ".join(html.unescape(_clean(raw)).split())[:LONGEST_TITLE], anchor


def _without_attributes(raw: str) -> tuple[str, str]:
    comment = _jsx_comment(raw)
    if comment:
        text = comment.group(1).strip()
        return raw[: comment.start()].rstrip(), text[1:] if text.startswith("#") else ""
    found = _attributes(raw)
    if not found:
        return raw, ""
    named = _attribute_id(found.group(1))
    anchor = (named.group(1) or named.group(2)) if named else ""
    return unclosed(raw[: found.start()].rstrip()), anchor


def _clean(raw: str) -> str:
    # A badge is an image inside a link: the second pass meets what the first one uncovered.
    return _markup(_replaced, _markup(_replaced, raw) if "[" in raw else raw)


def _replaced(found: re.Match[str]) -> str:
    code, tag, text, mark = found.group("code", "tag", "text", "mark")
    if tag:
        shown = _alternative(tag)
        return shown.group(1) if shown else ""
    return code or text or mark or ""


def unclosed(title: str) -> str:
    """The text of an ATX heading without its closing hashes."""
    bare = title.rstrip("#")
    if bare and bare != title and bare[-1] in " \t":
        return bare.rstrip(" \t")
    return title if bare else ""


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
