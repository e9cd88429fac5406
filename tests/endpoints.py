"""An embeddings endpoint on 127.0.0.1 that behaves, or misbehaves, as it is told."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CONCEPTS = (
    {"disk", "disks", "volume", "storage", "quokka"},
    {"domain", "dns", "hostname"},
    {"backup", "backups", "snapshot", "copy"},
    {"log", "logs", "journal"},
    {"mail", "email", "smtp"},
    {"price", "cost", "invoice"},
)
WIDTH = len(CONCEPTS) + 1


def vector(text: str) -> list[float]:
    """One number for each concept that the text speaks of, and a small one for everything else."""
    words = set(text.lower().replace("/", " ").split())
    numbers = [float(len(words & concept)) for concept in CONCEPTS]
    return [*numbers, 0.25]


@dataclass
class Reply:
    """What is sent back: the status, the headers besides the length, the body."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def answer(texts: Sequence[str]) -> Reply:
    """A right answer, in another order than the texts."""
    rows = [{"index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
    return Reply(as_json({"object": "list", "data": rows[::-1]}))


def rows(*embeddings: object) -> Callable[[Sequence[str]], Reply]:
    """The same answer to everything."""
    data = [{"index": number, "embedding": row} for number, row in enumerate(embeddings)]
    return lambda _: Reply(as_json({"data": data}))


def status(code: int, **headers: str) -> Callable[[Sequence[str]], Reply]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Reply(b"Bearer sk-echoed", code, named)


def body(raw: bytes) -> Callable[[Sequence[str]], Reply]:
    return lambda _: Reply(raw)


NUMBERS = [1.0] * WIDTH
BAD: dict[str, Callable[[Sequence[str]], Reply]] = {
    "garbage": body(b"\x00<html>"),
    "nothing": body(b""),
    "a list": body(b"[]"),
    "no data": body(b"{}"),
    "depth": body(b'{"data":' + b"[" * 100_000),
    "data of strings": body(b'{"data":["a"]}'),
    "too few vectors": rows(),
    "too many vectors": rows(NUMBERS, NUMBERS),
    "an empty vector": rows([]),
    "text for numbers": rows(["1.0"] * WIDTH),
    "NaN": rows([math.nan] * WIDTH),
    "infinity": rows([math.inf] * WIDTH),
    "numbers too great": rows([1e300] * WIDTH),
    "an integer too great": rows([10**400] * WIDTH),
    "compressed": lambda _: Reply(b"\x1f\x8b", 200, {"content-encoding": "gzip"}),
    "zeros": rows([0.0] * WIDTH),
    "wrong width": rows([1.0] * (WIDTH + 1)),
    "400": status(400),
    "401": status(401),
    "429": status(429, retry_after="3600"),
    "500": status(500, retry_after="3600"),
    "redirect": status(307, location="http://127.0.0.1:9/embeddings"),
}
"""Answers to one text that hold no vector of WIDTH numbers."""


class Hang:
    """Never answers until `release`."""

    def __init__(self) -> None:
        self._released = threading.Event()

    def __call__(self, texts: Sequence[str]) -> Reply:
        self._released.wait(30)
        return answer(texts)

    def release(self) -> None:
        self._released.set()


class Drip:
    """A body that comes byte by byte and never ends; the status line comes at once."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def release(self) -> None:
        self.released.set()


class _Server(ThreadingHTTPServer):
    """Says nothing of clients that went away."""

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class Endpoint:
    """An OpenAI-compatible server; `behave` makes each answer, `asked` holds each request."""

    def __init__(self) -> None:
        self.behave: Callable[[Sequence[str]], Reply] | Drip = answer
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.asked.append({"path": self.path, **request})
                endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
                with suppress(OSError):  # the client has gone away
                    self._answer(request["input"])

            def _answer(self, texts: list[str]) -> None:
                behave = endpoint.behave
                if isinstance(behave, Drip):
                    self.send_response(200)
                    self.send_header("content-length", "1000000")
                    self.end_headers()
                    while not behave.released.wait(0.01):
                        self.wfile.write(b" ")
                    self.close_connection = True
                    return
                reply = behave(texts)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text that was ever sent."""
        return [text for request in self.asked for text in request["input"]]

    def close(self) -> None:
        if isinstance(self.behave, Hang | Drip):
            self.behave.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving() -> Iterator[Endpoint]:
    """An endpoint for the time of a test."""
    endpoint = Endpoint()
    try:
        yield endpoint
    finally:
        endpoint.close()
