"""argv in, an exit code out: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

A command's module is imported only when it is called, so that `--help` stays quick.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from refdesk import __version__
from refdesk.errors import RefdeskError, RequestError

COMMANDS: Final = {
    "serve": ("serving", "serve the corpus over MCP (Streamable HTTP, or --stdio)"),
    "search": ("search", "search the libraries from the terminal"),
    "fetch": ("fetch", "print a document, or some of its sections"),
    "index": ("index", "bring the indexes up to date"),
    "check": ("check", "open everything that corpus.toml names and report"),
    "list": ("listing", "list the libraries, or the documents of one"),
    "history": ("history", "ask what the pages used to say: index, search, when, page"),
    "eval": ("evaluate", "measure retrieval on a file of questions"),
    "outline": ("outline", "show the sections that refdesk sees in one file"),
    "pull": ("pull", "fetch a public corpus, or a newer state of it, with git"),
    "connect": ("connect", "print the configuration of an MCP client"),
    "doctor": ("doctor", "look for misconfiguration and say how to mend it"),
}
"""Command -> (module of refdesk.cli, one line of help)."""

_EPILOG: Final = """\
examples:
  refdesk serve                          serve ./corpus.toml on http://127.0.0.1:8000/mcp
  refdesk search "health check"          ask from the terminal
  refdesk index --force                  rebuild every index
  refdesk connect claude-code            how to connect an assistant

Every setting is an environment variable too: see docs/settings.md.
"""


def parser(command: str = "") -> argparse.ArgumentParser:
    """The argument parser; only `command` (all of them for "*") has its own arguments loaded."""
    top = argparse.ArgumentParser(
        prog="refdesk",
        description="A reference desk for AI agents: search and read your own documentation.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"refdesk {__version__}")
    _add_global_options(top, default=None)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module_name, line) in COMMANDS.items():
        sub = commands.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.")
        _add_global_options(sub, default=argparse.SUPPRESS)
        if command in (name, "*"):
            module = importlib.import_module(f"refdesk.cli.{module_name}")
            module.add_arguments(sub)
            sub.set_defaults(run=module.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the process's exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in words if word in COMMANDS), "")
    arguments = parser(command).parse_args(words)
    try:
        return int(arguments.run(arguments))
    except RefdeskError as error:
        sys.stderr.write(f"refdesk: {error}\n{_suggestions(error)}")
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _suggestions(error: RefdeskError) -> str:
    """The near misses that an error carries, one a line."""
    near = error.details.get("suggestions") if isinstance(error, RequestError) else None
    return "".join(f"  {name}\n" for name in near) if isinstance(near, list) else ""


def _add_global_options(target: argparse.ArgumentParser, default: object) -> None:
    target.add_argument(
        "--config", type=Path, metavar="FILE", default=default, help="corpus.toml to use"
    )
    target.add_argument(
        "--root", type=Path, metavar="DIR", default=default, help="folder its paths start from"
    )
