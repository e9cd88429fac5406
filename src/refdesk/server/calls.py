"""Tool calls in, what a client gets to see out: in time, in the configured style, logged."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from refdesk import grounding
from refdesk.errors import RefdeskError, RequestError
from refdesk.server.logs import quoted
from refdesk.server.metrics import Metrics
from refdesk.tools import registry, styles
from refdesk.tools.desk import Desk, Json, Reply, Tool, compact

log = logging.getLogger(__name__)

_MESSAGE_LIMIT: Final = 1000
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a call: its text block, its structured content, whether it failed."""

    text: str
    structured: Json | None = None
    failed: bool = False


class Calls:
    """Carries out the calls of one server."""

    def __init__(self, desk: Desk, metrics: Metrics) -> None:
        self.desk = desk
        self._metrics = metrics

    async def call(self, tool: Tool, given: Mapping[str, object]) -> Outcome:
        """The answer of `tool`. Whatever goes wrong becomes an outcome that says what to do."""
        begun = time.perf_counter()
        status, reply, error = await self._answer(tool, given)
        seconds = time.perf_counter() - begun
        self._metrics.called(tool.name, status, seconds)
        self._log(tool, given, status, reply, seconds)
        if reply is None:
            return Outcome(compact(error).decode(), failed=True)
        return _styled(tool, reply, self.desk.settings.result_style)

    def unknown(self) -> Outcome:
        """What a call of a tool that is not there comes to."""
        names = [tool.name for tool in registry.shown(self.desk)]
        message = f"unknown tool; the tools are: {', '.join(names)}"
        error = _error("invalid_argument", message, {"known_tools": names})
        return Outcome(compact(error).decode(), failed=True)

    async def _answer(
        self, tool: Tool, given: Mapping[str, object]
    ) -> tuple[str, Reply | None, Json]:
        """Status for the log, and the reply or the body of the error."""
        try:
            async with asyncio.timeout(tool.deadline):
                return "ok", await tool.answer(self.desk, given), {}
        except RefdeskError as error:
            details = error.details if isinstance(error, RequestError) else {}
            return error.code, None, _error(error.code, str(error), details)
        except TimeoutError:
            message = f"no answer within {tool.deadline:g} seconds: try again, or ask for less"
            return "unavailable", None, _error("unavailable", message, {})
        except Exception:
            # The edge of the process: a fault of ours is logged and ends nothing but this call.
            log.exception("tool %s failed", tool.name)
            message = "refdesk failed on this call, its log says why; other calls still work"
            return "failed", None, _error("unavailable", message, {})

    def _log(
        self,
        tool: Tool,
        given: Mapping[str, object],
        status: str,
        reply: Reply | None,
        seconds: float,
    ) -> None:
        if not log.isEnabledFor(logging.INFO):
            return
        library = reply.library if reply else str(given.get("library") or "")[:_SHOWN]
        line = (
            f"tool={tool.name} library={quoted(library)} status={status} "
            f"results={reply.count if reply else 0} ms={seconds * 1000:.1f}"
        )
        if self.desk.settings.log_queries:
            asked = given.get("query") or given.get("ref") or given.get("id") or ""
            line += f" query={quoted(str(asked)[:_SHOWN])}"
        log.info(line)


def _styled(tool: Tool, reply: Reply, style: str) -> Outcome:
    if style == "chatgpt":
        body = styles.chatgpt(tool.name, reply.body)
        return Outcome(compact(body).decode(), body)
    if style == "structured":
        return Outcome(f"{reply.count} results in structuredContent", reply.body)
    text = reply.text or compact(reply.body).decode()
    return Outcome(text, None if style == "text" else reply.body)


def _error(code: str, message: str, details: Mapping[str, object]) -> Json:
    neutral = cast("Json", grounding.value(details))
    return {"error": code, "message": grounding.line(message, _MESSAGE_LIMIT), **neutral}
