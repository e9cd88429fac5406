"""One event, one line, whatever is in it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import settings
from refdesk.server import logs


@pytest.fixture(autouse=True)
def _loggers_as_before() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before


@given(st.text())
def test_no_text_starts_a_new_line_or_steers_a_terminal(text: str) -> None:
    line = logs.printable(text)
    assert len(line.split("\n")) == 1
    assert len(line.splitlines()) <= 1
    assert "\x1b" not in line


@given(st.text())
def test_a_quoted_value_cannot_pass_for_another_field(text: str) -> None:
    value = logs.quoted(text)
    assert value == text or (value[0] == value[-1] == '"' and len(value) > 1)
    assert " " not in value or value[0] == '"'


def test_an_event_is_a_line_with_time_level_and_logger(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(settings())
    logging.getLogger("refdesk.x").info("a\nb \x1b[31m")
    [line, rest] = capsys.readouterr().err.split("\n")
    assert rest == ""
    assert line.endswith("Z INFO refdesk.x a\\nb \\x1b[31m")


def test_an_exception_is_one_line_that_says_where(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(settings())
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("refdesk.x").exception("failed")
    [line, rest] = capsys.readouterr().err.split("\n")
    assert rest == ""
    assert 'failed error="ValueError: two\\nlines" at="test_logs.py:' in line


def test_libraries_are_heard_only_when_they_warn(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(settings())
    for name in ("mcp.server.lowlevel", "uvicorn.error", "uvicorn.access", "watchfiles.main"):
        logging.getLogger(name).info("routine")
        logging.getLogger(name).warning("trouble")
    lines = capsys.readouterr().err.strip().split("\n")
    assert [line.rpartition(" ")[2] for line in lines] == ["trouble"] * 4


def test_the_level_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(settings(log_level="error"))
    logging.getLogger("refdesk.x").warning("no")
    logs.configure(settings(log_level="debug"))
    logging.getLogger("mcp.server").debug("yes")
    assert capsys.readouterr().err.strip().endswith("yes")
