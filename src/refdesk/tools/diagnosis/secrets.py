"""Log text in, the same text without its secrets out. Pure.

What it does *not* catch: a password that stands alone in a sentence, without a name, a shape or
a second occurrence that gives it away.
"""

from __future__ import annotations

import re
from typing import Final

MARK: Final = "[redacted]"
_SHORTEST: Final = 6
"""A secret that is this long is taken out wherever else it occurs."""
_SHORTEST_WORD: Final = 10
"""The same for one of letters only: `postgres` is a password and a word."""

_NAMES: Final = (
    r"passw(?:or)?d|passphrase|passwd|pwd|pass|secret|token|api[_-]?key|apikey|access[_-]?key|"
    r"private[_-]?key|account[_-]?key|signing[_-]?key|encryption[_-]?key|auth[_-]?key|"
    r"credentials?|client[_-]?secret|session[_-]?id|_key|_pass|_pw|_pin|_dsn|otp|"
    r"رمز[ \u200c]?عبور|گذرواژه|رمز|توکن|کلید[ \u200c](?:خصوصی|دسترسی|محرمانه)"
)
_NAME_HINTS: Final = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "session",
    "_pw",
    "_pin",
    "dsn",
    "otp",
    "auth",
    "salt",
    "رمز",
    "گذرواژه",
    "توکن",
    "کلید",
)
_HARMLESS: Final = (
    r"(?:yes|no|true|false|null|none|undefined|nil|missing|required|invalid|expired|empty|"
    r"\*+|\[redacted\]|is|was|not|must|cannot|<[a-z]+>)"
)
_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}-----[^-]{0,8000}(?:-----END [A-Z0-9 ]{0,40}-----)?"
)
_SHAPES: Final = tuple(
    (hint, re.compile(source))
    for hint, source in (
        ("eyJ", r"\beyJ[\w-]{6,2000}(?:\.[\w-]{2,4000}){1,2}"),
        ("A", r"\b(?:AKIA|ASIA|AROA|AIDA|ANPA|ABIA|ACCA)[A-Z0-9]{12,32}\b"),
        ("gh", r"\bgh[pousr]_\w{16,255}"),
        ("github_pat_", r"\bgithub_pat_\w{16,255}"),
        ("gl", r"\bgl[a-z]{2,6}-[\w-]{16,255}"),
        ("xox", r"\bxox[a-z]-[\w-]{8,255}"),
        ("xapp-", r"\bxapp-[\w-]{8,255}"),
        ("_live_", r"\b[a-z]{2}_live_\w{8,255}"),
        ("_test_", r"\b[a-z]{2}_test_\w{8,255}"),
        ("sk-", r"\bsk-[\w-]{12,255}"),
        ("npm_", r"\bnpm_\w{16,255}"),
        ("hf_", r"\bhf_\w{16,255}"),
        ("AIza", r"\bAIza[\w-]{16,255}"),
        ("pypi-", r"\bpypi-[\w-]{16,255}"),
        ("SG.", r"\bSG\.[\w-]{8,255}\.[\w-]{8,255}"),
        ("dop_v1_", r"\bdop_v1_\w{16,255}"),
        ("whsec_", r"\bwhsec_\w{8,255}"),
        ("aa-", r"\baa-\w{16,255}"),
        ("ya29.", r"\bya29\.[\w-]{8,255}"),
        (":AA", r"\b\d{8,10}:AA[\w-]{30,50}"),
        ("base64:", r"\bbase64:[\w+/=]{16,255}"),
    )
)
"""A text that must be there, and what a secret of that kind looks like."""
_LONG: Final = re.compile(r"(?<![\w/+.-])[\w+=-]{32,2000}(?![\w/+=.-])")
_VALUES: Final = (
    # the user and password of an address
    (
        ("@",),
        re.compile(
            r"://([^\s/:@\"'<>]{0,64}:)(?!\d{1,5}(?:[/?#\s]|$))([^\s\"'<>]{1,200})@"
            r"(?=[\w.\[\]-]{1,100}(?:[:/?\s\"']|$))"
        ),
    ),
    (("@",), re.compile(r"://()([^\s/@\"'<>]{1,300})@(?=[\w\[])")),
    (
        (
            "@tcp(",
            "@unix(",
        ),
        re.compile(r"\b([\w.-]{1,64}:)([^\s@/]{1,200})@(?=tcp\(|unix\()"),
    ),
    # headers
    (
        ("authorization",),
        re.compile(r"(?i)\b((?:proxy-)?authorization[\"']?\s{0,3}[:=]\s{0,3})([^\r\n]{3,600})"),
    ),
    (("cookie",), re.compile(r"(?i)\b((?:set-)?cookie[\"']?\s{0,3}:\s{0,3})([^\r\n]{3,2000})")),
    (
        ("x-",),
        re.compile(
            r"(?i)\b(x-[a-z-]{0,30}(?:key|token|secret|auth)[\"']?\s{0,3}:\s{0,3})(\S{3,600})"
        ),
    ),
    (("bearer",), re.compile(r"(?i)\b(bearer\s{1,3})(?=\S{0,60}[\d._=-])([\w.~+/=-]{6,2000})")),
    (("basic",), re.compile(r"(?i)\b(basic\s{1,3})(?=\S{0,60}[\d=])([\w+/=]{6,600})")),
    # a name and its value
    (
        (*_NAME_HINTS,),
        re.compile(
            rf"(?i)(?<!unexpected )((?:{_NAMES})[\w-]{{0,40}}[\"'`]?\]?\s{{0,3}}(?:=>|:=|"
            rf"[=:])\s{{0,3}})"
            rf"(?!{_HARMLESS}(?:\W|$))(\"[^\"\n]{{1,600}}\"|'[^'\n]{{1,600}}'|"
            rf"[^\s,;&)}}\"']{{2,600}})"
        ),
    ),
    (
        (*_NAME_HINTS,),
        re.compile(
            r"\b([A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){0,8}"
            r"(?:KEY|SECRET|TOKEN|PASSWORD|PASS|PWD|SALT|DSN|CREDENTIALS?|AUTH)\s{0,2}[=:]\s{0,2})"
            rf"(?!(?i:{_HARMLESS})(?:\W|$))(\"[^\"\n]{{1,600}}\"|'[^'\n]{{1,600}}'|"
            rf"[^\s,;)}}\"']{{2,600}})"
        ),
    ),
    (
        (
            "-p",
            "-token",
            "-api",
            "-secret",
            "-key",
            "-auth",
        ),
        re.compile(
            r"(?i)(--?(?:password|passwd|pass|pwd|token|api-token|api-key|secret|key|auth)[ "
            r"=])(\S{2,600})"
        ),
    ),
    (
        ("passw", "token", "رمز", "گذرواژه"),
        re.compile(
            r"(?i)(?<!unexpected )\b((?:password|passwd|token|رمز عبور|گذرواژه) "
            r"(?:is |was |of |برابر )?)(?=\S{0,40}\d)(?=\S{0,40}[^\W\d_])([^\s,;)]{6,200})"
        ),
    ),
    (
        ("identified by",),
        re.compile(r"(?i)\b(identified by\s{1,3})('[^'\n]{1,200}'|\"[^\"\n]{1,200}\"|\S{2,200})"),
    ),
    ((" -u ",), re.compile(r"(?i)(\bcurl\b.{0,200} -u )(\S{3,200})")),
    (
        (
            "sig=",
            "signature=",
            "x-amz-",
            "token=",
            "key=",
            "code=",
        ),
        re.compile(
            r"(?i)([?&](?:sig|signature|x-amz-[a-z-]{3,24}|access_token|key|"
            r"code)=)([^\s&\"']{4,600})"
        ),
    ),
)

