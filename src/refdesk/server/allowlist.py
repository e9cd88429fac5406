"""MCP_ALLOWED_HOSTS and MCP_ALLOWED_ORIGINS in, lists that requests are held against out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import Final, Self

from refdesk.errors import SettingsError
from refdesk.settings import Settings, variable

LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "[::1]")
"""Always accepted, at any port: a browser cannot be made to send them for a foreign name."""

ANY: Final = "*"
_NAME: Final = re.compile(
    r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\Z"
)
_AUTHORITY: Final = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\s]+)(?::(?P<port>\d{0,5}))?\Z"
)
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}


@dataclass(frozen=True, slots=True)
class Host:
    """A host name or address in lower case, without trailing dot, and a port ("" if none)."""

    name: str
    port: str = ""

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The host that a Host header or the authority of a URL names; None if malformed."""
        match = _AUTHORITY.match(text)
        if match is None:
            return None
        name = _normal(match["host"])
        port = (match["port"] or "").lstrip("0")
        return cls(name, port) if name and (not port or int(port) <= 65_535) else None


@dataclass(frozen=True, slots=True)
class Allowlist:
    """Which hosts are served and which web origins may call.

    `hosts` holds (name, port) pairs; the port ANY matches every port and none. `trusted` says
    that a proxy vouches for the Host header.
    """

    hosts: frozenset[tuple[str, str]]
    origins: frozenset[tuple[str, str, str]]
    trusted: bool = False

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The lists of `settings`, with the names of this machine added.

        Raises:
            SettingsError: an entry is malformed, or origins are listed without any host.
        """
        if (
            settings.allowed_origins
            and not settings.allowed_hosts
            and not settings.trust_proxy_host
        ):
            hosts = variable("allowed_hosts")
            raise SettingsError(
                f"{variable('allowed_origins')} is set but {hosts} is not: name the host that "
                f"those pages call, as in {hosts}=docs.example.com"
            )
        return cls(
            frozenset(_host_rule(entry) for entry in (*LOCAL_HOSTS, *settings.allowed_hosts)),
            frozenset(_origin_rule(entry) for entry in settings.allowed_origins),
            settings.trust_proxy_host,
        )

    def accepts_host(self, host: Host) -> bool:
        """Whether requests for `host` are answered."""
        return self.trusted or self._lists(host)

    def accepts_origin(self, origin: str, host: Host) -> bool:
        """Whether pages of `origin` may call, in a request for `host`."""
        scheme, separator, authority = origin.strip().lower().partition("://")
        source = Host.parse(authority) if separator else None
        if source is None:
            return False
        if scheme in _DEFAULT_PORTS and (self._lists(source) or (self.trusted and source == host)):
            return True
        port = source.port or _DEFAULT_PORTS.get(scheme, "")
        return any((scheme, source.name, known) in self.origins for known in (port, ANY))

    def describe(self) -> str:
        """The hosts accepted, for people."""
        if self.trusted:
            return "any (the proxy in front controls Host)"
        names = [name for name, _ in map(_host_rule, LOCAL_HOSTS)]
        listed = sorted(_spell(name, port) for name, port in self.hosts if name not in names)
        return ", ".join([*LOCAL_HOSTS, *listed])

    def _lists(self, host: Host) -> bool:
        return (host.name, ANY) in self.hosts or (host.name, host.port) in self.hosts


def _spell(name: str, port: str) -> str:
    return name if port == ANY else f"{name}:{port}"


def _normal(name: str) -> str:
    """Lower case, no trailing dot, IPv6 in its short form; "" when that is not a host."""
    if name.startswith("["):
        try:
            return f"[{IPv6Address(name[1:-1]).compressed}]"
        except AddressValueError:
            return ""
    name = name.lower().removesuffix(".")
    return name if len(name) <= 253 and _NAME.match(name) else ""


def _host_rule(entry: str) -> tuple[str, str]:
    text = entry.strip()
    try:
        IPv6Address(text)
    except AddressValueError:
        any_port = text.endswith(":*")
        host = Host.parse(_ascii(text.removesuffix(":*")))
    else:
        any_port, host = False, Host.parse(f"[{text}]")
    if host is None or (any_port and host.port):
        raise SettingsError(
            f"{variable('allowed_hosts')}: {entry!r} is not a host: write a name or address, as in "
            "docs.example.com, docs.example.com:8080 or [2001:db8::1]"
            + (f"; {variable('trust_proxy_host')}=1 accepts every name" if "*" in text else "")
        )
    return host.name, host.port or ANY


def _origin_rule(entry: str) -> tuple[str, str, str]:
    scheme, separator, authority = entry.strip().lower().removesuffix("/").partition("://")
    any_port = authority.endswith(":*")
    host = Host.parse(_ascii(authority.removesuffix(":*"))) if separator else None
    if host is None or not re.fullmatch(r"[a-z][a-z0-9+.-]*", scheme) or (any_port and host.port):
        raise SettingsError(
            f"{variable('allowed_origins')}: {entry!r} is not an origin: write scheme and host, as "
            "in https://app.example.com"
        )
    return scheme, host.name, ANY if any_port else host.port or _DEFAULT_PORTS.get(scheme, "")


def _ascii(name: str) -> str:
    """An international name as browsers send it."""
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return ""


def names(hosts: Iterable[str]) -> str:
    """Hosts as the value of the variable that lists them."""
    return ",".join(hosts)
