"""The protocol's own conformance suite and foreign clients, against a refdesk server.

    python conformance/run.py [scenarios|clients|all] [--url URL] [--query WORDS]

Without --url it serves the shipped corpus.toml on a free port for as long as it runs. Needs npm;
a Node.js of the right version is among the locked packages. Exit code 1 if anything failed.
"""

# ruff: noqa: S603 -- every command is put together in this file

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
OLD_PYTHON = HERE / ".venv-v1"
OLD_SDK = "mcp==1.30.0"
NODE_AT_LEAST = 22

SCENARIOS = {
    "2025-11-25": (
        "server-initialize",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "dns-rebinding-protection",
    ),
    "2026-07-28": (
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "dns-rebinding-protection",
        "http-header-validation",
        "server-stateless",
        "server-sse-multiple-streams",
        "caching",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
    ),
}
"""What applies to a stateless server that has tools of its own and nothing else; the other
scenarios call the tools, prompts and resources of a test server."""

CLIENTS = ("python_v2.py", "python_v1.py", "typescript_v2.mjs", "typescript_v1.mjs", "curl.sh")


def main() -> int:
    """Run what is asked for; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", nargs="?", default="all", choices=("scenarios", "clients", "all"))
    parser.add_argument("--url", default="", help="a running server, instead of one of our own")
    parser.add_argument("--query", default="deploy", help="words that the server knows a page for")
    given = parser.parse_args()
    node = _node()
    failures = 0
    with _server(given.url) as url:
        if given.what in ("scenarios", "all"):
            failures += _scenarios(node, url)
        if given.what in ("clients", "all"):
            failures += _clients(node, url, given.query)
    _say(f"{failures} failed" if failures else "all passed")
    return 1 if failures else 0


def _scenarios(node: str, url: str) -> int:
    failures = 0
    for version, names in SCENARIOS.items():
        for name in names:
            command = [node, str(SUITE), "server", "--url", url, "--scenario", name]
            command += ["--spec-version", version, "--timeout", "8000"]
            command += ["--expected-failures", str(HERE / "not-applicable.yml")]
            failures += _report(f"{version} {name}", command, r"Passed: (\d+/\d+)")
    return failures


def _clients(node: str, url: str, query: str) -> int:
    failures = 0
    for name in CLIENTS:
        interpreter = {".py": sys.executable, ".mjs": node, ".sh": "sh"}[Path(name).suffix]
        if name == "python_v1.py":
            interpreter = _old_python()
        command = [interpreter, str(HERE / "clients" / name), url, query]
        failures += _report(f"client     {name}", command, r"(?m)^(.*)$")
    return failures


def _report(name: str, command: Sequence[str], detail: str) -> int:
    """Run `command` and print one line, with its output if it fails; 1 if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=HERE)
        failed, output = done.returncode != 0, done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        failed, output = True, f"{error}"
    found = re.findall(detail, re.sub(r"\x1b\[\d*m", "", output))
    note = next((text for text in reversed(found) if text.strip()), "")
    _say(f"{'FAILED' if failed else 'ok':<8}{name:<56}{note[:60]}")
    if failed:
        _say(output)
    return int(failed)


@contextmanager
def _server(url: str) -> Iterator[str]:
    """`url`, or the address of a server that runs for as long as the context."""
    if url:
        yield url
        return
    with tempfile.TemporaryDirectory() as data:
        process = subprocess.Popen(
            [sys.executable, "-m", "refdesk", "serve", "--port", "0"],
            cwd=HERE.parent,
            env={**os.environ, "DATA_DIR": data},
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield _address(process)
        finally:
            process.terminate()
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def _address(process: subprocess.Popen[str]) -> str:
    """The address that a server announces, once it has indexed what it serves."""
    log, address = "", ""
    for line in process.stderr or ():
        log += line
        found = re.search(r"serves (http://\S+/mcp)", line)
        address = found[1] if found else address
        if address and _is_ready(address):
            return address
    raise SystemExit(f"the server did not start:\n{log}")


def _is_ready(address: str) -> bool:
    """Wait for /readyz to turn 200, for up to 30 seconds."""
    probe = (
        "import sys, time, urllib.request\n"
        "for _ in range(150):\n"
        "    try:\n"
        "        urllib.request.urlopen(sys.argv[1], timeout=5)\n"
        "        sys.exit(0)\n"
        "    except OSError:\n"
        "        time.sleep(0.2)\n"
        "sys.exit(1)\n"
    )
    ready = address.removesuffix("/mcp") + "/readyz"
    return subprocess.run([sys.executable, "-c", probe, ready], timeout=60).returncode == 0


def _node() -> str:
    """A Node.js that is new enough: the one on PATH, else the locked one."""
    if not SUITE.exists():
        npm = shutil.which("npm") or _missing("npm")
        subprocess.run([npm, "ci", "--ignore-scripts=false"], cwd=HERE, check=True, timeout=300)
    local = str(MODULES / ".bin" / "node")
    for candidate in (shutil.which("node"), local):
        if candidate and _major(candidate) >= NODE_AT_LEAST:
            return candidate
    return _missing(f"Node.js {NODE_AT_LEAST}")


def _major(node: str) -> int:
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20)
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", done.stdout)
    return int(found[1]) if found else 0


def _old_python() -> str:
    """The interpreter of an environment with the last 1.x SDK, made on first use."""
    python = OLD_PYTHON / "bin" / "python"
    if not python.exists():
        venv.create(OLD_PYTHON, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", OLD_SDK]
        subprocess.run(install, check=True, timeout=300)
    return str(python)


def _missing(what: str) -> str:
    raise SystemExit(f"{what} is needed for the conformance suite and was not found")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
