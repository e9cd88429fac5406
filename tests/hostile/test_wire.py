"""Bytes that no decent client sends, against a real server process."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from fakes import Process, call, process

DEADLINE = 1.0


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    """A server with a short deadline for everything it has to wait for."""
    with process(receive_timeout=DEADLINE, allowed_hosts=("docs.example:8080",)) as running:
        yield running
        assert running.popen.poll() is None, "the server died"
        code, log = running.stop()
        assert code == 0
        assert "Traceback" not in log
        assert "error=" not in log


@dataclass(frozen=True, slots=True)
class Answer:
    """A raw HTTP answer; status 0 means that the connection was closed without one."""

    status: int
    head: str
    body: bytes


def send(server: Process, data: bytes, *, seconds: float = 5) -> Answer:
    """What the server answers to `data`; the sending side stays open."""
    with socket.create_connection(("127.0.0.1", server.port), seconds) as connection:
        connection.sendall(data)
        return _read(connection)


def _read(connection: socket.socket) -> Answer:
    received = b""
    while b"\r\n\r\n" not in received:
        try:
            chunk = connection.recv(65536)
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            return Answer(0, "", received)
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    text = head.decode("latin-1").lower()
    length = int(text.partition("content-length:")[2].partition("\r")[0] or 0)
    while len(body) < length and (chunk := connection.recv(65536)):
        body += chunk
    return Answer(int(text.split(" ")[1]), text, body)


SEARCH = json.dumps(call("search", {"query": "webhook"})).encode()


def post(
    *headers: str, target: str = "/mcp", body: bytes = SEARCH, host: str | None = "localhost"
) -> bytes:
    """A POST request as bytes."""
    lines = [f"POST {target} HTTP/1.1"]
    lines += [f"Host: {host}"] if host is not None else []
    lines += ["Content-Type: application/json", "Accept: application/json", *headers]
    if not any(header.lower().startswith("transfer-encoding") for header in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def get(*headers: str, target: str = "/healthz", version: str = "1.1") -> bytes:
    """A GET request as bytes, with exactly the headers given."""
    lines = [f"GET {target} HTTP/{version}", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


ROUTES = ["/", "/mcp", "/mcp/", "/healthz", "/readyz", "/metrics", "/nothing"]


@pytest.mark.parametrize("target", ROUTES)
@pytest.mark.parametrize(
    ("headers", "statuses"),
    [
        (["Host: evil.example"], {421}),
        (["Host: localhost.evil.example"], {421}),
        (["Host: evil.example:8080"], {421}),
        (["Host: docs.example"], {421}),
        (["Host: docs.example:80"], {421}),
        (["Host: 0.0.0.0"], {421}),
        (["Host: [::2]"], {421}),
        (["Host: localhost@evil.example"], {400}),
        (["Host: evil.example#localhost"], {400}),
        (["Host: localhost, evil.example"], {400}),
        (["Host: "], {400}),
        (["Host: localhost:99999"], {400}),
        (["Host: l\u00f6calhost"], {400}),
        (["Host: localhost", "Host: localhost"], {400}),
        (["Host: localhost", "Host: evil.example"], {400}),
        (["Host: evil.example", "Host: localhost"], {400}),
        ([], {400}),
        (["X-Forwarded-Host: localhost"], {400}),
        (["Host: evil.example", "X-Forwarded-Host: localhost"], {421}),
        (["Host: localhost", "Origin: https://evil.example"], {403}),
        (["Host: localhost", "Origin: null"], {403}),
        (["Host: localhost", "Origin: http://localhost.evil.example"], {403}),
        (["Host: localhost", "Origin: http://localhost", "Origin: http://x.example"], {400}),
        (["Host: localhost\tx"], {400}),
        (["Host : localhost"], {400}),
        (["Host: localhost", "X: y\rz"], {400}),
        (["Host: localhost", "X: y\x00z"], {400}),
    ],
    ids=str,
)
def test_no_route_answers_to_a_wrong_host_or_origin(
    server: Process, target: str, headers: list[str], statuses: set[int]
) -> None:
    assert send(server, get(*headers, target=target)).status in statuses


@pytest.mark.parametrize(
    "headers",
    [
        ["Host: localhost"],
        ["Host: LOCALHOST:1"],
        ["Host: 127.0.0.1"],
        ["Host: [::1]:8000"],
        ["Host: localhost."],
        ["Host: docs.example:8080"],
        ["Host:localhost   "],
        ["Host: localhost", "Origin: http://localhost:6274"],
        ["Host: localhost", "Origin: http://docs.example:8080"],
    ],
    ids=str,
)
def test_the_right_host_is_answered(server: Process, headers: list[str]) -> None:
    assert send(server, get(*headers)).status == 200


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://localhost/healthz", 200),
        ("http://127.0.0.1:9/healthz", 200),
        ("http://[::1]/healthz", 200),
        ("http://evil.example/healthz", 421),
        ("http://[::2]/healthz", 421),
        ("https://evil.example:8080/mcp", 421),
        ("//evil.example/healthz", 404),
        ("*", 404),
        ("healthz", 400),
    ],
)
def test_the_host_of_an_absolute_target_counts_too(
    server: Process, target: str, status: int
) -> None:
    assert send(server, get("Host: localhost", target=target)).status == status


def test_an_old_client_without_host_is_refused(server: Process) -> None:
    assert send(server, get(version="1.0")).status == 400
    assert send(server, get("Host: localhost", version="1.0")).status == 200


@pytest.mark.parametrize(
    "method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "PROPFIND", "TRACE"]
)
def test_other_methods_on_the_endpoint_end_at_once(server: Process, method: str) -> None:
    data = get("Host: localhost", "Accept: text/event-stream", target="/mcp")
    answer = send(server, data.replace(b"GET", method.encode(), 1))
    assert answer.status == 405
    assert "allow: post" in answer.head


def test_a_tunnel_or_an_unknown_method_is_refused(server: Process) -> None:
    tunnel = b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert send(server, tunnel).status == 400
    assert send(server, b"FOO /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 400
    assert send(server, b"\x16\x03\x01\x02\x00\x01\x00").status == 400
    assert send(server, b"GET /healthz\r\n\r\n").status in (0, 400)


def test_an_upgrade_to_websocket_is_not_taken_up(server: Process) -> None:
    answer = send(server, get("Host: localhost", "Upgrade: websocket", "Connection: Upgrade"))
    assert answer.status in (200, 400, 426)


@pytest.mark.parametrize("query", ["?x=1", "?%0d%0aHost:evil.example", "?\u00fc"])
def test_a_query_string_changes_nothing(server: Process, query: str) -> None:
    assert send(server, get("Host: localhost", target=f"/healthz{query}")).status in (200, 400)


def test_blanks_around_header_values_do_not_count(server: Process) -> None:
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "search",
                "arguments": {"query": "webhook"},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        }
    ).encode()
    headers = [
        "MCP-Protocol-Version: \t 2026-07-28  ",
        "Mcp-Method:tools/call\t",
        "Mcp-Name:   search ",
    ]
    assert send(server, post(*headers, body=body)).status == 200


# Bodies


@pytest.mark.parametrize("target", ROUTES)
def test_a_large_body_is_refused_before_it_is_read(server: Process, target: str) -> None:
    head = post(target=target, body=b"").replace(b"Content-Length: 0", b"Content-Length: 300000")
    assert send(server, head).status == 413


def test_a_large_body_is_refused_even_when_all_of_it_comes(server: Process) -> None:
    assert send(server, post(body=b"x" * 400_000)).status == 413


def test_a_chunked_body_is_counted_as_it_comes(server: Process) -> None:
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    data = post("Transfer-Encoding: chunked", body=chunk * 70 + b"0\r\n\r\n")
    assert send(server, data).status == 413
    size = f"{len(SEARCH):x}".encode()
    data = post("Transfer-Encoding: chunked", body=size + b"\r\n" + SEARCH + b"\r\n0\r\n\r\n")
    assert send(server, data).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Length: -1"],
        ["Content-Length: 1x"],
        ["Content-Length: 5, 6"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: 99999999999999999999999"],
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding: nonsense"],
    ],
    ids=str,
)
def test_a_body_whose_length_is_in_doubt_is_refused(server: Process, headers: list[str]) -> None:
    lines = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    data = "\r\n".join(lines).encode() + b"\r\n\r\n" + b"x" * 5
    assert send(server, data).status in (0, 400, 408, 413, 501)


def test_headers_beyond_all_measure_are_refused(server: Process) -> None:
    many = [f"X-{number}: y" for number in range(200)]
    assert send(server, get("Host: localhost", *many)).status in (0, 400, 431)


def test_two_requests_in_a_row_are_both_checked(server: Process) -> None:
    good, bad = get("Host: localhost"), get("Host: evil.example")
    with socket.create_connection(("127.0.0.1", server.port), 5) as connection:
        connection.sendall(good)
        assert _read(connection).status == 200
        connection.sendall(bad)
        assert _read(connection).status == 421


# Patience


@pytest.mark.parametrize(
    "data",
    [b"", b"GET", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"],
    ids=["nothing", "half a line", "half a head"],
)
def test_a_connection_that_sends_no_request_is_closed(server: Process, data: bytes) -> None:
    begun = time.monotonic()
    answer = send(server, data, seconds=DEADLINE + 4)
    assert answer.status == 0
    assert time.monotonic() - begun < DEADLINE + 2


def test_a_body_that_does_not_arrive_is_given_up(server: Process) -> None:
    begun = time.monotonic()
    data = post(body=b"{").replace(b"Content-Length: 1", b"Content-Length: 100")
    answer = send(server, data, seconds=DEADLINE + 4)
    assert answer.status == 408
    assert "connection: close" in answer.head
    assert time.monotonic() - begun < DEADLINE + 2


def test_a_refused_body_that_goes_on_dripping_is_cut_off(server: Process) -> None:
    head = post(body=b"").replace(b"Content-Length: 0", b"Content-Length: 300000")
    with socket.create_connection(("127.0.0.1", server.port), 5) as connection:
        connection.sendall(head)
        assert _read(connection).status == 413
        connection.settimeout(0.1)
        begun = time.monotonic()
        while time.monotonic() - begun < DEADLINE + 3:
            try:
                connection.sendall(b"x")
                if connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                break
        assert time.monotonic() - begun < DEADLINE + 2


def test_half_open_connections_do_not_keep_others_from_being_served(server: Process) -> None:
    held = []
    try:
        for number in range(300):
            connection = socket.create_connection(("127.0.0.1", server.port), 5)
            connection.sendall(b"GET / HTTP/1.1\r\n" if number % 3 else post(body=b"")[:-2])
            held.append(connection)
        begun = time.monotonic()
        assert send(server, post()).status == 200
        assert time.monotonic() - begun < 1
        for connection in held:
            connection.settimeout(DEADLINE + 4)
            assert _read(connection).status in (0, 408)
        assert time.monotonic() - begun < DEADLINE + 3
    finally:
        for connection in held:
            connection.close()


def test_callers_that_leave_do_no_harm(server: Process) -> None:
    for _ in range(30):
        with socket.create_connection(("127.0.0.1", server.port), 5) as connection:
            connection.sendall(post())
        with socket.create_connection(("127.0.0.1", server.port), 5) as connection:
            connection.sendall(post()[:-10])
    url = f"http://127.0.0.1:{server.port}/healthz"
    assert httpx.get(url).status_code == 200
