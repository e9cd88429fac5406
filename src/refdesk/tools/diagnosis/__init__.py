"""The text of a log in, what went wrong out: signature, failure, platform, database. Pure.

cleaning    colours, times, container names and secrets go
secrets     what a secret looks like
address     words that talk to the reader go
knowledge   signatures.toml: what failures look like, what mends them
findings    the line that matters
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from refdesk.tools.diagnosis import findings
from refdesk.tools.diagnosis.cleaning import MOST_CHARACTERS, MOST_LINES, clean
from refdesk.tools.diagnosis.findings import SIGNATURE_LIMIT, Lines
from refdesk.tools.diagnosis.knowledge import Failure, knowledge

__all__ = [
    "MOST_CHARACTERS",
    "MOST_LINES",
    "SIGNATURE_LIMIT",
    "UNKNOWN",
    "Diagnosis",
    "diagnose",
]

UNKNOWN: Final = "unknown"
_TOLD: Final = re.compile(r"(?i)\bplatform[\"']? ?[:=] ?[\"']?([a-z][\w.+#-]{0,20})")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a log is about. Each text is "" where the log does not say.

    `signature` is at most 200 characters of one line; `told` are the platforms that the log names
    itself, `platform` is the one its lines speak for; `engine` is a database, `mirror` a package
    registry.
    """

    signature: str
    failure: Failure | None
    told: tuple[str, ...]
    platform: str
    engine: str
    mirror: str


def diagnose(log: str) -> Diagnosis:
    """What the end of `log` shows."""
    known = knowledge()
    lines = Lines.of(clean(log))
    if not lines.texts:
        return Diagnosis("", None, (), "", "", "")
    found = findings.find(lines, known)
    failure = found.failure
    platform = findings.decide(lines, known.platforms)
    if failure is not None and failure.platform and not platform:
        platform = failure.platform
    return Diagnosis(
        signature=found.signature,
        failure=failure,
        told=tuple(dict.fromkeys(m[1] for text in lines.texts if (m := _TOLD.search(text)))),
        platform=platform,
        engine=(failure.engine if failure else "")
        or findings.decide(lines, known.engines, near=found.signature),
        mirror=findings.decide(lines, known.mirrors, near=found.signature),
    )
