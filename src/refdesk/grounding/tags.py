"""Prose with raw HTML in, prose without scripts, hidden text and remote loads out.

Code (fences and backtick spans) is lifted out on the way and put back untouched by `restore`.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from refdesk.grounding.links import is_dangerous, is_local

SEAM: Final = "\x00"
"""Stands on a line of its own between the sections of one document; scrubbed text has none."""
_STASH: Final = "\x01{}\x02"
_STASHED: Final = re.compile("\x01(\\d+)\x02")

_CONTAINER: Final = r"[ \t]*+(?:(?:>|[*+-]|\d{1,9}[.)])[ \t]*+)*+"
_ATTRIBUTES: Final = r"(?:[^<>=\x00]|=\s*+(?:\"[^\"\x00]*\"|'[^'\x00]*')?+)*+"
_COMMON: Final = rf"""
  | (?P<escape>\\[!-/:-@\[-`{{-~])
  | (?P<ticks>`+)
  | (?P<comment><!--|<!\[CDATA\[|<\?|<!(?=[A-Za-z])|\{{/\*)
  | <(?P<slash>/?)(?P<name>[A-Za-z][A-Za-z0-9:._-]*+)(?P<attributes>{_ATTRIBUTES})>
"""
_MARKDOWN: Final = re.compile(
    rf"(?mx) ^(?P<fence>{_CONTAINER}(?P<run>`{{3,}}(?=[^`\n]*$)|~{{3,}}))[^\n]*$ {_COMMON}"
)
_ASCIIDOC: Final = re.compile(
    r"(?mx) ^(?P<fence>(?P<run>-{4,}|\.{4,}|`{3,}))[^\n]*$"
    rf"| ^(?P<remark>/{{4,}}(?=[ \t]*$)|//(?!/)[^\n]*\n?) {_COMMON}"
)
_LINE: Final = re.compile(rf"(?x) (?!) {_COMMON}")

_COMMENT_ENDS: Final = {
    "<!--": re.compile("-->|--!>"),
    "<![CDATA[": re.compile(r"\]\]>"),
    "<?": re.compile(r"\?>"),
    "<!": re.compile(">"),
    "{/*": re.compile(r"\*/\}"),
}
_RAW: Final = frozenset({"script", "style", "iframe", "noembed", "noframes", "xmp"})
"""Elements whose content is not markup: they end at the first end tag of their name."""
_UNREAD: Final = frozenset({"template", "noscript", "object", "applet", "frameset", "audio"})
"""Elements whose content a reader does not get to see."""
_VOID: Final = frozenset({"link", "meta", "base", "source", "track", "embed", "param", "frame"})
_IMAGES: Final = frozenset({"img", "image"})
_BLOCKS: Final = frozenset(
    "article aside blockquote body details div dl fieldset figure footer form header main nav ol "
    "pre section table tbody template ul".split()
)
"""Elements that stay open over blank lines when their end tag is missing."""

_ATTRIBUTE: Final = re.compile(r"""([^\s"'<>/=]+)(?:\s*+=\s*+("[^"]*"|'[^']*'|[^\s"'=<>`]+))?""")
_NOTABLE: Final = re.compile(
    r"(?i)(?<![\w-])on\w|src|poster|background|data|action|ping|href|style|hidden|manifest"
)
_LOADS: Final = frozenset(
    "src srcset poster background data action formaction ping srcdoc manifest lowsrc".split()
)
_INVISIBLE_STYLE: Final = re.compile(
    r"""(?ix) display\s*:\s*["']?\s*none | visibility\s*:\s*["']?\s*(?:hidden|collapse)
    | font-?size\s*:\s*["']?\s*0(?![.\d]*[1-9])"""
)
_LOADING_STYLE: Final = re.compile(r"(?i)url\s*\(|expression\s*\(|@import|image\s*\(|src\s*\(")
_CSS_ESCAPE: Final = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|/\*.*?\*/", re.DOTALL)

_BOUNDARY: Final = re.compile("\n[ \t]*+(?=\n|\x00)")
_LINE_START: Final = re.compile("(?:\\A|\n|\x00)[ \t>*+-]*\\Z")
_PATIENCE: Final = 8
"""How many elements without an end tag are searched for to the end of the text."""


def clean(text: str, code: list[str], *, asciidoc: bool = False, line: bool = False) -> str:
    """`text` without scripts, styles, comments, hidden elements, remote loads and handlers.

    Every piece of code is appended to `code` and stands as a token in the answer until
    `restore` puts it back. `line` is for titles: there is no block structure, and a tag that
    stands alone without attributes ("<script>: the script element") is a word of the title.

    Text hidden by a style sheet or a class name is *not* found.
    """
    grammar = _LINE if line else _ASCIIDOC if asciidoc else _MARKDOWN
    return _Scanner(text, grammar, code, line=line).scan()


def restore(text: str, code: list[str]) -> str:
    """`text` with every token replaced by the code it stands for."""
    return _STASHED.sub(lambda match: code[int(match[1])], text) if code else text


class _Scanner:
    """Walks over `text` once; `_at` is where the part not yet dealt with begins."""

    def __init__(self, text: str, grammar: re.Pattern[str], code: list[str], *, line: bool) -> None:
        self._text = text
        self._grammar = grammar
        self._code = code
        self._line = line
        self._at = 0
        self._kept: list[str] = []
        self._hidden = ""  # name of the element being left out
        self._depth = 0
        self._resume = (0, 0, 0)  # where to go back to if that element never ends
        self._unclosed: set[str] = set()
        self._boundary = _Next(_BOUNDARY, text)
        self._seam = _Next(re.compile(SEAM), text)
        self._runs: dict[int, list[int]] = {}
        self._runs_end = -1

    def scan(self) -> str:
        while True:
            while match := self._grammar.search(self._text, self._at):
                self._keep(match.start())
                self._step(match)
            self._keep(len(self._text))
            if not self._hidden:
                return "".join(self._kept)
            self._give_up()

    def _step(self, match: re.Match[str]) -> None:
        kind = match.lastgroup
        if kind == "escape":
            self._keep(match.end())
        elif kind == "fence":
            self._fence(match)
        elif kind == "ticks":
            self._ticks(match)
        elif kind in ("comment", "remark"):
            self._comment(match)
        else:
            self._tag(match)

    # what happens to a stretch of text, up to `end`

    def _keep(self, end: int) -> None:
        if self._hidden:
            self._drop(end)
        else:
            self._kept.append(self._text[self._at : end])
            self._at = end

    def _drop(self, end: int) -> None:
        seams = self._text.count(SEAM, self._at, end)
        if seams:
            self._kept.append(f"\n{SEAM}\n" * seams)
        self._at = end

    def _lift(self, end: int) -> None:
        """Put code aside: nothing but `restore` may touch it."""
        if not self._hidden:
            self._kept.append(_STASH.format(len(self._code)))
            self._code.append(self._text[self._at : end])
        self._at = end

    # code

    def _fence(self, match: re.Match[str]) -> None:
        end = self._fence_end(match)
        closed = _closing(match["run"]).search(self._text, match.end(), end)
        self._lift(closed.end() if closed else end)

    def _fence_end(self, match: re.Match[str]) -> int:
        """Where the fence ends at the latest: its section, its quote or its list item."""
        end = self._seam.after(match.end())
        container = match["fence"].removesuffix(match["run"])
        if ">" in container:
            left = re.compile(r"\n(?![ \t]*>)").search(self._text, match.end(), end)
        elif container.strip():
            left = re.compile(r"\n(?=[^\s])").search(self._text, match.end(), end)
        else:
            left = None
        return left.start() if left else end

    def _ticks(self, match: re.Match[str]) -> None:
        close = self._run_after(match.end(), len(match[0]))
        if close < 0:
            self._keep(match.end())
        else:
            self._lift(close + len(match[0]))

    def _run_after(self, start: int, size: int) -> int:
        """Start of the next run of exactly `size` backticks in this paragraph, or -1."""
        if start > self._runs_end:
            self._runs_end = self._boundary.after(start)
            self._runs = {}
            for run in re.finditer("`+", self._text[start : self._runs_end]):
                self._runs.setdefault(len(run[0]), []).append(start + run.start())
        starts = self._runs.get(size, [])
        place = bisect_right(starts, start - 1)
        return starts[place] if place < len(starts) else -1

    # what is not code

    def _comment(self, match: re.Match[str]) -> None:
        opener = match[0]
        if match.lastgroup == "remark" and not opener.startswith("////"):
            self._drop(match.end())
            return
        close = None
        if opener not in self._unclosed:
            close = _comment_end(opener).search(self._text, match.end() - 2 * (opener == "<!--"))
        if close:
            self._drop(max(close.end(), match.end()))
            return
        self._unclosed.add(opener)
        if opener in ("<!--", "////") and not self._line and self._starts_line():
            self._drop(len(self._text))
        elif opener == "<!--":
            self._drop(match.end())
        else:
            self._keep(match.end())

    def _tag(self, match: re.Match[str]) -> None:
        name = match["name"].lower()
        if self._hidden:
            self._hidden_tag(match, name)
        elif name == "docs":
            self._kept.append("(")  # its attributes are read as text: the envelope is ours
            self._at += 1
        elif match["slash"]:
            gone = name in _RAW or name in _UNREAD
            (self._drop if gone and not self._line else self._keep)(match.end())
        elif self._line and not match["attributes"].strip(" /") and not self._closes(match, name):
            self._keep(match.end())
        elif name in _RAW:
            self._raw(match, name)
        elif name in _IMAGES:
            self._image(match, name)
        elif name in _VOID:
            self._drop(match.end())
        else:
            self._element(match, name)

    def _hidden_tag(self, match: re.Match[str], name: str) -> None:
        if name in _RAW and not match["slash"]:
            self._raw(match, name)
            return
        self._drop(match.end())
        if name != self._hidden or match["attributes"].endswith("/"):
            return
        self._depth += -1 if match["slash"] else 1
        if not self._depth:
            self._hidden = ""

    def _raw(self, match: re.Match[str], name: str) -> None:
        close = None
        if name not in self._unclosed:
            close = _end_tag(name).search(self._text, match.end())
        if close:
            self._drop(close.end())
            return
        self._unclosed.add(name)
        block = name in ("script", "style") and not self._line and self._starts_line()
        self._drop(len(self._text) if block else match.end())

    def _image(self, match: re.Match[str], name: str) -> None:
        values = {key: value for key, value, _ in _attributes(match["attributes"])}
        if name == "image" and not values.keys() & {"href", "xlink:href", "src"}:
            self._keep(match.end())
            return
        self._drop(match.end())
        if not self._hidden and "aria-hidden" not in values:
            self._kept.append(" ".join(values.get("alt", "").split()))

    def _element(self, match: re.Match[str], name: str) -> None:
        attributes = match["attributes"]
        notable = bool(_NOTABLE.search(attributes))
        if name in _UNREAD or (notable and _is_hidden(attributes)):
            self._hide(match, name)
        elif notable:
            self._kept.append(f"<{match['name']}{_safe(attributes)}>")
            self._at = match.end()
        else:
            self._keep(match.end())

    def _hide(self, match: re.Match[str], name: str) -> None:
        self._drop(match.end())
        if match["attributes"].endswith("/"):
            return
        self._hidden, self._depth = name, 1
        self._resume = (len(self._kept), len(self._code), match.end())
        if name in self._unclosed or len(self._unclosed) >= _PATIENCE:
            self._give_up()

    def _give_up(self) -> None:
        """The hidden element has no end tag: a block hides the rest, others their paragraph."""
        kept, code, start = self._resume
        del self._kept[kept:], self._code[code:]
        self._at = start
        name, self._hidden = self._hidden, ""
        self._unclosed.add(name)
        block = name in _BLOCKS and not self._line
        self._drop(len(self._text) if block else self._boundary.after(start))

    def _closes(self, match: re.Match[str], name: str) -> bool:
        return bool(_end_tag(name).search(self._text, match.end()))

    def _starts_line(self) -> bool:
        return _LINE_START.search(self._text[max(0, self._at - 64) : self._at]) is not None


class _Next:
    """Start of the next match of `pattern`, or the end of the text; cheap when asked in order."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern = pattern
        self._text = text
        self._known = (0, -1)

    def after(self, start: int) -> int:
        asked, found = self._known
        if not asked <= start <= found:
            match = self._pattern.search(self._text, start)
            found = match.start() if match else len(self._text)
            self._known = (start, found)
        return found


def _closing(run: str) -> re.Pattern[str]:
    if run[0] in "-.":
        return re.compile(rf"(?m)^{re.escape(run)}[ \t]*$")
    return re.compile(rf"(?m)^[ \t>]*+{run[0]}{{{min(len(run), 100)},}}[ \t]*$")


def _comment_end(opener: str) -> re.Pattern[str]:
    return _COMMENT_ENDS.get(opener) or re.compile(rf"(?m)^{opener}[ \t]*$")


def _end_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)</{re.escape(name)}(?=[\s/>])[^>]*+>")


def _attributes(text: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Lower-case name, plain value and place of each attribute."""
    for match in _ATTRIBUTE.finditer(text):
        value = (match[2] or "").strip("\"'")
        yield match[1].lower(), value, match.span()


def _is_hidden(attributes: str) -> bool:
    for name, value, _ in _attributes(attributes):
        if name == "hidden" and value.strip("{} ").lower() != "false":
            return True
        if name == "aria-hidden" and value.strip("{} ").lower() == "true":
            return True
    return "style" in attributes.lower() and bool(_INVISIBLE_STYLE.search(_plain_css(attributes)))


def _plain_css(text: str) -> str:
    return _CSS_ESCAPE.sub(
        lambda match: chr(min(int(match[1], 16), 0xFFFF)) if match[1] else "", html.unescape(text)
    )


def _safe(attributes: str) -> str:
    """`attributes` without handlers, remote loads and script links."""
    kept, at = [], 0
    for name, value, (start, end) in _attributes(attributes):
        if _is_safe(name, value):
            continue
        kept.append(attributes[at:start].rstrip())
        at = end
    return "".join(kept) + attributes[at:]


def _is_safe(name: str, value: str) -> bool:
    if name.startswith("on"):
        return False
    if name in _LOADS:
        return is_local(value)
    if name == "style":
        return not _LOADING_STYLE.search(_plain_css(value))
    return not (name.endswith("href") and is_dangerous(value))
