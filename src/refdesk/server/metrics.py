"""Calls in, counters for `/metrics` out, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter, defaultdict

from starlette.requests import Request
from starlette.responses import Response

from refdesk.model import State
from refdesk.tools.desk import Manager


class Metrics:
    """How many calls each tool has had, how they ended and how long they took."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._calls: Counter[tuple[str, str]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def called(self, tool: str, status: str, seconds: float) -> None:
        """Count one call that took `seconds`."""
        self._calls[tool, status] += 1
        self._seconds[tool] += seconds

    async def show(self, request: Request) -> Response:
        """The endpoint `/metrics`."""
        return Response("\n".join([*self._lines(), ""]), media_type="text/plain; version=0.0.4")

    def _lines(self) -> list[str]:
        lines = ["# TYPE refdesk_calls_total counter"]
        for (tool, status), count in sorted(self._calls.items()):
            lines.append(f'refdesk_calls_total{{tool="{tool}",status="{status}"}} {count}')
        lines.append("# TYPE refdesk_call_seconds_total counter")
        for tool, seconds in sorted(self._seconds.items()):
            lines.append(f'refdesk_call_seconds_total{{tool="{tool}"}} {seconds:.6f}')
        lines.append("# TYPE refdesk_documents gauge")
        for library in self._manager.libraries:
            lines.append(f'refdesk_documents{{library="{library.name}"}} {library.documents}')
        lines.append("# TYPE refdesk_library_ready gauge")
        for library in self._manager.libraries:
            ready = int(library.state is State.READY)
            lines.append(f'refdesk_library_ready{{library="{library.name}"}} {ready}')
        return lines
