"""Environment in, frozen Settings out: read once, at the edge.

Every setting is read from `REFDESK_<NAME>`; the names in PLAIN work without the prefix too
(the prefixed name wins). An empty value counts as unset.
"""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings.sources import EnvSettingsSource

from refdesk.errors import SettingsError

PREFIX: Final = "REFDESK_"
PLAIN: Final = {
    "corpus_root": "CORPUS_ROOT",
    "corpus_config": "CORPUS_CONFIG",
    "data_dir": "DATA_DIR",
    "search_max_limit": "SEARCH_MAX_LIMIT",
    "max_fetch_chars": "MAX_FETCH_CHARS",
    "allowed_hosts": "MCP_ALLOWED_HOSTS",
    "allowed_origins": "MCP_ALLOWED_ORIGINS",
    "log_level": "LOG_LEVEL",
    "avalai_api_key": "AVALAI_API_KEY",
    "avalai_base_url": "AVALAI_BASE_URL",
    "embed_model": "EMBED_MODEL",
    "embed_dim": "EMBED_DIM",
    "no_proxy_hosts": "NO_PROXY_HOSTS",
}
"""Settings that also answer to a name without the prefix."""

TEST_DATA: Final = "REFDESK_CORPORA"
"""Names the real data that tests and benches read; no setting of the product."""

_HIDDEN: Final = frozenset({"avalai_api_key", "avalai_base_url"})
"""Settings whose values are not repeated in a message: they are, or may hold, a secret."""

Names = Annotated[tuple[str, ...], NoDecode]
"""A comma-separated list in the environment."""


class Settings(BaseSettings):
    """Everything the environment decides. Times are seconds, sizes bytes unless said."""

    model_config = SettingsConfigDict(frozen=True, env_ignore_empty=True, extra="ignore")

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    corpus_root: Path = Path("corpus")
    corpus_config: Path = Path("corpus.toml")
    data_dir: Path = Path("data")
    search_max_limit: int = Field(10, ge=1, le=50)
    max_fetch_chars: int = Field(40_000, ge=0)
    allowed_hosts: Names = ()
    allowed_origins: Names = ()
    trust_proxy_host: bool = False
    allow_degraded: bool = False
    allow_reindex: bool = False
    result_style: Literal["both", "structured", "text", "chatgpt"] = "both"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_queries: bool = False
    max_body_bytes: int = Field(256 * 1024, ge=1024)
    receive_timeout: float = Field(10.0, gt=0)
    max_concurrent: int = Field(64, ge=1)
    search_timeout: float = Field(5.0, gt=0)
    cache_bytes: int = Field(32 * 1024 * 1024, ge=0)
    watch: bool = True
    dense: Literal["off", "auto"] = "auto"
    avalai_api_key: SecretStr = SecretStr("")
    avalai_base_url: str = ""
    embed_model: str = "text-embedding-3-small"
    embed_dim: int = Field(0, ge=0, le=8192)
    embed_timeout: float = Field(2.0, gt=0)
    embed_per_minute: int = Field(1500, ge=1)
    embed_per_day: int = Field(50_000, ge=1)
    no_proxy_hosts: Names = ()
    allow_public_spend: bool = False

    @field_validator("allowed_hosts", "allowed_origins", "no_proxy_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(name.strip() for name in value.split(",") if name.strip())
        return value

    @field_validator("avalai_api_key", mode="before")
    @classmethod
    def _key(cls, value: object) -> object:
        if isinstance(value, str):
            value = value.strip()
            if not (value.isascii() and (value.isprintable() or not value)) or " " in value:
                raise ValueError("holds characters that no key has")
        return value

    @field_validator("avalai_base_url")
    @classmethod
    def _endpoint(cls, value: str) -> str:
        if value and not _is_endpoint(value):
            raise ValueError("is no address of an API: write https://host/v1, nothing behind it")
        return value.rstrip("/")

    @field_validator("log_level", "result_style", "dense", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Explicit values first, then prefixed names, then the plain ones."""
        prefixed = EnvSettingsSource(settings_cls, env_prefix=PREFIX, env_ignore_empty=True)
        return init_settings, prefixed, _PlainNames(settings_cls)

    @classmethod
    def load(cls, **overrides: object) -> Self:
        """The settings of this process; `overrides` (from the command line) win.

        Raises:
            SettingsError: a value cannot be used; names the variable and the reason.
        """
        try:
            return cls(**overrides)  # type: ignore[arg-type]
        except ValidationError as error:
            raise SettingsError(_explain(error)) from None


class _PlainNames(PydanticBaseSettingsSource):
    """Reads the names of PLAIN, which carry no prefix."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        source = EnvSettingsSource(settings_cls, env_prefix="", env_ignore_empty=True)
        self._values = source.env_vars

    def get_field_value(self, field: object, field_name: str) -> tuple[str | None, str, bool]:
        plain = PLAIN.get(field_name, "")
        return (self._values.get(plain.lower()) if plain else None), field_name, False

    def __call__(self) -> dict[str, object]:
        found = {name: self.get_field_value(None, name)[0] for name in PLAIN}
        return {name: value for name, value in found.items() if value}


def spend_guard(settings: Settings) -> None:
    """Refuse to let strangers spend money: a paid key, a public address and nobody asked who he is.

    It looks at the address that is listened on and cannot see what stands in front of it: who has
    a proxy or a firewall there says so with REFDESK_ALLOW_PUBLIC_SPEND=1.

    Raises:
        SettingsError: names what can be set instead.
    """
    paid = bool(settings.avalai_api_key.get_secret_value()) and settings.dense != "off"
    if not paid or settings.allow_public_spend or _is_loopback(settings.host):
        return
    raise SettingsError(
        f"{variable('host')}={settings.host!r} is open to others, and every search would be paid "
        f"for with {variable('avalai_api_key')}: listen on 127.0.0.1, unset the key, set "
        f"{variable('dense')}=off, or, where a proxy or firewall in front keeps strangers out, set "
        f"{variable('allow_public_spend')}=1"
    )


def _is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _is_endpoint(url: str) -> bool:
    """Whether an API can live at `url`: a web address without user, query or fragment."""
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and not set(url) & set(" \\?#@")
    return plain and port_is_valid and parts.scheme in ("http", "https") and bool(parts.hostname)


def variable(field: str) -> str:
    """The environment variable to name in a message about `field`."""
    return PLAIN.get(field, PREFIX + field.upper())


def unknown_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that start with the prefix but set nothing, each with the nearest real name."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    strange = [n for n in environ if n.startswith(PREFIX) and n not in known | {TEST_DATA}]
    return {
        name: next(iter(difflib.get_close_matches(name, sorted(known), 1)), "") for name in strange
    }


def _explain(error: ValidationError) -> str:
    problems = []
    for detail in error.errors(include_url=False):
        field = str(detail["loc"][0]) if detail["loc"] else "settings"
        shown = "" if field in _HIDDEN else f"={detail['input']!r}"
        problems.append(f"{variable(field)}{shown}: {detail['msg']}")
    return "; ".join(problems) + " (see docs/settings.md)"
