from __future__ import annotations

import http.server
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from refdesk.settings import PLAIN, PREFIX, Settings

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICE: dict[str, Any] = COMPOSE["services"]["refdesk"]
LIARA: dict[str, Any] = json.loads((ROOT / "liara.json").read_text(encoding="utf-8"))
LOCKS = ("requirements.lock", "requirements-dev.lock")


def instructions(name: str) -> list[str]:
    """What stands behind every `name` of the Dockerfile, continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE, flags=re.MULTILINE).replace("\\\n", " ")
    return [line.split(None, 1)[1].strip() for line in text.split("\n") if line.startswith(name)]


def image_environment() -> dict[str, str]:
    return dict(word.split("=", 1) for word in shlex.split(instructions("ENV")[-1]))


def image_probe() -> list[str]:
    [instruction] = instructions("HEALTHCHECK")
    words: list[str] = json.loads(instruction.split("CMD", 1)[1])
    return words


def liara_probe() -> list[str]:
    return shlex.split(LIARA["healthCheck"]["command"].removeprefix("CMD "))


class Health(http.server.BaseHTTPRequestHandler):
    """Answers /healthz to localhost names with the server's `status`, as the guard would."""

    def do_GET(self) -> None:
        known = self.headers["Host"] == "localhost" and self.path == "/healthz"
        self.send_response(self.server.status if known else 421)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def health(status: int) -> Iterator[int]:
    """A server on a free port that says `status`."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health) as server:
        server.status = status  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def run_probe(probe: list[str], port: int) -> int:
    command = [sys.executable, *(word.replace("8000", str(port)) for word in probe[1:])]
    environment = {**os.environ, "REFDESK_PORT": str(port), "http_proxy": "http://192.0.2.1:9"}
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode


PROBES = {
    "image": image_probe(),
    "compose": SERVICE["healthcheck"]["test"][1:],
    "liara": liara_probe(),
}


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
def test_a_health_check_runs_python_without_a_shell(probe: list[str]) -> None:
    assert probe[:2] == ["python", "-Ic"]
    assert len(probe) == 3


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (421, 1)])
def test_a_health_check_says_what_healthz_says(probe: list[str], status: int, code: int) -> None:
    with health(status) as port:
        assert run_probe(probe, port) == code


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
def test_a_health_check_fails_where_nothing_listens(probe: list[str]) -> None:
    with health(200) as port:
        pass
    assert run_probe(probe, port) == 1


def test_the_image_runs_as_a_numbered_user_without_rights() -> None:
    user = instructions("USER")[-1]
    assert re.fullmatch(r"\d{4,}:\d{4,}", user)
    assert DOCKERFILE.index("\nUSER ") < DOCKERFILE.index("\nCMD ")


def test_the_image_starts_refdesk_directly_so_that_signals_reach_it() -> None:
    assert json.loads(instructions("CMD")[-1]) == ["refdesk", "serve"]
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def test_the_image_installs_only_locked_wheels() -> None:
    installs = [run for run in instructions("RUN") if "requirements.lock" in run]
    assert installs
    assert all("--require-hashes" in run and "--only-binary :all:" in run for run in installs)


def test_the_base_image_is_named_once_and_can_be_pinned() -> None:
    assert instructions("ARG") == ["PYTHON_IMAGE=docker.io/library/python:3.12-slim-bookworm"]
    assert {line.split()[0] for line in instructions("FROM")} == {"${PYTHON_IMAGE}"}


def test_the_image_declares_no_volume_which_some_platforms_refuse() -> None:
    assert instructions("VOLUME") == []


def test_everything_the_image_copies_is_there_and_sent_to_the_builder() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    for copy in instructions("COPY"):
        *sources, _ = (word for word in copy.split() if not word.startswith("--"))
        if "--from" in copy:
            continue
        for source in sources:
            assert (ROOT / source).exists()
            assert source not in ignored


def test_nothing_secret_or_heavy_is_sent_to_the_builder() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    assert {".git", ".env", ".venv", "data", "tests"} <= set(ignored)


def test_the_image_is_configured_by_settings_that_exist() -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields} | set(PLAIN.values())
    environment = image_environment()
    ours = {name for name in environment if name in known or name.startswith(PREFIX)}
    assert ours <= known
    assert ours >= {"CORPUS_ROOT", "CORPUS_CONFIG", "DATA_DIR", "REFDESK_HOST", "REFDESK_PORT"}
    assert set(SERVICE["environment"]) <= known


def test_compose_and_image_agree_on_paths_and_port() -> None:
    environment = image_environment()
    assert {name: environment[name] for name in SERVICE["environment"]} == SERVICE["environment"]
    assert instructions("EXPOSE") == [environment["REFDESK_PORT"]]


def test_compose_publishes_on_loopback_only() -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICE["ports"])


def test_compose_mounts_the_corpus_read_only_and_keeps_the_index() -> None:
    mounts = {volume.split(":")[1]: volume for volume in SERVICE["volumes"]}
    environment = SERVICE["environment"]
    assert mounts[environment["CORPUS_ROOT"]].endswith(":ro")
    assert mounts[environment["CORPUS_CONFIG"]].endswith(":ro")
    assert mounts[environment["DATA_DIR"]].split(":")[0] in COMPOSE["volumes"]


def test_compose_takes_every_right_away_that_refdesk_does_not_need() -> None:
    assert SERVICE["read_only"] is True
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in SERVICE
    assert "cap_add" not in SERVICE
    assert all("noexec" in mount for mount in SERVICE["tmpfs"])


def test_compose_bounds_memory_and_processes_and_restarts() -> None:
    assert SERVICE["mem_limit"]
    assert SERVICE["pids_limit"]
    assert SERVICE["restart"] == "unless-stopped"


def test_compose_starts_without_an_env_file() -> None:
    assert SERVICE["env_file"] == [{"path": ".env", "required": False}]


def test_liara_gets_no_keys_that_break_a_deployment() -> None:
    assert not {"envs", "app", "platform"} & set(LIARA)


def test_liara_keeps_the_index_on_a_disk_and_asks_the_right_port() -> None:
    environment = image_environment()
    assert LIARA["disks"] == [{"name": "index", "mountTo": environment["DATA_DIR"]}]
    assert str(LIARA["port"]) == environment["REFDESK_PORT"]
    assert (ROOT / LIARA["build"]["dockerfile"]).is_file()


def test_the_example_environment_shows_every_setting() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    shown = set(re.findall(r"^# ([A-Z_]+)=", text, re.MULTILINE))
    wanted = {PLAIN.get(name, PREFIX + name.upper()) for name in Settings.model_fields}
    assert shown == wanted


def test_the_example_environment_sets_nothing_until_it_is_edited() -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").split("\n")
    assert all(not line or line.startswith("#") for line in lines)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_requirement_has_an_exact_version_and_a_hash(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    requirements = re.split(r"\n(?=\S)", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE))
    assert len(requirements) > 20
    for requirement in filter(None, (block.strip() for block in requirements)):
        assert re.match(r"[A-Za-z0-9._-]+(\[[^]]+\])?==\S+", requirement)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", requirement)


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_an_index(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*(-i|--(extra-)?index-url|--find-links|-f)\b", text, re.MULTILINE)


def test_the_development_lock_agrees_with_the_lock_that_is_served() -> None:
    served, development = (
        set(re.findall(r"^([A-Za-z0-9._-]+==\S+)", (ROOT / lock).read_text("utf-8"), re.MULTILINE))
        for lock in LOCKS
    )
    assert served <= development


@pytest.mark.parametrize("lock", LOCKS)
def test_the_build_backend_is_locked_so_that_installing_needs_no_network(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "\nhatchling==" in text
    assert "\neditables==" in text
