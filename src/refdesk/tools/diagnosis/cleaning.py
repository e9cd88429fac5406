"""A log as a terminal or a container wrote it in, its lines as words out. Pure."""

from __future__ import annotations

import json
import re
from typing import Final

from refdesk.grounding.characters import scrub
from refdesk.tools.diagnosis.secrets import redact

MOST_LINES: Final = 300
MOST_CHARACTERS: Final = 20_000
LONGEST_LINE: Final = 2_000
"""What is kept of one line: its beginning and its end."""

_ESCAPE: Final = r"(?:\x1b|\u241b|\^\[|\\u001b|\\x1b|\\033|\\e)"
_TERMINAL: Final = re.compile(
    rf"(?:{_ESCAPE}\[|\x9b)[0-?]{{0,40}}[ -/]{{0,4}}[@-~]"
    r"|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b\n]{0,400}\x1b\\"
    r"|\x1b[ -/]{0,4}[0-~]"
    r"|\[\d{1,3}(?:;\d{1,3}){0,4}m(?!\])"
)
_LEVEL: Final = (
    r"(?i:trace|debug|info|information|notice|warn|warning|error|err|fatal|crit|"
    r"critical|emerg|alert|panic)"
)
_PREFIX: Final = re.compile(
    "|".join(
        (
            # dates and times of many habits
            r"\[?\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[T ,_]{1,3}\d{1,2}:\d{2}(?::\d{2})?(?:[.,:]\d{1,9})?"
            r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?\]?[:,]?",
            r"\[\d{1,2}[-/ ][A-Za-z]{3}[-/ ]\d{4}[: ]\d{2}:\d{2}:\d{2}[^\]\n]{0,30}\]",
            r"\[?[A-Z][a-z]{2},? {1,2}(?:[A-Z][a-z]{2} {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2})(?: "
            r"\d{4})? \d{2}:\d{2}:\d{2}"
            r"(?:\.\d{1,9})?(?: [A-Z]{3,4})?(?: \d{4})?\]?",
            r"[A-Z][a-z]{2} {1,2}\d{1,2} \d{2}:\d{2}:\d{2}(?: [\w.-]{1,60} "
            r"[\w./-]{1,40}(?:\[\d{1,7}\])?:)?",
            r"\[?\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4},? \d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,9})?(?: "
            r"?[AP]M)?\]?",
            r"\[?\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?[AP]M)?\]?(?=[\s|:-])[|:-]?",
            r"\[?\d{4}[-/]\d{2}[-/]\d{2}\]?(?=\s)",
            r"\[?1[6-9]\d{8}(?:\.\d{1,9}|\d{3})?\]?(?=\s)",
            r"\[ {0,6}\d{1,7}\.\d{3,9}\]",
            # containers, builders, collectors
            r"#\d{1,4}(?: \d{1,6}\.\d{1,6}(?=\s)|(?= (?:ERROR|WARN|CANCELED|\[)))",
            r"\d{1,5}\.\d{3}(?=\s)",
            r"(?:stdout|stderr)(?: [FP])?(?=[\s|:])[|:]?",
            r"[A-Za-z][\w.@/-]{0,60}\s{0,30}\|(?=\s)",
            r"\[?pod/[\w./-]{1,120}\]?",
            r"(?:app|heroku|remote)(?:\[[\w.]{1,20}\])?:(?=\s)",
            r"[0-9a-f]{12}(?=[\s|:])[|:]?",
            r"##?\[\w{1,12}\]|::(?:error|warning|debug)[^:\n]{0,80}::",
            # process numbers, threads, levels
            rf"{_LEVEL}/[\w-]{{1,40}}\]",
            rf"\[ ?(?:\d{{1,7}}|{_LEVEL}|(?:pid|PID)[: ]\d{{1,7}}|main)(?: "
            rf"?[:/][\w.-]{{1,30}})? {{0,3}}\]",
            r"\d{1,7}#\d{1,7}:(?: \*\d{1,12})?",
            rf"{_LEVEL} {{1,3}}\d{{1,7}} --- (?:\[[^\]\n]{{1,60}}\] "
            rf"?){{1,2}}[\w.$\[\]/]{{1,80}} {{0,20}}:",
            rf"<?{_LEVEL}>? ?[|:-]{{1,2}}(?=\s)(?! (?:\w{{1,40}}(?:Error|"
            rf"Exception)\b))(?=.{{0,4}}\[)",
        )
    )
)
_PREFIXES: Final = 8
_MESSAGE_KEYS: Final = (
    "log",
    "message",
    "msg",
    "error",
    "err",
    "exception",
    "stack",
    "textPayload",
)
_QUOTED_MESSAGE: Final = re.compile(r'\b(?:msg|message)="((?:[^"\\]|\\.){1,2000})"')
_SPACES: Final = re.compile(r"[^\S\n]+")


def clean(log: str) -> list[str]:
    """The last lines of `log`, at most MOST_LINES of them and MOST_CHARACTERS long.

    Without colours, times, container names, invisible characters and secrets; blank lines are
    left out.
    """
    text = _TERMINAL.sub("", _tail(log))
    lines = (_unwrapped(line) for line in scrub(text).split("\n"))
    text = redact(_SPACES.sub(" ", "\n".join(lines)))
    cleaned = (_without_prefix(_shortened(line.strip())) for line in text.split("\n"))
    return [line for line in cleaned if line]


def _tail(log: str) -> str:
    """The end of `log` that is read; it begins with a whole line where it has more than one."""
    log = log.rstrip()[-2 * MOST_CHARACTERS :].replace("\r\n", "\n")
    if "\n" not in log and log.count("\\n") > 1:
        log = log.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", "\t")
    text = "\n".join(log.split("\n")[-MOST_LINES:])
    if len(text) <= MOST_CHARACTERS:
        return text
    text = text[-MOST_CHARACTERS:]
    first, line_end, rest = text.partition("\n")
    return rest if line_end and len(first) < LONGEST_LINE else text


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    return f"{line[:half]} {line[-half:]}"


def _without_prefix(line: str) -> str:
    for _ in range(_PREFIXES):
        match = _PREFIX.match(line)
        if match is None:
            break
        line = line[match.end() :].lstrip(" \t|")
    return line


def _unwrapped(line: str) -> str:
    """What a line of JSON or of key="value" pairs reports; the line itself where it is neither."""
    if 'msg="' in line or 'message="' in line:
        quoted = _QUOTED_MESSAGE.search(line)
        return quoted[1].replace('\\"', '"').replace("\\n", "\n") if quoted else line
    bare = line.strip()
    if not (bare.startswith("{") and bare.endswith("}") and ":" in bare):
        return line
    try:
        told = _told(json.loads(bare))
    except (ValueError, RecursionError):
        return line
    return "\n".join(told) or line


def _told(record: object) -> list[str]:
    if isinstance(record, str):
        return [record]
    if not isinstance(record, dict):
        return []
    return [text for key in _MESSAGE_KEYS if key in record for text in _told(record[key])]
