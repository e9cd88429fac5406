"""Environment in, settings out."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from refdesk.errors import SettingsError
from refdesk.settings import PLAIN, Settings, spend_guard, unknown_variables, variable


def test_with_nothing_set_the_defaults_are_local() -> None:
    settings = Settings.load()
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.corpus_root == Path("corpus")
    assert settings.corpus_config == Path("corpus.toml")
    assert settings.allowed_hosts == ()


@pytest.mark.parametrize(("field", "plain"), PLAIN.items())
def test_a_plain_name_works_and_the_prefixed_one_wins(
    monkeypatch: pytest.MonkeyPatch, field: str, plain: str
) -> None:
    values = {
        "search_max_limit": ("7", "8"),
        "max_fetch_chars": ("7", "8"),
        "log_level": ("debug", "error"),
        "embed_dim": ("7", "8"),
        "avalai_base_url": ("https://a.example/one", "https://a.example/two"),
    }
    low, high = values.get(field, ("one", "two"))
    monkeypatch.setenv(plain, low)
    first = getattr(Settings.load(), field)
    monkeypatch.setenv(f"REFDESK_{field.upper()}", high)
    second = getattr(Settings.load(), field)
    assert first != second
    assert high in str(second.get_secret_value() if isinstance(second, SecretStr) else second)


def test_plain_names_outside_the_list_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "9")
    monkeypatch.setenv("HOST", "0.0.0.0")
    assert (Settings.load().port, Settings.load().host) == (8000, "127.0.0.1")


def test_lists_are_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_ALLOWED_HOSTS", " docs.example , ,b:*")
    assert Settings.load().allowed_hosts == ("docs.example", "b:*")


def test_an_empty_value_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFDESK_PORT", "")
    monkeypatch.setenv("DATA_DIR", "")
    assert Settings.load().port == 8000
    assert Settings.load().data_dir == Path("data")


def test_arguments_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFDESK_PORT", "9000")
    assert Settings.load(port=9001).port == 9001


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REFDESK_PORT", "http"),
        ("REFDESK_PORT", "70000"),
        ("SEARCH_MAX_LIMIT", "0"),
        ("MAX_FETCH_CHARS", "-1"),
        ("REFDESK_RESULT_STYLE", "yaml"),
        ("LOG_LEVEL", "loud"),
        ("REFDESK_ALLOW_REINDEX", "perhaps"),
    ],
)
def test_a_bad_value_is_refused_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as refusal:
        Settings.load()
    assert name in str(refusal.value)
    assert value in str(refusal.value)


def test_a_misspelt_variable_is_found_with_its_likely_name() -> None:
    found = unknown_variables({"REFDESK_ALOW_REINDEX": "1", "REFDESK_PORT": "1", "HOME": "/"})
    assert found == {"REFDESK_ALOW_REINDEX": "REFDESK_ALLOW_REINDEX"}


def test_every_field_has_a_variable_to_name() -> None:
    assert variable("allowed_hosts") == "MCP_ALLOWED_HOSTS"
    assert variable("port") == "REFDESK_PORT"


SECRET = "sk-not-a-real-key-0123456789"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AVALAI_API_KEY", f"{SECRET} two"),
        ("AVALAI_API_KEY", f"{SECRET}\n"[:-1] + "\u200c"),
        ("AVALAI_BASE_URL", f"https://me:{SECRET}@api.example/v1"),
        ("AVALAI_BASE_URL", f"https://api.example/v1?key={SECRET}"),
        ("AVALAI_BASE_URL", f"ftp://api.example/{SECRET}"),
        ("AVALAI_BASE_URL", f"https:///{SECRET}"),
        ("AVALAI_BASE_URL", f"https://api.example:port/{SECRET}"),
    ],
)
def test_a_secret_is_refused_without_being_repeated(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as refusal:
        Settings.load()
    assert name in str(refusal.value)
    assert SECRET not in str(refusal.value)


def test_the_key_is_not_shown_with_the_settings() -> None:
    settings = Settings.load(avalai_api_key=f" {SECRET} ")
    assert settings.avalai_api_key.get_secret_value() == SECRET
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert SECRET not in shown


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", "192.0.2.7", "docs.example.com", ""])
def test_a_paid_key_on_a_public_address_is_refused(host: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        spend_guard(Settings.load(dense="auto", host=host, avalai_api_key=SECRET))
    assert "AVALAI_API_KEY" in str(refusal.value)
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize(
    "values",
    [
        {"host": "127.0.0.1"},
        {"host": "[::1]"},
        {"host": "localhost"},
        {"host": "0.0.0.0", "avalai_api_key": ""},
        {"host": "0.0.0.0", "dense": "off"},
        {"host": "0.0.0.0", "allow_public_spend": True},
    ],
)
def test_a_key_that_strangers_cannot_spend_is_let_through(values: dict[str, object]) -> None:
    spend_guard(Settings.load(**{"dense": "auto", "avalai_api_key": SECRET, **values}))
