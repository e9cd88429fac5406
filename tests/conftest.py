"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see no settings of the machine they run on."""
    from refdesk.settings import PLAIN, PREFIX

    for name in list(os.environ):
        if (name.startswith(PREFIX) and name != "REFDESK_CORPORA") or name in PLAIN.values():
            monkeypatch.delenv(name)
    monkeypatch.setenv("REFDESK_DENSE", "off")  # the extra may be installed


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real data; the test is skipped where there is none."""
    value = os.environ.get("REFDESK_CORPORA", "")
    if not value:
        pytest.skip("REFDESK_CORPORA is not set")
    return Path(value)