"""Texts in lower case one of which must be there; what stands before a secret, and the secret."""


def redact(text: str) -> str:
    """`text` with every secret replaced by MARK, also where it is repeated without its name."""
    found: set[str] = set()

    def take(match: re.Match[str]) -> str:
        found.update(_pieces(match[2]))
        return (
            match[0][: match.start(2) - match.start()]
            + MARK
            + match[0][match.end(2) - match.start() :]
        )

    text = _BLOCK.sub(MARK, text)
    for hint, shape in _SHAPES:
        if hint in text:
            text = shape.sub(MARK, text)
    lower = text.lower()
    for hints, pattern in _VALUES:
        if any(hint in lower for hint in hints):
            text = pattern.sub(take, text)
    text = _LONG.sub(lambda match: MARK if _random(match[0]) else match[0], text)
    for secret in sorted(found, key=len, reverse=True):
        text = text.replace(secret, MARK)
    return text


def _pieces(value: str) -> list[str]:
    """What of a secret's value would give it away elsewhere: `user:password` holds two."""
    bare = value.strip("\"'`")
    pieces = [bare, bare.partition(":")[2]]
    return [
        piece
        for piece in pieces
        if len(piece) >= (_SHORTEST_WORD if piece.isalpha() else _SHORTEST) and MARK not in piece
    ]


def _random(run: str) -> bool:
    """Whether a long run of characters looks made by chance rather than spelt."""
    digits = sum(character.isdigit() for character in run)
    upper = sum("A" <= character <= "Z" for character in run)
    lower = sum("a" <= character <= "z" for character in run)
    hexadecimal = digits >= 6 and all(character in "0123456789abcdefABCDEF" for character in run)
    return hexadecimal or (digits >= 3 and upper >= 3 and lower >= 3)
