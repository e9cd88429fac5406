"""A clean AsciiDoc passage in; the words a reader sees out, for indexing and snippets."""

from __future__ import annotations

import html
import re
from typing import Final

from refdesk.reading.spans import Aside, without_reserved

_PLAIN_MACROS: Final = frozenset(
    "link xref mailto kbd btn footnote footnoteref pass stem latexmath asciimath image video audio "
    "menu include-code http https ftp irc".split()
)
_FENCES: Final = ("----", "....", "++++", "```")
_PICTURES: Final = frozenset(["image", "video", "audio"])
_SILENT_MACROS: Final = frozenset("icon indexterm anchor toc bibitem".split())

_verbatim = re.compile(
    r"^(-{4,}|\.{4,}|\+{4,}|```)[\w+-]*[ \t]*\n(.*?)(?:^\1[ \t]*$\n?|\Z)", re.MULTILINE | re.DOTALL
).sub
_ticks = re.compile(
    r"`(?<![\w`]`)\+(?!\s)(.{1,400}?)\+`(?![\w`])|``([^`\n]{1,400})``"
    r"|`(?<![\w`\"']`)(?![\s`])([^`\n]{1,400})`(?![\w`\"'])"
).sub
_pluses = re.compile(r"\+(?<![\w+]\+)\+{0,2}(?=[^\s+])([^+\n]{1,400})\+{1,3}(?![\w+])").sub
_emphasis_inside = re.compile(r"__(?=[^\s_])([^_\n]{1,400})(?<!\s)__").sub
_line_mark = re.compile(
    r"^[ \t]*+(?:"
    r"(?:={4,}|\*{4,}|_{4,}|/{4,}|-{2,3}|[|,:!]={3,}|'{3,}|<{3,}|\+)[ \t]*$"
    r"|\[(?:[^\[\]\n]*|\[[^\[\]\n]*\])\][ \t]*$"
    r"|[=#]{1,6}[ \t]+"
    r"|(?:[*-]{1,5}|\.{1,5})[ \t]+(?:\[[ xX*]\][ \t]+)?"
    r"|<(?:\d+|\.)>[ \t]+"
    r"|(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+"
    r"|\.(?=[^\s.])"
    r")",
    re.MULTILINE,
).sub
_anchor = re.compile(r"\[\[\[?[^\[\]\n]*\]\]\]?").sub
_reference = re.compile(r"<<([^<>,\n]*)(?:,([^<>]*))?>>").sub
_index_term = re.compile(r"\(\(\([^()]*\)\)\)").sub
_shown_term = re.compile(r"\(\(([^()]*)\)\)").sub
_macro = re.compile(
    r"(?<!\w)([a-z][\w-]{1,30}):{1,2}([^\s\[\]:]?[^\s\[\]]*)\[((?:[^\[\]\n]|\n(?!\n))*)\]"
).sub
_named = re.compile(r",?[ \t]*[\w-]+=(?:\"[^\"]*\"|[^,\]\s]*)").sub
_role = re.compile(r"\[[\w.#%, =\"-]*\](?=[#_*\1])").sub
_unknown_link = re.compile(r"\{\w[\w-]*\}[^\s\[\]]*\[([^\[\]\n]+)\]").sub
_term = re.compile(r"(?<=\S)(?:::{1,3}|;;)(?=[ \t]|$)", re.MULTILINE).sub
_strong = re.compile(r"(?<![\w*])(\*{1,2})(?=[^\s*])([^*]+)(?<!\s)\1(?![\w*])").sub
_strong_inside = re.compile(r"(\*\*)(?=[^\s*])([^*]+)(?<!\s)\1").sub
_emphasis = re.compile(
    r"(?<![^\W_])(_{1,2})(?=[^\s_])((?:[^_]|(?<=[^\W_])_(?=[^\W_])){1,400})(?<!\s)\1(?![^\W_])"
).sub
_mark = re.compile(r"(#{1,2})(?=[^\s#])([^#\n]+)(?<!\s)\1").sub
_raised = re.compile(r"([\^~])(?=\S)([^\s^~]+)\1").sub
_curved = re.compile(r"([\"'])`([^`]*)`\1").sub
_cell = re.compile(r"(?:(?<=\s)|^)(?:\d*(?:\.\d+)?[+*])?[<^>.]*[adehlmsv]?\|", re.MULTILINE).sub
_break = re.compile(r"[ \t]\+$", re.MULTILINE).sub
_callout = re.compile(r"[ \t]*(?://|#|--|;;)?[ \t]*<(?:\d{1,2}|\.)>[ \t]*$", re.MULTILINE).sub
_data_uri = re.compile(r"data:[a-z]+/[a-z0-9.+-]+[;,][^\s\"'()<>`\[\]]*", re.IGNORECASE).sub
_spaces = re.compile(r"[ \t]{2,}").sub
_blank_lines = re.compile(r"\n{3,}").sub


def plain(text: str) -> str:
    """Clean AsciiDoc as a reader sees it: words and code, none of the markup. Linear."""
    text = without_reserved(text)
    if "data:" in text:
        text = _data_uri("", text)
    aside = Aside()

    def put(found: re.Match[str]) -> str:
        return aside.put(next(filter(None, found.groups())))

    if any(mark in text for mark in _FENCES):
        text = _verbatim(lambda found: aside.put(_code(found.group(2))) + "\n", text)
    if " +" in text:
        text = _break("", text)
    if "`" in text:
        text = _ticks(put, _curved(r"\1\2\1", text))
    if "+" in text:
        text = _pluses(put, text)
    text = _line_mark("", text)
    text = _without_macros(text)
    text = _without_marks(text)
    if "&" in text:
        text = html.unescape(text)
    text = _spaces(" ", text) if "  " in text or "\t" in text else text
    text = aside.back("\n".join([line.strip() for line in text.split("\n")]))
    return (_blank_lines("\n\n", text) if "\n\n\n" in text else text).strip()


def _code(text: str) -> str:
    return _callout("", text).rstrip() if "<" in text else text.rstrip()


def _without_macros(text: str) -> str:
    if "<<" in text:
        text = _reference(lambda found: found.group(2) or found.group(1), text)
    if "[" in text:
        text = _anchor("", text)
        text = _macro(_macro_words, text)
        text = _unknown_link(r"\1", text) if "{" in text else text
        text = _role("", text)
    if "((" in text:
        text = _shown_term(r"\1", _index_term("", text))
    return text


def _macro_words(found: re.Match[str]) -> str:
    """What a macro says: its text, else its target; both for a macro unknown here."""
    name, target, inside = found.groups()
    if name in _SILENT_MACROS:
        return ""
    words = _named("", inside).strip().strip('"').rstrip("^").strip()
    if name in _PLAIN_MACROS or name.endswith("code"):
        if words:
            return words.partition(",")[0] if name in _PICTURES else words
        if name in _PICTURES or name == "include-code":
            return ""
        return f"{name}:{target}" if target.startswith("//") else target
    return f"{target}({words})" if words else target


def _without_marks(text: str) -> str:
    if "::" in text or ";;" in text:
        text = _term(":", text)
    if "*" in text:
        text = _strong(r"\2", _strong_inside(r"\2", text))
    if "_" in text:
        text = _emphasis(r"\2", _emphasis_inside(r"\1", text))
    if "#" in text:
        text = _mark(r"\2", text)
    if "^" in text or "~" in text:
        text = _raised(r"\2", text)
    return _cell(" ", text) if text.startswith("|") or "\n|" in text else text
