"""A clean Markdown passage in; the words a reader sees out, for indexing and snippets."""

from __future__ import annotations

import html
import re
from typing import Final

from refdesk.reading.spans import DROPPED, Aside, erase, without_reserved

_VALUES: Final = frozenset(["title", "caption", "alt", "label", "text", "summary"])

_fence = re.compile(
    r"^([ \t]*(?:(?:[-*+>]|[0-9]{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})[^`\n]*(?:\n|\Z)"
    r"(.*?)(?:^[ \t>]*\2[`~]*[ \t]*$\n?|\Z)",
    re.MULTILINE | re.DOTALL,
).sub
_quote_mark = re.compile(r"^[ \t]*> ?", re.MULTILINE).sub
_escape = re.compile(r"\\([!-/:-@\[-`{-~])").sub
_shortcode = re.compile(r"\{\{[<%]([^{}]{0,400}?)[%>]\}\}|\{%([^{}\n]{0,400})%\}").sub
_argument = re.compile(r"(?:([\w-]+)=)?(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=]+))").findall
_include = re.compile(
    r"\{\{#\w+[^{}\n]*\}\}|^[ \t]*(?:\{\*[^{}\n]*\*\}|;?-{1,2}8<-{1,2})[^\n]*$", re.MULTILINE
).sub
_data_uri = re.compile(r"data:[a-z]+/[a-z0-9.+-]+[;,][^\s\"'()<>`]*", re.IGNORECASE).sub
_image_tag = re.compile(
    r"<img\s[^<>]{0,400}?\balt=(?:\"([^\"<>]*)\"|'([^'<>]*)')[^<>]*>", re.IGNORECASE
).sub
_autolink = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]{1,64}@[^\s<>@]+)>").sub
_inline_tag = re.compile(
    r"</?(?:a|abbr|b|bdi|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|small|span|strong|sub|sup|u"
    r"|var|wbr)(?:\s[^<>]*)?>",
    re.IGNORECASE,
).sub
_tag = re.compile(r"</?[A-Za-z](?:[^<>\"']|\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'){0,400}>").sub
_wikilink = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]").sub
_TARGET: Final = r"(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\[\]\n]*\])(?:\{[^{}\n]*\})?"
_TEXT: Final = r"\[((?:[^\[\]\n]|\[[^\[\]\n]*\]|\n(?!\n))*)\]"
_image = re.compile("!" + _TEXT + _TARGET).sub
_link = re.compile(_TEXT + _TARGET).sub
_shortcut = re.compile(r"\[(?<![\w\])]\[)(?!!)((?:[^\[\]\n]|\n(?!\n))+)\](?![\[(:])").sub
_footnote = re.compile(r"\[\^[^\[\]\n]*\]:?").sub
_definition = re.compile(
    r"^ {0,3}\[[^\[\]\n]+\]:[ \t]*\S+(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
).sub
_line_mark = re.compile(
    r"^[ \t]*+(?:"
    r"(?:(?:>|[-*+](?=[ \t]|$))[ \t]*+)++"
    r"(?:\[[ xX]\](?=[ \t])|\[![A-Za-z]+\][-+]?)?(?:\#{1,6}[ \t]+)?"
    r"|\#{1,6}(?=[ \t]|$)"
    r"|(?:=+|[-_*][-_* \t]+)$"
    r"|[|:-][-:| \t]*$"
    r"|(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+(?:inline|end))*[ \t]*$"
    r"|:{3,}[ \t]*(?:\{[^{}\n]*\}|[\w-]*)"
    r"|/{3,}(?:[ \t]+[\w-]+)?[ \t]*(?=[|\n]|$)"
    r")",
    re.MULTILINE,
).sub
_titled = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?|===[!+]*)[ \t]+(?:[\w-]+[ \t]+){0,4}[\"'](.*)[\"'][ \t]*$",
    re.MULTILINE,
).sub
_attributes = re.compile(r"[ \t]?\{:?[ \t]*[#.][\w-][^{}\n]*\}").sub
_icon = re.compile(r":(?:material|octicons|fontawesome|simple|lucide)-[\w-]+:").sub
_stars = re.compile(r"(\*{1,3})(?=[^\s*])([^*]+)(?<!\s)\1").sub
_twins = re.compile(r"(~~|==|\^\^)(?=[^\s~=^])([^~=^]+)(?<!\s)\1").sub
_scores = re.compile(
    r"(?<![^\W_])(_{1,3})(?=[^\s_])((?:[^_]|(?<=[^\W_])_(?=[^\W_])){1,400})(?<!\s)\1(?![^\W_])"
).sub
_spaces = re.compile(r"[ \t]{2,}").sub
_blank_lines = re.compile(r"\n{3,}").sub


