"""Clean lines of a log in, the line that matters and what it is a sign of out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from refdesk.tools.diagnosis.address import strip_address
from refdesk.tools.diagnosis.knowledge import Evidence, Failure, Knowledge, Pattern

SIGNATURE_LIMIT: Final = 200
_LATER: Final = 6.0
"""What the last line of a log is worth over the first, in units of a failure's weight."""
_MINOR: Final = 30
"""What a warning, or a line of an access log, is worth less than an error."""
_MOST_TRIED: Final = 40

_PIECE: Final = 4
_ANSWERED: Final = re.compile(
    r"\"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) [^\"]{0,1000}\" (?:[123]\d\d|404)\b"
    r"|^npm http (?:fetch|cache) \w{3,7} [23]\d\d |^npm http cache "
)
_MINOR_LINE: Final = re.compile(
    r"(?i)^.{0,40}\b(?:npm warn|warn(?:ing)?|info|debug|notice|deprecated|trace)\b"
    r"|^[\da-f.:]{3,45} - \S{1,60} (?:\[|\")|^\"?(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /"
)
_FRAME: Final = re.compile(
    r"^(?:at |File \"|#\d{1,4} |~{2,}|\^|\d{1,6} ?\||npm (?:ERR!|error) A complete log|\.\.\. "
    r"\d|Stack trace|"
    r"Traceback \(|\[stacktrace\]|[{}\[\]()\"';,]*$)"
)
_TROUBLE: Final = (
    (
        50,
        re.compile(
            r"^(?:[\w.$\\]{0,100}(?:Error|Exception|Failure)|Caused by|panic|fatal|"
            r"FATAL)\b.{0,60}: "
        ),
    ),
    (44, re.compile(r"(?i)\b(?:fatal|panic|uncaught|unhandled|traceback|critical|emerg)\b")),
    (
        40,
        re.compile(
            r"(?i)(?:^|[\s\]])(?:error|err!|failed|failure|exception|خطا)(?:\b|:)|(?:Error|"
            r"Exception): "
        ),
    ),
    (
        34,
        re.compile(
            r"(?i)\b(?:cannot|can't|could not|couldn't|unable|denied|refused|invalid|missing|"
            r"not found|timed? ?out|abort\w{0,3}|crash\w{0,3}|rejected|unexpected|unknown|"
            r"illegal|did not|abandon\w{0,3}|halt\w{0,3}|giving up|corrupt\w{0,3}|undefined)\b|"
            r"ناموفق|نشد"
        ),
    ),
    (20, re.compile(r"(?i)error|fail|exit")),
)
"""How much a line looks like trouble, in units of a failure's weight, by what it holds."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a log is about: `failure` is None where nothing known was found."""

    signature: str
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines with all of them in lower case, as one text and in pieces, for quick looks."""

    texts: tuple[str, ...]
    lower: tuple[str, ...]
    whole: str
    pieces: frozenset[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Lines:
        """The lines of one log; requests that were answered well are left out, unless all were."""
        told = [text for text in texts if not _ANSWERED.search(text)] or texts
        lower = tuple(text.lower() for text in told)
        whole = "\n".join(lower)
        pieces = frozenset(whole[at : at + _PIECE] for at in range(len(whole) - _PIECE + 1))
        return cls(tuple(told), lower, whole, pieces)

    def holds(self, needle: str) -> bool:
        """Whether `needle` stands in any line."""
        if len(needle) >= _PIECE and not {needle[:_PIECE], needle[-_PIECE:]} <= self.pieces:
            return False
        return needle in self.whole

    def matches(self, pattern: Pattern) -> Iterator[tuple[int, re.Match[str]]]:
        """(number, match) of every line in which `pattern` is found."""
        needles = [needle for needle in pattern.needles if self.holds(needle)]
        if not needles:
            return
        for number, lower in enumerate(self.lower):
            if any(needle in lower for needle in needles):
                match = pattern.search(self.texts[number])
                if match is not None:
                    yield number, match


@dataclass(frozen=True, slots=True)
class _Sign:
    """A line that may be the one: the higher `worth` the better, then the lower `order`."""

    worth: float
    order: int
    number: int
    match: re.Match[str]
    failure: Failure
    pattern: Pattern


def find(lines: Lines, known: Knowledge) -> Finding:
    """The known failure that weighs most, or else the line that looks most like trouble."""
    signs = [sign for failure in known.failures if (sign := _best(lines, failure))]
    signs.sort(key=lambda sign: (-sign.worth, sign.order))
    for sign in signs:
        signature = _signature(sign.match)
        if signature:
            return Finding(signature, sign.failure)
    return Finding(_trouble(lines.texts), None)


def decide(lines: Lines, evidence: Sequence[Evidence], *, near: str = "") -> str:
    """The name that most of the evidence speaks for, the line `near` before the others; or "".

    Weightier evidence beats any amount of lighter.
    """
    for place in (Lines.of([near]), lines) if near else (lines,):
        votes = [
            (
                each.weight,
                sum(1 for p in each.patterns if next(place.matches(p), None)),
                -rank,
                each.name,
            )
            for rank, each in enumerate(evidence)
        ]
        best = max((vote for vote in votes if vote[1]), default=None)
        if best is not None:
            return best[3]
    return ""


def _best(lines: Lines, failure: Failure) -> _Sign | None:
    """The most telling line of one failure that does not address the reader."""
    signs: list[_Sign] = []
    for order, pattern in enumerate(failure.patterns):
        for number, match in lines.matches(pattern):
            later = _LATER * (number + 1) / len(lines.texts)
            minor = _MINOR if _MINOR_LINE.search(lines.texts[number]) else 0
            signs.append(
                _Sign(failure.weight - minor + later, order, number, match, failure, pattern)
            )
    side = 1 if failure.first else -1
    signs.sort(key=lambda s: (_minor(s), s.order, side * s.number))
    return next((sign for sign in signs[:_MOST_TRIED] if _signature(sign.match)), None)


def _minor(sign: _Sign) -> bool:
    return sign.worth < sign.failure.weight


def _signature(match: re.Match[str]) -> str:
    """The line of a match, as much of it as a signature holds; "" where it talks to the reader.

    Cut so that the match is in it.
    """
    line = strip_address(match.string)
    if len(line) < match.end() and len(line) - match.start() < max(
        8, (match.end() - match.start()) // 3
    ):
        return ""
    if len(line) <= SIGNATURE_LIMIT:
        return line
    start = 0 if match.end() <= SIGNATURE_LIMIT else match.start()
    return line[start : start + SIGNATURE_LIMIT].rstrip()


def _trouble(texts: Sequence[str]) -> str:
    """The line that looks most like an error; the last line where none does."""
    ranked: list[tuple[float, int, str]] = []
    for number, text in enumerate(texts):
        if _FRAME.match(text):
            continue
        worth = next((worth for worth, look in _TROUBLE if look.search(text)), 0)
        minor = _MINOR if _MINOR_LINE.search(text) else 0
        ranked.append((worth - minor + _LATER * (number + 1) / len(texts), number, text))
    for _, _, text in sorted(ranked, reverse=True)[:_MOST_TRIED]:
        line = strip_address(text)
        if line == text or (len(line) >= 20 and any(look.search(line) for _, look in _TROUBLE)):
            return line[:SIGNATURE_LIMIT].rstrip()
    return ""
