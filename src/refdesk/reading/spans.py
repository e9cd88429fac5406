"""Text in, text out: inline code put aside and back again, paired marks erased. All linear."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

DROPPED: Final = "\0"
"""Stands where something was erased, so that a line emptied by it is known from a blank line."""
CODE_LINE: Final = "\2"
"""Stands for a whole line of code while the text around it is cleaned."""
_ASIDE: Final = "\1"
_MARKS: Final = (DROPPED, _ASIDE, CODE_LINE)
_RESERVED: Final = str.maketrans(dict.fromkeys(_MARKS, "\N{REPLACEMENT CHARACTER}"))

_code_span = re.compile(r"(?<!`)(`{1,5})(?!`)(?:.*?[^`])?\1(?!`)").sub
_paragraph_end = re.compile(rf"\n[ \t]*(?:\n|{CODE_LINE})").search
_aside = re.compile("\1([0-9]+)\1").sub


def without_reserved(text: str) -> str:
    """The text with the control characters used as marks in this room made visible."""
    return text.translate(_RESERVED) if any(mark in text for mark in _MARKS) else text


class Aside:
    """Inline code taken out of a text, so that no other markup is looked for in it."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: list[str] = []

    def take(self, text: str, marks: str = "") -> str:
        """The text with a token for each code span, or for those only that hold one of `marks`."""
        if "`" not in text:
            return text
        wanted = frozenset(marks)

        def put(found: re.Match[str]) -> str:
            code = found.group()
            return code if wanted and wanted.isdisjoint(code) else self.put(code)

        return _code_span(put, text)

    def put(self, code: str) -> str:
        """The token that stands for `code`."""
        self.kept.append(code)
        return f"{_ASIDE}{len(self.kept) - 1}{_ASIDE}"

    def back(self, text: str, shown: Callable[[str], str] = str) -> str:
        """The text with its code spans again, each as `shown` writes it."""
        if not self.kept:
            return text
        return _aside(lambda found: shown(self.kept[int(found.group(1))]), text)


def erase(text: str, opener: str, closer: str) -> str:
    """Take out everything from `opener` to `closer` that lies within one paragraph.

    The line count stays: a DROPPED stands for what was in the first line and in each line after.
    """
    kept: list[str] = []
    place = start = 0
    end = barrier = -1
    while (start := text.find(opener, start)) >= 0:
        inside = start + len(opener)
        if end < inside:
            end = text.find(closer, inside)
            if end < 0:
                break
        if barrier < start:
            found = _paragraph_end(text, start)
            barrier = found.start() if found else len(text)
        if barrier < end:
            start = inside
            continue
        kept += (text[place:start], erased(text.count("\n", start, end)))
        place = start = end + len(closer)
    kept.append(text[place:])
    return "".join(kept)


def erased(newlines: int) -> str:
    """What stands for an erased stretch that held so many newlines."""
    return DROPPED + f"\n{DROPPED}" * newlines
