from __future__ import annotations

import argparse
import json
import shlex
import tomllib

import pytest

from refdesk.cli import connect

TOKEN = "DOCS_TOKEN"
URL = "https://docs.example.com/mcp"
JSON_CLIENTS = ("claude-desktop", "cursor", "vscode", "gemini-cli", "zed", "windsurf")


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    parser = argparse.ArgumentParser()
    connect.add_arguments(parser)
    assert connect.run(parser.parse_args(argv)) == 0
    return capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    parser = argparse.ArgumentParser()
    connect.add_arguments(parser)
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(argv)
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("client", connect.CLIENTS)
def test_every_client_gets_the_address(capsys: pytest.CaptureFixture[str], client: str) -> None:
    assert URL in printed(capsys, client, "--url", URL)


@pytest.mark.parametrize("client", connect.CLIENTS)
def test_without_a_token_no_client_sends_one(
    capsys: pytest.CaptureFixture[str], client: str
) -> None:
    text = printed(capsys, client)
    assert "Bearer" not in text
    assert "Authorization" not in text


@pytest.mark.parametrize("client", [name for name in connect.CLIENTS if name != "vscode"])
def test_the_token_is_named_and_never_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    monkeypatch.setenv(TOKEN, "canary")
    text = printed(capsys, client, "--token-env", TOKEN)
    assert TOKEN in text
    assert "canary" not in text


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_a_json_configuration_parses_and_can_be_redirected_into_a_file(
    capsys: pytest.CaptureFixture[str], client: str
) -> None:
    config = json.loads(printed(capsys, client, "--name", "docs", "--token-env", TOKEN))
    [servers, *_] = config.values()
    assert list(servers) == ["docs"]


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("cursor", {"mcpServers": {"refdesk": {"url": URL}}}),
        ("windsurf", {"mcpServers": {"refdesk": {"serverUrl": URL}}}),
        ("vscode", {"servers": {"refdesk": {"type": "http", "url": URL}}}),
        ("gemini-cli", {"mcpServers": {"refdesk": {"httpUrl": URL, "timeout": 30000}}}),
        ("zed", {"context_servers": {"refdesk": {"url": URL}}}),
        (
            "claude-desktop",
            {"mcpServers": {"refdesk": {"command": "npx", "args": ["-y", "mcp-remote", URL]}}},
        ),
    ],
)
def test_each_client_gets_its_own_keys(
    capsys: pytest.CaptureFixture[str], client: str, expected: object
) -> None:
    assert json.loads(printed(capsys, client, "--url", URL)) == expected


@pytest.mark.parametrize(
    ("client", "value"),
    [
        ("cursor", "Bearer ${env:DOCS_TOKEN}"),
        ("windsurf", "Bearer ${env:DOCS_TOKEN}"),
        ("vscode", "Bearer ${input:refdesk-token}"),
        ("gemini-cli", "Bearer ${DOCS_TOKEN}"),
        ("zed", "Bearer <value of DOCS_TOKEN>"),
    ],
)
def test_the_token_is_referred_to_in_the_clients_own_way(
    capsys: pytest.CaptureFixture[str], client: str, value: str
) -> None:
    [servers, *_] = json.loads(printed(capsys, client, "--token-env", TOKEN)).values()
    assert servers["refdesk"]["headers"] == {"Authorization": value}


def test_vscode_asks_for_the_token_it_refers_to(capsys: pytest.CaptureFixture[str]) -> None:
    [prompt] = json.loads(printed(capsys, "vscode", "--token-env", TOKEN))["inputs"]
    assert prompt["id"] == "refdesk-token"
    assert prompt["password"] is True


def test_codex_reads_the_token_from_the_variable(capsys: pytest.CaptureFixture[str]) -> None:
    config = tomllib.loads(printed(capsys, "codex", "--url", URL, "--token-env", TOKEN))
    assert config == {"mcp_servers": {"refdesk": {"url": URL, "bearer_token_env_var": TOKEN}}}


def test_claude_code_gets_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(printed(capsys, "claude-code", "--url", URL, "--token-env", TOKEN))
    assert words == [
        *("claude", "mcp", "add", "--transport", "http", "refdesk", URL),
        *("--header", "Authorization: Bearer $DOCS_TOKEN"),
    ]


def test_claude_desktop_is_told_that_plain_http_on_another_machine_is_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "--allow-http" in printed(capsys, "claude-desktop", "--url", "http://docs.lan:8000/mcp")
    assert "--allow-http" not in printed(capsys, "claude-desktop")


def test_chatgpt_is_told_that_it_needs_a_public_address(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "public https" in printed(capsys, "chatgpt")
    assert "public https" not in printed(capsys, "chatgpt", "--url", URL)


def test_curl_sends_a_search_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(printed(capsys, "curl").replace("\\\n", ""))
    body = json.loads(words[words.index("-d") + 1])
    assert body["params"]["name"] == "search"


@pytest.mark.parametrize("client", connect.CLIENTS)
def test_json_output_is_one_document_with_the_place_and_the_text(
    capsys: pytest.CaptureFixture[str], client: str
) -> None:
    document = json.loads(printed(capsys, client, "--json"))
    assert document["client"] == client
    assert list(document) == ["client", "where", "format", "text"]
    assert all(document.values())


@pytest.mark.parametrize(
    "argv",
    [
        ("emacs",),
        ("cursor", "--url", "ftp://docs.example.com"),
        ("cursor", "--url", "docs.example.com/mcp"),
        ("cursor", "--url", "http://[::1/mcp"),
        ("cursor", "--url", "http://host:99999/mcp"),
        ("cursor", "--url", "http://host/a b"),
        ("cursor", "--name", "two words"),
        ("cursor", "--name", ""),
    ],
)
def test_what_no_client_could_use_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]
) -> None:
    assert refusal(capsys, *argv)


def test_a_token_given_instead_of_its_variable_is_refused_and_not_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = refusal(capsys, "cursor", "--token-env", "sk-123")
    assert "not the token" in message
    assert "sk-123" not in message
