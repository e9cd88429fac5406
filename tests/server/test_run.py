"""Real server processes: how they start, serve, drain and stop."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
from mcp import Client, StdioServerParameters

from fakes import JSON, FakeManager, call, process, settings
from refdesk.errors import SettingsError
from refdesk.server.run import serve_http

SEARCH = call("search", {"query": "webhook"})


def test_the_first_line_of_the_log_says_where_and_for_whom() -> None:
    with process(allowed_hosts=("docs.example",)) as server:
        assert server.first_line.endswith(
            f"serves http://127.0.0.1:{server.port}/mcp; hosts accepted: localhost, 127.0.0.1, "
            "[::1], docs.example\n"
        )
        url = f"http://127.0.0.1:{server.port}/mcp"
        assert httpx.post(url, json=SEARCH, headers=JSON).status_code == 200
        own = {**JSON, "host": "docs.example"}
        assert httpx.post(url, json=SEARCH, headers=own).status_code == 200
        code, log = server.stop()
    assert code == 0
    assert log.strip().endswith("stopped")
    assert "Traceback" not in log


def test_a_proxy_that_controls_the_host_is_named_in_the_log() -> None:
    with process(trust_proxy_host=True) as server:
        assert "hosts accepted: any (the proxy in front controls Host)" in server.first_line


def test_a_request_under_way_is_finished_before_the_process_stops() -> None:
    answers: list[httpx.Response] = []
    with process(delay=1.0) as server:
        url = f"http://127.0.0.1:{server.port}/mcp"
        ask = threading.Thread(
            target=lambda: answers.append(httpx.post(url, json=SEARCH, headers=JSON))
        )
        ask.start()
        while _reason(server.port) != "searching":
            assert ask.is_alive()
        code, log = server.stop()
        ask.join(5)
    assert answers[0].status_code == 200
    assert (code, "Traceback" in log) == (0, False)


def _reason(port: int) -> str:
    health = httpx.get(f"http://127.0.0.1:{port}/healthz").json()
    return str(health["libraries"][0]["reason"])


def test_an_idle_connection_does_not_hold_the_process_up() -> None:
    with process() as server:
        idle = socket.create_connection(("127.0.0.1", server.port))
        begun = time.monotonic()
        code, _ = server.stop()
        idle.close()
    assert code == 0
    assert time.monotonic() - begun < 5


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"cannot listen on 127.0.0.1:{port}"):
            serve_http(FakeManager(), settings(port=port))


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_a_client_over_http_finds_and_reads(mode: str) -> None:
    with process() as server:
        async with Client(f"http://127.0.0.1:{server.port}/mcp", mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            assert tools == ["search", "fetch", "list_documents"]
            found = await client.call_tool("search", {"query": "webhook"})
            assert found.structured_content is not None
            ref = found.structured_content["results"][0]["ref"]
            assert not (await client.call_tool("fetch", {"ref": ref})).is_error


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_a_client_on_standard_input_finds_and_reads(mode: str) -> None:
    code = (
        "import asyncio\n"
        "from fakes import FakeManager, settings\n"
        "from refdesk.server.run import serve_stdio\n"
        "asyncio.run(serve_stdio(FakeManager(), settings()))\n"
    )
    command = StdioServerParameters(
        command=sys.executable,
        args=["-c", code],
        env={"PYTHONPATH": os.path.dirname(os.path.dirname(__file__)), "PATH": os.environ["PATH"]},
    )
    async with Client(command, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["search", "fetch", "list_documents", "reindex"]
        found = await client.call_tool("search", {"query": "webhook"})
        assert found.structured_content is not None
        ref = found.structured_content["results"][0]["ref"]
        assert not (await client.call_tool("fetch", {"ref": ref})).is_error


def test_the_process_on_standard_input_ends_with_its_input() -> None:
    code = (
        "import asyncio\n"
        "from fakes import FakeManager, settings\n"
        "from refdesk.server.run import serve_stdio\n"
        "asyncio.run(serve_stdio(FakeManager(), settings()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="",
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(__file__))},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr
