"""AsciiDoc attribute entries in, text with `{name}` replaced by its value out."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 1_000
_GROWTH: Final = 1_000_000
_INTRINSIC: Final = {
    "amp": "&",
    "apos": "'",
    "asterisk": "*",
    "backslash": "\\",
    "backtick": "`",
    "blank": "",
    "brvbar": "\N{BROKEN BAR}",
    "caret": "^",
    "cpp": "C++",
    "cxx": "C++",
    "deg": "\N{DEGREE SIGN}",
    "empty": "",
    "endsb": "]",
    "gt": ">",
    "ldquo": "\N{LEFT DOUBLE QUOTATION MARK}",
    "lsquo": "\N{LEFT SINGLE QUOTATION MARK}",
    "lt": "<",
    "nbsp": "\N{NO-BREAK SPACE}",
    "plus": "+",
    "pp": "++",
    "quot": '"',
    "rdquo": "\N{RIGHT DOUBLE QUOTATION MARK}",
    "rsquo": "\N{RIGHT SINGLE QUOTATION MARK}",
    "sp": " ",
    "startsb": "[",
    "tilde": "~",
    "two-colons": "::",
    "two-semicolons": ";;",
    "vbar": "|",
    "wj": "\N{WORD JOINER}",
    "zwsp": "\N{ZERO WIDTH SPACE}",
}

_reference = re.compile(
    r"(?<![\w+])\+\+?(?=[^\s+])[^+\n]{0,200}\+\+?(?![\w+])|\\\{[\w-]+\}|\{(\w[\w-]*)\}"
)


class Attributes:
    """The attributes of a document as far as it has been read.

    Replacing may add at most a megabyte to the text, however the values refer to one another.
    """

    __slots__ = ("_budget", "_values")

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._budget = _GROWTH

    def set(self, name: str, value: str, *, sure: bool) -> None:
        """Define an attribute; one that stands in a conditional never replaces another."""
        name = name.lower()
        if sure or name not in self._values:
            self._values[name] = self.replace(value)[:_LONGEST]

    def unset(self, name: str) -> None:
        """Forget an attribute."""
        self._values.pop(name.lower(), None)

    def get(self, name: str) -> str:
        """The value of an attribute, "" where it has none."""
        return self._values.get(name, "")

    def replace(self, text: str) -> str:
        """The text with the references that are known replaced; all others stay as they are."""
        return _reference.sub(self._value, text) if "{" in text else text

    def _value(self, found: re.Match[str]) -> str:
        name = found.group(1)
        if not name:
            whole = found.group()
            return whole[1:] if whole[0] == "\\" else whole
        value = self._values.get(name.lower())
        if value is None:
            value = _INTRINSIC.get(name.lower())
        if value is None or len(value) > self._budget:
            return found.group()
        self._budget -= len(value)
        return value