def plain(text: str) -> str:
    """Clean Markdown as a reader sees it: words and code, none of the markup. Linear.

    Links keep their text, images their alternative text; list numbers stay, bullets go.
    """
    text = without_reserved(text)
    if "data:" in text:
        text = _data_uri("", text)
    if "{{#" in text or "{*" in text or "8<" in text:
        text = _include("", text)
    aside = Aside()
    if "```" in text or "~~~" in text:
        text = _fence(lambda found: _fenced(found, aside), text)
    text = aside.take(text)
    if "\\" in text:
        text = _escape(lambda found: aside.put(found.group(1)), text)
    if "{" in text:
        text = _without_braces(text)
    if "<" in text:
        text = _without_tags(text)
    if "[" in text:
        text = _without_links(text)
    text = _without_marks(text)
    if "&" in text:
        text = html.unescape(text)
    text = aside.back(_tidy(text.replace(DROPPED, "")), _shown)
    return (_blank_lines("\n\n", text) if "\n\n\n" in text else text).strip()


def _tidy(text: str) -> str:
    if "  " in text or "\t" in text:
        text = _spaces(" ", text)
    return "\n".join([line.strip() for line in text.split("\n")])


def _fenced(found: re.Match[str], aside: Aside) -> str:
    prefix, _, code = found.groups()
    if ">" in prefix:
        code = _quote_mark("", code)
    return aside.put(code.rstrip()) + "\n"


def _shown(code: str) -> str:
    if not code.startswith("`") or "\n" in code.strip("`"):
        return code
    return code.strip("`").strip() or code


def _without_braces(text: str) -> str:
    if "{/*" in text:
        text = erase(text, "{/*", "*/}")
    if "{{" in text or "{%" in text:
        text = _shortcode(_shortcode_words, text)
    return _attributes("", text)


def _shortcode_words(found: re.Match[str]) -> str:
    """What a shortcode says to a reader: its captions and its bare arguments, no paths."""
    inner = (found.group(1) or found.group(2) or "").strip(" /*\n")
    words = []
    for key, double, single, bare in _argument(inner)[1:]:
        value = double or single or bare
        if key in _VALUES or (not key and "/" not in value and value[:1].isalnum()):
            words.append(value)
    return " ".join(words) if found.group(1) else ""


def _without_tags(text: str) -> str:
    if "<!--" in text:
        text = erase(text, "<!--", "-->")
    text = _image_tag(r"\1\2", text)
    text = _autolink(r"\1", text)
    return _tag(" ", _inline_tag("", text))


def _without_links(text: str) -> str:
    if "[[" in text:
        text = _wikilink(r"\1", text)
    if "]:" in text:
        text = _definition("", text)
    if "](" in text or "][" in text:
        if "![" in text:
            text = _image(r"\1", text)
        text = _link(r"\1", text)
    if "[^" in text:
        text = _footnote("", text)
    return _shortcut(r"\1", text)


def _without_marks(text: str) -> str:
    if "!!!" in text or "???" in text or "===" in text:
        text = _titled(r"\1", text)
    text = _line_mark("", text)
    if "*" in text:
        text = _stars(r"\2", _stars(r"\2", text))
    if "~~" in text or "==" in text or "^^" in text:
        text = _twins(r"\2", text)
    if "_" in text:
        text = _scores(r"\2", text)
    if ":" in text and "-" in text:
        text = _icon("", text)
    return text.replace("|", " ") if "|" in text else text
