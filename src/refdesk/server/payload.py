"""A request body in, the reason why it is not even parsed out."""

from __future__ import annotations

import re
from typing import Final

DEEPEST: Final = 64
"""Levels of nesting; a tool call has about four."""
LONGEST_NUMBER: Final = 400
"""Digits in a row outside of strings."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_LONE_SIGN: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_NUMBER: Final = re.compile(rb"[0-9]{%d}" % LONGEST_NUMBER)


def flaw(body: bytes) -> str:
    """Why JSON parsers or their users would stumble over `body`; "" when they would not.

    A look at what is cheap to see: nesting, half surrogate pairs, endless numbers. That the
    text is JSON at all is for the parser to say.
    """
    deep = body.count(b"[") + body.count(b"{") > DEEPEST
    long = len(body) > LONGEST_NUMBER and _NUMBER.search(body) is not None
    if deep or long:
        bare = _STRING.sub(b"", body)
        if _depth(bare) > DEEPEST:
            return f"nested deeper than {DEEPEST} levels"
        if _NUMBER.search(bare):
            return f"a number has more than {LONGEST_NUMBER} digits"
    if _LONE_SIGN.search(body) and any(match["lone"] for match in _ESCAPE.finditer(body)):
        return "half of a surrogate pair"
    return ""


def _depth(bare: bytes) -> int:
    deepest = depth = 0
    for byte in bare:
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest
