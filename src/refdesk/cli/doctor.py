"""`refdesk doctor`: look for misconfiguration by name and say how to mend it."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from refdesk import __version__
from refdesk.cli import desk
from refdesk.cli.index import skip_lines
from refdesk.errors import Busy, ConfigError, OpenError
from refdesk.manager import CorpusManager
from refdesk.model import State
from refdesk.server.allowlist import Allowlist
from refdesk.settings import Settings, unknown_variables

Verdict = Literal["ok", "warning", "problem"]
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `mend` says what to do unless the verdict is ok."""

    verdict: Verdict
    subject: str
    message: str
    mend: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk doctor`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; 1 when there is a problem."""
    findings = list(examine(arguments))
    failed = any(finding.verdict == "problem" for finding in findings)
    if arguments.json:
        desk.print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
        return int(failed)
    for finding in findings:
        desk.write(f"{finding.verdict:<8} {finding.subject}: {finding.message}")
        if finding.mend:
            desk.write(f"{'':<8} → {finding.mend}")
    return int(failed)


def examine(arguments: argparse.Namespace) -> Iterator[Finding]:
    """Everything worth saying, the machine first, then the settings, then the libraries."""
    yield Finding("ok", "version", f"refdesk {__version__}, Python {sys.version.split()[0]}")
    for name, close in unknown_variables(os.environ).items():
        mend = f"did you mean {close}?" if close else "remove it, or see docs/settings.md"
        yield Finding("warning", "settings", f"{name} is set but is no setting of refdesk", mend)
    try:
        settings = desk.settings(arguments, allow_degraded=True)
    except ConfigError as error:
        yield Finding("problem", "settings", str(error), "correct or unset the variable")
        return
    yield from _names(settings)
    yield _port(settings)
    yield _data_dir(settings.data_dir)
    yield from _libraries(settings)


def _names(settings: Settings) -> Iterator[Finding]:
    try:
        accepted = Allowlist.from_settings(settings).describe()
    except ConfigError as error:
        yield Finding("problem", "names", str(error), "see docs/deploying.md")
        return
    if settings.trust_proxy_host:
        yield Finding(
            "warning",
            "names",
            "REFDESK_TRUST_PROXY_HOST is set: the Host header is not checked",
            "make sure that only the proxy can reach the port",
        )
    elif settings.host not in _LOOPBACK and not settings.allowed_hosts:
        yield Finding(
            "warning",
            "names",
            f"listening on {settings.host}, but only localhost names are accepted",
            "set MCP_ALLOWED_HOSTS to the name clients use, such as docs.example.com",
        )
    else:
        yield Finding("ok", "names", f"accepted hosts: {accepted}")


def _port(settings: Settings) -> Finding:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    address = f"{settings.host}:{settings.port}"
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            return Finding(
                "warning",
                "port",
                f"{address} cannot be listened on ({error.strerror})",
                "a server may be running already; else set REFDESK_PORT",
            )
    return Finding("ok", "port", f"{address} is free")


def _data_dir(folder: Path) -> Finding:
    existing = next(
        (path for path in (folder, *folder.absolute().parents) if path.exists()), folder
    )
    if os.access(existing, os.W_OK | os.X_OK):
        return Finding("ok", "data", f"indexes live in {folder.absolute()}")
    return Finding(
        "problem",
        "data",
        f"{folder.absolute()} cannot be written",
        "set DATA_DIR to a folder (in a container: a volume) that this user may write",
    )


def _libraries(settings: Settings) -> Iterator[Finding]:
    try:
        manager = CorpusManager.load(settings)
    except (ConfigError, OpenError) as error:
        yield Finding("problem", "corpus", str(error), "see docs/corpus-toml.md")
        return
    try:
        for library in manager.libraries:
            if library.state is State.FAILED:
                yield Finding("problem", library.name, library.reason, "see `refdesk check`")
            else:
                yield from _index(manager, library.name)
    finally:
        manager.shut()


def _index(manager: CorpusManager, name: str) -> Iterator[Finding]:
    try:
        changes = manager.refresh(only=name, progress=desk.show_progress)[name]
    except Busy:
        yield Finding("ok", name, "is being indexed by another process at the moment")
        return
    except OpenError as error:
        yield Finding("problem", name, str(error), "see docs/corpus-toml.md")
        return
    library = next(library for library in manager.libraries if library.name == name)
    yield Finding("ok", name, f"{library.documents} documents, {library.sections} sections")
    meaning = "found by meaning too" if library.dense.on else f"words only: {library.dense.reason}"
    yield Finding("ok", name, meaning)
    for line in skip_lines(changes):
        yield Finding("ok", name, line)
