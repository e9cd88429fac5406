"""A page of the Liara documentation in, its Page out; and what its links and letters say.

The pages are Markdown that was made from a web site: the first line gives the address of the
page there, the last section leads to a list of all pages, and links are written as the site
wrote them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import unquote, urlsplit

from refdesk.reading import markdown
from refdesk.reading.directives import Include
from refdesk.reading.page import Page
from refdesk.reading.spans import Aside, without_reserved

SITE: Final = "https://docs.liara.ir/"
_COPIES: Final = "llms/"
"""Where the site keeps the Markdown copies of its pages."""
_LONGEST_URL: Final = 500
_HEADER_LINES: Final = 3
_MOST_FOOTER_LINES: Final = 12

_header = re.compile(r"\s*+Original link:(.*)\Z").match
_footer_head = re.compile(r"##[ \t]+all links[ \t]*\Z", re.IGNORECASE).match
_footer_line = re.compile(r"\s*\Z|\s*\[[^\]]*\]\([^()\s]*all-links-llms\.txt\)\s*\Z").match
_slug = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9_-]+)*\Z").match
_link = re.compile(
    r"(?<!!)(\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*+\]\()([^()\s<>]+)((?:[ ]+\"[^\"\n]*\")?\))"
).sub
_fence = re.compile(
    r"^[ \t]*+(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ \t]*+\1[`~]*+[ \t]*+$|\Z)", re.MULTILINE | re.DOTALL
).sub
_fence_mark = re.compile(r"[ \t]*(`{3,}|~{3,})").match
_tabs_open = re.compile(r"\s*<Tabs\b[^<>{}]*>?\s*\Z").match
_tabs_close = re.compile(r"\s*(?:\]\}\s*)?(?:/>|</Tabs>)\s*\Z").match
_tabs_rest = re.compile(r"\s*(?:content=\{\[|</>,?|\]\})\s*\Z").match
_tabs_labels = re.compile(r"\s*tabs=\{\[(.*)\]\}\s*\Z").match
_label = re.compile(r"\"([^\"\n]*)\"").findall
_spacer = re.compile(r"\s*</?div\b[^<>]*>\s*\Z").match
_bold = re.compile(r"<b>([^<>`\n]*)</b>").sub
_underlined = re.compile(r"<u>([^<>`\n]*)</u>").sub
_arabic = re.compile(r"[\u0621-\u064a\u066e-\u06d3]").findall
_latin = re.compile(r"[A-Za-z]").findall
_address = re.compile(r"(?:https?://|www\.)\S+|\]\([^()\n]{0,300}\)|`[^`\n]{0,300}`").sub


def read(path: str, text: str, include: Include | None = None) -> Page:
    """The page at `path`, with the address that its first line gives if that can be trusted.

    Header and footer are no part of it, components are shown as text; lines keep their numbers.
    Never fails.
    """
    lines = without_reserved(text).split("\n")
    url = _take_header(lines)
    del lines[_footer(lines) :]
    if any("<" in line for line in lines):
        _show_components(lines)
    return replace(markdown.read("\n".join(lines)), url=url)


def address(url: str) -> str:
    """`url` if it is an address of the site whose path is made of slugs, with a final slash.

    Anything else is "": another host or scheme, a port, a user, a query, an escape, a dot.
    """
    if len(url) > _LONGEST_URL or not url.startswith(SITE):
        return ""
    slug = url.removeprefix(SITE).removesuffix("/")
    return f"{SITE}{slug}/" if _slug(slug) else ""


def slug_of(url: str) -> str | None:
    """The path of a page on the site that `url` leads to, None when it leads elsewhere.

    Takes what people paste: without the final slash, with a fragment or query, in capitals, with
    `.md`, below the folder of Markdown copies.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:  # brackets or a port that cannot be
        return None
    site = urlsplit(SITE).hostname
    if parts.scheme not in ("http", "https") or parts.hostname != site or port not in (None, 443):
        return None
    return None if parts.username is not None else _normal(parts.path)


def with_absolute_links(text: str, path: str, url: str, known: Mapping[str, str]) -> str:
    """The Markdown of a page with its relative links made absolute; images and code stay.

    Links were written against the file's folder or against the page's address, with no rule:
    the first of the two that `known` (slug -> address) holds is meant. A link that leads to no
    known page is resolved as a browser would, and left alone where that leaves the site.
    """
    if "](" not in text:
        return text
    aside = Aside()
    prose = _fence(lambda found: aside.put(found.group()), text)

    def absolute(found: re.Match[str]) -> str:
        target = _absolute(found.group(2), path, url, known)
        return found.group(1) + target + found.group(3)

    return aside.back(_link(absolute, aside.take(prose)))


def language(texts: str) -> str:
    """The language most of a page's prose is in: "fa", "en", or "" without any letters."""
    prose = _address(" ", _fence("", texts))
    arabic, latin = len(_arabic(prose)), len(_latin(prose))
    if not arabic and not latin:
        return ""
    return "fa" if arabic >= latin else "en"


def _take_header(lines: list[str]) -> str:
    """The trusted address in the first lines; the line that gives it is blanked."""
    for at, line in enumerate(lines[:_HEADER_LINES]):
        found = _header(line)
        if found:
            lines[at] = ""
            return address(found.group(1).strip())
        if line.strip():
            break
    return ""


def _footer(lines: list[str]) -> int:
    """The line at which the list of all pages starts, the number of lines where there is none.

    Found from the end, because a code block that was never closed may swallow its heading.
    """
    for at in range(len(lines) - 1, max(-1, len(lines) - 1 - _MOST_FOOTER_LINES), -1):
        if _footer_head(lines[at]):
            return at
        if not _footer_line(lines[at]):
            break
    return len(lines)


def _show_components(lines: list[str]) -> None:
    """What is left of the site's components, as Markdown: tabs become their labels."""
    fence = ""
    labels: list[str] | None = None
    for at, line in enumerate(lines):
        mark = _fence_mark(line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
        if mark or fence or not line:
            continue
        if _tabs_open(line):
            labels = []
            lines[at] = ""
        elif _spacer(line):
            lines[at] = ""
        elif labels is None:
            lines[at] = _plain_tags(line)
        elif found := _tabs_labels(line):
            labels = _label(found.group(1))
            lines[at] = ""
        elif line.strip() == "<>":
            lines[at] = f"**{labels.pop(0)}**" if labels else ""
        elif _tabs_close(line):
            labels = None
            lines[at] = ""
        elif _tabs_rest(line):
            lines[at] = ""
        else:
            lines[at] = _plain_tags(line)


def _plain_tags(line: str) -> str:
    return _underlined(r"\1", _bold(r"**\1**", line)) if "<" in line else line


def _absolute(target: str, path: str, url: str, known: Mapping[str, str]) -> str:
    if target.startswith(("#", "//", "\\")) or ":" in target.split("/")[0]:
        return target
    place, mark, fragment = target.partition("#")
    bases = ["/"] if place.startswith("/") else [f"/{posixpath.dirname(path)}/"]
    page = urlsplit(url).path if url else f"/{posixpath.splitext(path)[0]}/"
    bases.append("/" if place.startswith("/") else page)
    slugs = [_normal(posixpath.normpath(posixpath.join(base, place))) for base in bases]
    for slug in slugs:
        if slug in known:
            return f"{known[slug]}{mark}{fragment}"
    seen = address(SITE + slugs[-1])
    return f"{seen}{mark}{fragment}" if seen else target


def _normal(path: str) -> str:
    slug = unquote(path).strip("/").lower().removeprefix(_COPIES)
    return slug.removesuffix(".md").removesuffix("/index").strip("/")
