"""The state of the libraries in, what monitors and platforms ask for out."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response

import refdesk
from refdesk import grounding
from refdesk.model import Library, State
from refdesk.tools.desk import Json, Manager


class Health:
    """The endpoints `/healthz` and `/readyz`."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager

    async def live(self, request: Request) -> Response:
        """200 for as long as the process answers: platforms restart on anything else."""
        return _json(report(self._manager), 200)

    async def ready(self, request: Request) -> Response:
        """200 when every library answers, else 503 with what is missing."""
        missing = [
            _library(library)
            for library in self._manager.libraries
            if library.state is not State.READY
        ]
        if self._manager.ready:
            return _json({"status": "ready"}, 200)
        return _json({"status": "not ready", "missing": missing}, 503)


def report(manager: Manager) -> Json:
    """What `/healthz` says: counts over all libraries, and the state of each."""
    libraries = manager.libraries
    return {
        "status": "ok",
        "version": refdesk.__version__,
        "documents": sum(library.documents for library in libraries),
        "chunks": sum(library.sections for library in libraries),
        "dense_search": any(library.dense.on for library in libraries),
        "libraries": [_library(library) for library in libraries],
    }


def _library(library: Library) -> Json:
    return {
        "name": library.name,
        "adapter": library.adapter,
        "state": library.state.value,
        "documents": library.documents,
        "sections": library.sections,
        "snapshot": grounding.line(library.snapshot),
        "reason": grounding.line(library.reason or library.dense.reason),
    }


def _json(body: Json, status: int) -> Response:
    return Response(
        json.dumps(body, ensure_ascii=False, separators=(",", ":")),
        status,
        {"cache-control": "no-store"},
        "application/json",
    )
