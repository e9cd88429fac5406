"""A client's name and a server address in, the configuration that joins them out."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

DEFAULT_URL: Final = "http://127.0.0.1:8000/mcp"
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server to join. `token_env` names the variable that holds a bearer token, "" for none.

    refdesk itself asks for no token; a proxy in front of it may.
    """

    url: str
    name: str
    token_env: str

    def headers(self, value: str) -> dict[str, object]:
        """`{"headers": …}` that sends `value` as the bearer token, empty without a token."""
        return {"headers": {"Authorization": f"Bearer {value}"}} if self.token_env else {}


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text for one client and the place it belongs to. `format` is json, toml, shell or text."""

    where: str
    format: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk connect`."""
    parser.add_argument("client", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument(
        "--url", type=_url, default=DEFAULT_URL, help="address of the server (%(default)s)"
    )
    parser.add_argument(
        "--name", type=_name, default="refdesk", help="what the client calls it (%(default)s)"
    )
    parser.add_argument(
        "--token-env",
        type=_variable,
        default="",
        metavar="VARIABLE",
        help="variable that holds the bearer token a proxy asks for",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Print the snippet on stdout and where it belongs on stderr; always 0."""
    snippet = CLIENTS[arguments.client](
        Endpoint(arguments.url, arguments.name, arguments.token_env)
    )
    if arguments.json:
        document = {
            "client": arguments.client,
            "where": snippet.where,
            "format": snippet.format,
            "text": snippet.text,
        }
        sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        return 0
    sys.stderr.write(f"{snippet.where}:\n")
    sys.stdout.write(snippet.text + "\n")
    return 0


def _claude_code(endpoint: Endpoint) -> Snippet:
    words = ["claude", "mcp", "add", "--transport", "http", endpoint.name, endpoint.url]
    command = shlex.join(words)
    if endpoint.token_env:
        command += f' --header "Authorization: Bearer ${endpoint.token_env}"'
    return Snippet("run in your project", "shell", command)


def _claude_desktop(endpoint: Endpoint) -> Snippet:
    arguments = ["-y", "mcp-remote", endpoint.url]
    server: dict[str, object] = {"command": "npx", "args": arguments}
    parts = urlsplit(endpoint.url)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        arguments.append("--allow-http")
    if endpoint.token_env:
        # The bridge splits arguments at blanks on some systems: the value goes in by variable.
        arguments += ["--header", "Authorization:${AUTHORIZATION}"]
        server["env"] = {"AUTHORIZATION": f"Bearer <value of {endpoint.token_env}>"}
    return _json(
        "add to claude_desktop_config.json (Settings > Developer > Edit Config)",
        {"mcpServers": {endpoint.name: server}},
    )


def _cursor(endpoint: Endpoint) -> Snippet:
    server = {"url": endpoint.url, **endpoint.headers(f"${{env:{endpoint.token_env}}}")}
    return _json(
        "add to .cursor/mcp.json or ~/.cursor/mcp.json", {"mcpServers": {endpoint.name: server}}
    )


def _vscode(endpoint: Endpoint) -> Snippet:
    secret = f"{endpoint.name}-token"
    server = {"type": "http", "url": endpoint.url, **endpoint.headers(f"${{input:{secret}}}")}
    config: dict[str, object] = {"servers": {endpoint.name: server}}
    if endpoint.token_env:
        prompt = f"Bearer token for {endpoint.name} ({endpoint.token_env})"
        config["inputs"] = [
            {"type": "promptString", "id": secret, "description": prompt, "password": True}
        ]
    return _json("add to .vscode/mcp.json", config)


def _codex(endpoint: Endpoint) -> Snippet:
    lines = [f"[mcp_servers.{endpoint.name}]", f"url = {json.dumps(endpoint.url)}"]
    if endpoint.token_env:
        lines.append(f"bearer_token_env_var = {json.dumps(endpoint.token_env)}")
    return Snippet("add to ~/.codex/config.toml", "toml", "\n".join(lines))


def _gemini_cli(endpoint: Endpoint) -> Snippet:
    server = {
        "httpUrl": endpoint.url,
        **endpoint.headers(f"${{{endpoint.token_env}}}"),
        "timeout": 30_000,
    }
    return _json("add to ~/.gemini/settings.json", {"mcpServers": {endpoint.name: server}})


def _zed(endpoint: Endpoint) -> Snippet:
    server = {"url": endpoint.url, **endpoint.headers(f"<value of {endpoint.token_env}>")}
    return _json(
        "add to Zed's settings.json (zed: open settings)",
        {"context_servers": {endpoint.name: server}},
    )


def _windsurf(endpoint: Endpoint) -> Snippet:
    server = {"serverUrl": endpoint.url, **endpoint.headers(f"${{env:{endpoint.token_env}}}")}
    return _json(
        "add to ~/.codeium/windsurf/mcp_config.json", {"mcpServers": {endpoint.name: server}}
    )


def _chatgpt(endpoint: Endpoint) -> Snippet:
    lines = [
        "Start the server with REFDESK_RESULT_STYLE=chatgpt, then add a connector:",
        f"  Name: {endpoint.name}",
        f"  MCP server URL: {endpoint.url}",
        "  Authentication: none",
    ]
    if urlsplit(endpoint.url).scheme != "https":
        lines.append("ChatGPT reaches public https addresses only: pass yours with --url.")
    if endpoint.token_env:
        lines.append(f"ChatGPT sends no fixed token: {endpoint.token_env} cannot be used.")
    return Snippet("in ChatGPT: Settings > Connectors > Advanced", "text", "\n".join(lines))


def _curl(endpoint: Endpoint) -> Snippet:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "getting started"}},
    }
    headers = ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
    lines = [f"curl -sS {shlex.quote(endpoint.url)}"]
    lines += [f"  -H {shlex.quote(header)}" for header in headers]
    if endpoint.token_env:
        lines.append(f'  -H "Authorization: Bearer ${endpoint.token_env}"')
    lines.append(f"  -d {shlex.quote(json.dumps(call))}")
    return Snippet("run in a shell", "shell", " \\\n".join(lines))


CLIENTS: Final[Mapping[str, Callable[[Endpoint], Snippet]]] = {
    "claude-code": _claude_code,
    "claude-desktop": _claude_desktop,
    "cursor": _cursor,
    "vscode": _vscode,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "zed": _zed,
    "windsurf": _windsurf,
    "chatgpt": _chatgpt,
    "curl": _curl,
}
"""Every client that can be joined, and what writes its configuration."""


def _json(where: str, config: Mapping[str, object]) -> Snippet:
    return Snippet(where, "json", json.dumps(config, indent=2, ensure_ascii=False))


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError(f"{text!r} is no address like {DEFAULT_URL}")
    return text


def _name(text: str) -> str:
    if not _NAME.match(text):
        raise argparse.ArgumentTypeError(f"{text!r}: use 1-64 letters, digits, '_' or '-'")
    return text


def _variable(text: str) -> str:
    if text and not _VARIABLE.match(text):
        # The value may be the secret itself, so it is not repeated.
        raise argparse.ArgumentTypeError("pass the name of the variable, not the token")
    return text
