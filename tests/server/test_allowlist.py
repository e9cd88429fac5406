"""Which hosts are served, and pages of which origins may call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import settings
from refdesk.errors import SettingsError
from refdesk.server.allowlist import Allowlist, Host
from refdesk.server.guard import check_names


def allowlist(*hosts: str, **values: Any) -> Allowlist:
    return Allowlist.from_settings(settings(allowed_hosts=hosts, **values))


def serves(rule: str, host: str) -> bool:
    parsed = Host.parse(host)
    return parsed is not None and allowlist(rule).accepts_host(parsed)


@pytest.mark.parametrize(
    ("rule", "host", "served"),
    [
        ("docs.example", "docs.example", True),
        ("docs.example", "docs.example:8080", True),
        ("docs.example", "Docs.Example", True),
        ("docs.example", "docs.example.", True),
        ("docs.example", "docs.example.:443", True),
        ("docs.example", "docs.example:", True),
        ("Docs.Example.", "docs.example", True),
        ("docs.example", "docs.example.evil", False),
        ("docs.example", "evil.docs.example", False),
        ("docs.example", "xdocs.example", False),
        ("docs.example:8080", "docs.example:8080", True),
        ("docs.example:8080", "docs.example", False),
        ("docs.example:8080", "docs.example:80", False),
        ("docs.example:*", "docs.example", True),
        ("docs.example:*", "docs.example:1", True),
        ("corpus", "corpus:8000", True),
        ("my_service", "my_service:8000", True),
        ("10.0.0.5", "10.0.0.5:8000", True),
        ("10.0.0.5", "10.0.0.50", False),
        ("[2001:db8::1]", "[2001:db8::1]:8000", True),
        ("2001:db8::1", "[2001:0db8:0::1]", True),
        ("[2001:db8::1]:8000", "[2001:db8::1]:8000", True),
        ("[2001:db8::1]:8000", "[2001:db8::1]", False),
        ("اسناد.example", "xn--mgbgj4d9b.example", True),
    ],
)
def test_a_rule_serves_a_host(rule: str, host: str, served: bool) -> None:
    if not rule.isascii():
        host = rule.encode("idna").decode()
    assert serves(rule, host) is served


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:9", "127.0.0.1:8000", "[::1]", "[::1]:80"],
)
def test_names_of_this_machine_are_always_served(host: str) -> None:
    assert serves("docs.example", host)
    found = Host.parse(host)
    assert found is not None
    assert allowlist().accepts_host(found)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "0.0.0.0", "127.0.0.2", "localhost.evil.example", "[::2]", "192.168.1.1"],
)
def test_nothing_else_is_served_when_nothing_is_set(host: str) -> None:
    found = Host.parse(host)
    assert found is not None
    assert not allowlist().accepts_host(found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a b",
        "a/b",
        "user@localhost",
        "localhost@evil.example",
        "localhost:80:80",
        "localhost:x",
        "localhost:99999",
        "localhost:-1",
        "::1",
        "[::1",
        "::1]",
        "[localhost]",
        "[::g]",
        "-a.example",
        "a..b",
        ".example",
        "localhost#",
        "localhost?",
        "http://localhost",
        "localhost\x00",
        "localhost%00",
        "a,b",
        "localhost\t",
        "a" * 254,
        "[fe80::1%eth0]",
        "loc\u00e4lhost",
    ],
)
def test_a_malformed_host_is_none(text: str) -> None:
    assert Host.parse(text) is None


@given(st.text())
def test_no_text_breaks_the_parsing_of_hosts(text: str) -> None:
    found = Host.parse(text)
    if found is not None:
        assert found.name == found.name.lower()
        assert Host.parse(found.name) == Host(found.name)


@pytest.mark.parametrize(
    ("values", "origin", "accepted"),
    [
        ({}, "http://localhost", True),
        ({}, "http://localhost:6274", True),
        ({}, "https://127.0.0.1:1", True),
        ({}, "http://[::1]:8000", True),
        ({}, "HTTP://LOCALHOST", True),
        ({}, "null", False),
        ({}, "", False),
        ({}, "localhost", False),
        ({}, "ftp://localhost", False),
        ({}, "http://evil.example", False),
        ({}, "http://localhost.evil.example", False),
        ({}, "http://localhost/path", False),
        ({}, "http://user@localhost", False),
        ({}, "http://localhost http://evil.example", False),
        ({"allowed_hosts": ("docs.example",)}, "https://docs.example", True),
        ({"allowed_hosts": ("docs.example",)}, "http://docs.example:8000", True),
        ({"allowed_hosts": ("docs.example:8000",)}, "https://docs.example", False),
        ({"allowed_origins": ("https://app.example",)}, "https://app.example", True),
        ({"allowed_origins": ("https://app.example",)}, "https://app.example:443", True),
        ({"allowed_origins": ("https://app.example/",)}, "https://app.example", True),
        ({"allowed_origins": ("https://app.example",)}, "http://app.example", False),
        ({"allowed_origins": ("https://app.example",)}, "https://app.example:8443", False),
        ({"allowed_origins": ("https://app.example:*",)}, "https://app.example:8443", True),
        ({"allowed_origins": ("vscode-webview://abc",)}, "vscode-webview://abc", True),
        ({"allowed_origins": ("https://app.example",)}, "null", False),
        ({"trust_proxy_host": True}, "https://served.example", True),
        ({"trust_proxy_host": True}, "https://evil.example", False),
    ],
)
def test_an_origin_is_accepted(values: dict[str, Any], origin: str, accepted: bool) -> None:
    if "allowed_origins" in values:
        values = {"allowed_hosts": ("docs.example",), **values}
    known = Allowlist.from_settings(settings(**values))
    assert known.accepts_origin(origin, Host("served.example")) is accepted


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"allowed_hosts": ("https://docs.example",)}, "MCP_ALLOWED_HOSTS: 'https://docs.example'"),
        ({"allowed_hosts": ("docs.example/mcp",)}, "MCP_ALLOWED_HOSTS"),
        ({"allowed_hosts": ("docs.example:port",)}, "MCP_ALLOWED_HOSTS"),
        ({"allowed_hosts": ("*",)}, "REFDESK_TRUST_PROXY_HOST=1"),
        ({"allowed_hosts": ("*.example",)}, "REFDESK_TRUST_PROXY_HOST=1"),
        ({"allowed_hosts": ("docs.example:80:*",)}, "MCP_ALLOWED_HOSTS"),
        ({"allowed_origins": ("https://app.example",)}, "MCP_ALLOWED_HOSTS=docs.example.com"),
        ({"allowed_hosts": ("a",), "allowed_origins": ("app.example",)}, "MCP_ALLOWED_ORIGINS"),
        ({"allowed_hosts": ("a",), "allowed_origins": ("*",)}, "MCP_ALLOWED_ORIGINS"),
        ({"allowed_hosts": ("a",), "allowed_origins": ("null",)}, "MCP_ALLOWED_ORIGINS"),
        ({"allowed_hosts": ("a",), "allowed_origins": ("https://a/b",)}, "MCP_ALLOWED_ORIGINS"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused_at_start(values: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        check_names(settings(**values))
    assert said in str(refusal.value)


def test_origins_are_enough_when_a_proxy_controls_the_host() -> None:
    check_names(settings(allowed_origins=("https://app.example",), trust_proxy_host=True))


def test_the_hosts_are_described_for_the_log() -> None:
    assert allowlist().describe() == "localhost, 127.0.0.1, [::1]"
    assert allowlist("docs.example:8080", "a.example").describe() == (
        "localhost, 127.0.0.1, [::1], a.example, docs.example:8080"
    )
    assert allowlist(trust_proxy_host=True).describe() == "any (the proxy in front controls Host)"
