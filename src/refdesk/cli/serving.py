"""`refdesk serve`: settings in, a server that runs until it is stopped out."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os

from refdesk.cli import desk
from refdesk.manager import CorpusManager
from refdesk.server import logs
from refdesk.server.run import serve_http, serve_stdio
from refdesk.settings import unknown_variables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refdesk serve`."""
    parser.add_argument("--host", help="address to listen on (REFDESK_HOST, default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (REFDESK_PORT, default 8000)")
    parser.add_argument(
        "--stdio", action="store_true", help="speak MCP on standard input and output instead"
    )
    parser.add_argument(
        "--allow-degraded",
        action="store_true",
        default=None,
        help="start even when a library cannot be opened (REFDESK_ALLOW_DEGRADED)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until stopped."""
    settings = desk.settings(
        arguments,
        host=arguments.host,
        port=arguments.port,
        allow_degraded=arguments.allow_degraded,
    )
    logs.configure(settings)
    for name, close in unknown_variables(os.environ).items():
        hint = f"did you mean {close}?" if close else "see docs/settings.md"
        logging.getLogger(__name__).warning("%s is no setting of refdesk; %s", name, hint)
    manager = CorpusManager.load(settings)
    if arguments.stdio:
        asyncio.run(serve_stdio(manager, settings))
    else:
        serve_http(manager, settings)
    return 0
