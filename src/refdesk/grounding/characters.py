"""Any text in, text of visible characters out: the first step of grounding."""

from __future__ import annotations

import re
from typing import Final

ZWNJ: Final = "\u200c"
ZWJ: Final = "\u200d"

_INVISIBLE: Final = (
    ("\x00", "\x08"),  # C0 but for tab and newline; ESC with it
    ("\x0b", "\x1f"),
    ("\x7f", "\x9f"),  # DEL and C1
    ("\u00ad", "\u00ad"),  # soft hyphen
    ("\u034f", "\u034f"),  # combining grapheme joiner
    ("\u0600", "\u0605"),  # Arabic number signs
    ("\u061c", "\u061c"),  # Arabic letter mark
    ("\u06dd", "\u06dd"),
    ("\u070f", "\u070f"),
    ("\u0890", "\u0891"),
    ("\u08e2", "\u08e2"),
    ("\u115f", "\u1160"),  # Hangul fillers
    ("\u17b4", "\u17b5"),
    ("\u180b", "\u180f"),  # Mongolian variation selectors and vowel separator
    ("\u200b", "\u200b"),  # zero width space
    ("\u200e", "\u200f"),  # bidi marks
    ("\u202a", "\u202e"),  # bidi embeddings and overrides
    ("\u2060", "\u206f"),  # word joiner, invisible operators, bidi isolates
    ("\u2800", "\u2800"),  # blank Braille cell
    ("\u3164", "\u3164"),
    ("\ud800", "\udfff"),  # lone surrogates
    ("\ufdd0", "\ufdef"),  # noncharacters
    ("\ufe00", "\ufe0f"),  # variation selectors, the last two style emoji
    ("\ufeff", "\ufeff"),
    ("\uffa0", "\uffa0"),
    ("\ufff0", "\ufffb"),
    ("\ufffe", "\uffff"),
    ("\U000110bd", "\U000110bd"),
    ("\U000110cd", "\U000110cd"),
    ("\U00013430", "\U0001343f"),
    ("\U0001bca0", "\U0001bca3"),
    ("\U0001d173", "\U0001d17a"),
    ("\U000e0000", "\U000e0fff"),  # tag characters and more variation selectors
)
"""First and last of each range that no reader sees."""

_RANGES: Final = "".join(f"{first}-{last}" for first, last in _INVISIBLE)
_WITHOUT_SELECTORS: Final = _RANGES.replace("\ufe00-\ufe0f", "\ufe00-\ufe0d")
_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_LETTERS: Final = (
    "\\w\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u08ca-\u08ff\u0900-\u0dff"
    "\u1000-\u109f\u1780-\u17dd"
)
"""Letters, digits and the marks that are written on them, as the inside of a character class."""

_SIGNS: Final = re.compile(f"[{_RANGES}]")
_HIDDEN: Final = re.compile(f"(?<![{_EMOJI}])[\ufe0e\ufe0f]|[{_WITHOUT_SELECTORS}]+")
_LINE_ENDS: Final = re.compile("\r\n?|[\u2028\u2029]")
_JOINERS: Final = f"[{ZWNJ}{ZWJ}]"
_LOOSE_JOINER: Final = re.compile(
    f"{_JOINERS}(?:(?<![{_LETTERS}].)|(?<=_.)|(?!{_JOINERS}*[{_LETTERS}])|(?={_JOINERS}*_))",
    re.DOTALL,
)


def scrub(text: str) -> str:
    """`text` without characters that a reader cannot see, every line end as a newline.

    A joiner stays where it stands between two letters, marks or digits (Persian spelling needs
    it); a variation selector stays after an emoji. Linear and idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text or "\u2028" in text or "\u2029" in text:
        text = _LINE_ENDS.sub("\n", text)
    if _SIGNS.search(text):
        text = _HIDDEN.sub("", text)
    if ZWNJ in text or ZWJ in text:
        text = _LOOSE_JOINER.sub("", text)
    return text
