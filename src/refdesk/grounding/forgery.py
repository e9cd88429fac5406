"""Text in, text that can neither open or close the envelope nor pass for a citation out."""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import Final

ENVELOPE: Final = "docs"
"""Name of the tag that only refdesk may write."""

_COMPATIBLE: Final = (
    range(0xAA, 0x180),
    range(0x2B0, 0x300),
    range(0x1D2C, 0x1DC0),
    range(0x2070, 0x2190),
    range(0x24B6, 0x24EA),
    range(0x2C7C, 0x2C7E),
    range(0xA7F1, 0xA7FA),
    range(0xAB5C, 0xAB70),
    range(0xFF21, 0xFF5B),
    range(0x10780, 0x107C0),
    range(0x1CCD6, 0x1CCFA),
    range(0x1D400, 0x1D6A4),
    range(0x1DF00, 0x1E070),
    range(0x1F100, 0x1F1AE),
)
"""Where Unicode keeps characters that NFKC folds to a Latin letter."""

_TWINS: Final = {
    "d": "\u0501\u0500\u13e7\u1d05\u217e\u216e",
    "o": "\u043e\u041e\u03bf\u039f\u0585\u0555\u1d0f\u2c9f\u2c9e",
    "c": "\u0441\u0421\u03f2\u03f9\u1d04\u2ca5\u2ca4\u217d\u216d",
    "s": "\u0455\u0405\ua731\u10bd\u13da",
}
"""Letters of other scripts that look the same."""


def _any_form(letter: str) -> str:
    """A regex for `letter` in any case, width, style, look-alike script or numeric entity."""
    forms = {letter, letter.upper(), *_TWINS[letter]}
    for code in chain.from_iterable(_COMPATIBLE):
        if unicodedata.normalize("NFKC", chr(code)).casefold() == letter:
            forms.add(chr(code))
    codes = "|".join(f"0*{ord(form)}" for form in (letter, letter.upper()))
    hexes = "|".join(f"0*{ord(form):x}" for form in (letter, letter.upper()))
    return rf"(?:[{''.join(sorted(forms))}]|&#(?:{codes}|[xX](?:{hexes}));?)"


_OPENERS: Final = r"<\uff1c\ufe64\u2039\u2329\u27e8\u3008\u276e\u02c2\u1438"
_AMP: Final = r"&(?:amp;|#0*38;?|#[xX]0*26;?)*"
_OPENER: Final = (
    rf"(?:[{_OPENERS}]"
    rf"|{_AMP}(?:[lL][tT]|#0*60|#[xX]0*3[cC]|lang|langle|lsaquo);?"
    r"|\\(?:u0*|u\{0*|x)3[cC]\}?)"
)
_UNSEEN: Final = (
    r"(?:[\u200c\u200d]|&(?:zwn?j|shy|ZeroWidthSpace|NoBreak|#[0-9xXa-fA-F]{2,8});?){0,4}"
)
_FIRST: Final = _any_form(ENVELOPE[0])
_GAP: Final = (
    rf"(?:[\s/\\\uff0f\u2044\u2215\u29f8\u200c\u200d]++|(?!{_FIRST}|{_OPENER})"
    r"&(?:sol|bsol|nbsp|Tab|NewLine|zwn?j|shy|ZeroWidthSpace|NoBreak|#[0-9xXa-fA-F]{2,8});?){0,24}+"
)
_TAG: Final = re.compile(
    rf"(?P<open>{_OPENER}{_GAP})(?P<name>"
    + _UNSEEN.join(_any_form(letter) for letter in ENVELOPE)
    + r")(?![A-Za-z0-9_-])"
)
_LEFTS: Final = r"\[\uff3b\ufe47\u3010\u3014\u2772\u27e6\u301a\u3016"
_RIGHTS: Final = r"\]\uff3d\ufe48\u3011\u3015\u2773\u27e7\u301b\u3017"
_LEFT: Final = rf"(?:\\?[{_LEFTS}]|&(?:lbrack|lsqb|#0*91|#[xX]0*5[bB]);?)"
_RIGHT: Final = rf"(?:\\?[{_RIGHTS}]|&(?:rbrack|rsqb|#0*93|#[xX]0*5[dD]);?)"
_DIGITS: Final = (
    r"(?:[\d\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]"
    r"|&#(?:0*4[89]|0*5[0-7]|[xX]0*3[0-9]);?)++"
)
_MARKS: Final = r"[\s*_`~^\u0300-\u036f\u20d0-\u20ff]*+"
_ONE: Final = rf"{_MARKS}{_DIGITS}{_MARKS}"
_SEVERAL: Final = rf"{_ONE}(?:[,;\u060c\u061b]{_ONE})*+"


def _leading(numbers: str) -> re.Pattern[str]:
    """Finds `numbers` in brackets where a reader sees a line begin, behind marks of any kind."""
    citation = rf"{_LEFT}{numbers}{_RIGHT}"
    return re.compile(
        r"(?m)((?:^|<(?:br|p|li|div|td|th|hr|dd|dt)\b[^<>\n]{0,200}>)"
        r"(?:</?[A-Za-z][^<>\n]{0,200}>"  # tags
        r"|(?<!\()(?:\d{1,9}|[A-Za-z])[.)](?=[ \t])"  # list numbers
        r"|\[[ xX]\](?=[ \t])"  # task boxes
        rf"|(?!{citation})(?:&#?\w{{1,32}};|[^\w\n]|_))*+)"  # entities and signs
        rf"{_LEFT}({numbers}){_RIGHT}"
    )


_CITATION: Final = _leading(_ONE)
_CITATIONS: Final = _leading(_SEVERAL)
_TAG_SIGN: Final = re.compile(rf"[{_OPENERS}&\\]")
_CITATION_SIGN: Final = re.compile(rf"[{_LEFTS}&]")
SIGNS: Final = re.compile(rf"[{_OPENERS}{_LEFTS}&\\{{]")
"""Text in which this finds nothing holds no tag, link, image, entity or citation."""


def disarm(text: str) -> str:
    """`text` with every envelope tag opened by "(" instead, and line-leading [n] as (n).

    Meant for scrubbed text. A tag is found in any case, width, spacing, script look-alike,
    entity or escape; a citation behind quote, list, heading, table or emphasis marks too.
    It is *not* looked for in the middle of a line, where it reads as part of a sentence.
    """
    if _TAG_SIGN.search(text):
        text = _TAG.sub(_defuse, text)
    if _CITATION_SIGN.search(text):
        text = _CITATION.sub(r"\1(\2)", text)
    return text


def disarm_lists(prose: str) -> str:
    """`prose` with line-leading [1, 2] as (1, 2); not for code, where it is an array."""
    return _CITATIONS.sub(r"\1(\2)", prose) if _CITATION_SIGN.search(prose) else prose


def _defuse(match: re.Match[str]) -> str:
    closing = re.search(r"[/\\\uff0f\u2044\u2215\u29f8]|sol|#0*47|#[xX]0*2[fF]", match["open"])
    return "(/" + match["name"] if closing else "(" + match["name"]
