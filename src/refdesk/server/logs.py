"""Log records in, one line per event on stderr out, control characters escaped."""

from __future__ import annotations

import logging
import re
import sys
import time
import traceback
from functools import lru_cache
from types import TracebackType
from typing import Final

from refdesk.settings import Settings

_CONTROL: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_PLAIN: Final = re.compile(r"[\w.-]+\Z")
_NOISY: Final = ("mcp", "uvicorn", "watchfiles", "asyncio", "httpx")
"""Loggers of libraries: their routine messages are not ours to repeat."""
_FRAMES: Final = 6


class LineFormatter(logging.Formatter):
    """`2026-01-31T12:00:00Z INFO refdesk.server message`, always one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line; an exception is named with its innermost frames."""
        message = record.getMessage()
        if record.exc_info and record.exc_info[1]:
            message += f" error={_summary(record.exc_info[1], record.exc_info[2])}"
        return printable(f"{_when(int(record.created))} {record.levelname} {record.name} {message}")


def configure(settings: Settings) -> None:
    """Route every logger of this process to stderr. Call it before the SDK is set up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter())
    level = settings.log_level.upper()
    # None of these is in a line, and collecting them costs more than writing it.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _NOISY:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel("DEBUG" if level == "DEBUG" else "WARNING")


def printable(text: str) -> str:
    """`text` with every character escaped that could start a line or steer a terminal."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


@lru_cache(maxsize=8)
def _when(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


def quoted(value: str) -> str:
    """`value` fit to stand behind `name=`: in quotes where it holds blanks or signs."""
    if _PLAIN.match(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _summary(error: BaseException, trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)[-_FRAMES:]
    places = " < ".join(
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}"
        for frame in reversed(frames)
    )
    return f'"{type(error).__name__}: {error}" at="{places}"'
