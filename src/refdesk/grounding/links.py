"""Markdown or AsciiDoc prose in, prose without remote images and script links out."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

_SCHEMES: Final = ("javascript:", "vbscript:", "livescript:", "data:")
_HARMLESS: Final = re.compile(r"(?i)\s*+<?(?:https?:|[./#?])")
_NOISE: Final = re.compile(r"[\s\x00-\x20\x7f-\xa0\\<>\"'\u200c\u200d]+")
_PLAIN_PATH: Final = re.compile(r"(?!//)[\w./~%+@#?=-]+\Z")

_LABEL: Final = r"(?:[^\[\]\\\x00]++|\\.|\[(?:[^\[\]\\\x00]++|\\.)*+\])*+"
_TARGET: Final = r"(?:[^()\\\x00]++|\\.|\((?:[^()\\\x00]++|\\.|\((?:[^()\\\x00]++|\\.)*+\))*+\))*+"
_IMAGE: Final = re.compile(
    rf"""(?sx)
    !\[ (?P<alt>{_LABEL}) \] \( (?P<target>{_TARGET}) \)
  | (?P<hash>[#]?) !\[ (?P<name>{_LABEL}) \] (?:[ ]?\[[^\[\]\x00]*+\])? (?!\()
  | !++ (?=\[)
    """
)
_LINK: Final = re.compile(rf"(?s)\]\((?P<target>{_TARGET})\)")
_OPEN_LINK: Final = re.compile(r"\]\((?=(?P<head>[^()\x00]{0,100}))")
_DEFINITION: Final = re.compile(
    r"(?m)^[ \t>]*+\[[^\[\]\n\x00]++\]:[ \t]*+\n?[ \t]*+(?P<target>[^\n\x00]*)(?:\n|\Z)"
)
_REMARK: Final = re.compile(r"(?:#|<>)[ \t]*+[\"'(]")
_AUTOLINK: Final = re.compile(r"<(?P<target>[A-Za-z][^<>\x00]{0,2000})>")
_MACRO_IMAGE: Final = re.compile(
    r"\bimage::?(?P<target>[^\s\[\]\x00]{1,500}+)\[(?P<alt>[^\]\n\x00]*+)\]"
)
_MACRO_LINK: Final = re.compile(r"\blink:(?P<target>[^\s\[\]\x00]{1,500}+)(?=\[)")


def unlink(prose: str, *, asciidoc: bool = False) -> str:
    """`prose` with remote images as their alternative text and script links without target.

    An image stays an image only where its target is a plain relative path. Links to web pages
    stay whole, so that a reader sees where they lead.
    """
    if asciidoc:
        prose = _MACRO_IMAGE.sub(_macro_alternative, prose)
        prose = _MACRO_LINK.sub(_bare, prose)
    if "]:" in prose:
        prose = _DEFINITION.sub(_definition, prose)
    if "![" in prose:
        prose = _IMAGE.sub(_alternative, prose)
    if "](" in prose:
        prose = _OPEN_LINK.sub(_opened, _LINK.sub(_closed, prose))
    return _AUTOLINK.sub(_bare, prose) if "<" in prose else prose


def is_dangerous(target: str) -> bool:
    """Whether a browser would run or decode `target` instead of going somewhere."""
    if _HARMLESS.match(target):
        return False
    plain = _NOISE.sub("", html.unescape(html.unescape(target[:2000])))
    return unicodedata.normalize("NFKC", plain).casefold().startswith(_SCHEMES)


def is_local(target: str) -> bool:
    """Whether `target` is a plain relative path: no scheme, no host, nothing encoded as entity."""
    return _PLAIN_PATH.match(target) is not None


def _alternative(match: re.Match[str]) -> str:
    if match["target"] is not None:
        alt = re.sub(r"!+(?=\[)", "", match["alt"])
        target = match["target"].strip()
        local = is_local(target.partition(" ")[0].partition("\n")[0])
        return f"![{alt}]({match['target']})" if local else alt
    if match["name"] is None:
        return ""
    if match["hash"] and "]:" not in match.string:
        return match[0]  # a Rust attribute: no definition makes it an image
    return match["hash"] + re.sub(r"!+(?=\[)", "", match["name"])


def _definition(match: re.Match[str]) -> str:
    target = match["target"]
    return "" if is_dangerous(target) or _REMARK.match(target) else match[0]


def _macro_alternative(match: re.Match[str]) -> str:
    alt: str = match["alt"].partition(",")[0].strip('" ')
    return match[0] if is_local(match["target"]) else alt


def _opened(match: re.Match[str]) -> str:
    return "] (" if is_dangerous(match["head"]) else match[0]


def _closed(match: re.Match[str]) -> str:
    return "]" if is_dangerous(match["target"]) else match[0]


def _bare(match: re.Match[str]) -> str:
    return "" if is_dangerous(match["target"]) else match[0]
