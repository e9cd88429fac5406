"""The tools there are, and which of them a server shows."""

from __future__ import annotations

from typing import Final

from refdesk.tools import (
    diagnose_log,
    fetch,
    list_documents,
    page_history,
    platform_docs,
    reindex,
    search,
    search_history,
    when_documented,
)
from refdesk.tools.desk import Desk, Tool

TOOLS: Final[tuple[Tool, ...]] = (
    search.TOOL,
    fetch.TOOL,
    list_documents.TOOL,
    reindex.TOOL,
    platform_docs.TOOL,
    diagnose_log.TOOL,
    search_history.TOOL,
    when_documented.TOOL,
    page_history.TOOL,
)
"""In the order in which they are listed. A new question is a new file and one name here."""


_BY_NAME: Final = {tool.name: tool for tool in TOOLS}


def find(desk: Desk, name: str) -> Tool | None:
    """The tool of that name, if `desk` shows it."""
    tool = _BY_NAME.get(name)
    return tool if tool is not None and tool.shown(desk) else None


def shown(desk: Desk) -> list[Tool]:
    """The tools that make sense for the libraries and settings of `desk`."""
    return [tool for tool in TOOLS if tool.shown(desk)]
