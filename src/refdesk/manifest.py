"""corpus.toml in, a checked Manifest out: nothing is opened yet, everything is refused early."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from refdesk.errors import ManifestError
from refdesk.model import LIBRARY_NAME

VERSION: Final = 1
ADAPTERS: Final = ("markdown", "liara")
"""Corpus kinds that can be served; adapters/ holds one file for each."""
RESERVED: Final = ("mediawiki", "devdocs", "stackexchange", "zim")
"""Corpus kinds that corpus.toml knows by name and this version does not serve."""
DEFAULT_INCLUDE: Final = (
    "**/*.md",
    "**/*.mdx",
    "**/*.markdown",
    "**/*.adoc",
    "**/*.asciidoc",
    "**/*.txt",
)
MAX_BYTES: Final = 1024 * 1024

_REQUIRED: Final = ("name", "adapter", "path")
_OPTIONAL: Final = ("include", "exclude", "base_url", "history")


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One `[[library]]` table: checked, its path resolved and inside the corpus root."""

    name: str
    adapter: str
    path: Path
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = ()
    base_url: str = ""
    history: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """The libraries of one corpus.toml, in its order. `root` and `file` are absolute."""

    file: Path
    root: Path
    libraries: tuple[LibraryEntry, ...]


def load(file: Path, root: Path) -> Manifest:
    """Read and check `file`; library paths are relative to `root`.

    Raises:
        ManifestError: the first thing wrong, with the file, the library and the key.
    """
    root = root.resolve()
    tables = _tables(file)
    entries: list[LibraryEntry] = []
    for number, table in enumerate(tables, start=1):
        entry = _entry(_Where(file, number, table), table, root)
        if entry.name.casefold() in {known.name.casefold() for known in entries}:
            raise ManifestError(
                f"{file}: library {entry.name!r}: key 'name': used twice; "
                "names must be unique (case does not count): rename one of them"
            )
        entries.append(entry)
    return Manifest(file.resolve(), root, tuple(entries))


@dataclass(frozen=True, slots=True)
class _Where:
    """Which table a message is about."""

    file: Path
    number: int
    table: Mapping[str, object]

    def refuse(self, key: str, problem: str) -> ManifestError:
        name = self.table.get("name")
        label = repr(name) if isinstance(name, str) and name else f"number {self.number}"
        return ManifestError(f"{self.file}: library {label}: key {key!r}: {problem}")


def _tables(file: Path) -> list[Mapping[str, object]]:
    data = _parse(file)
    for key in data:
        if key not in ("version", "library"):
            raise ManifestError(
                f"{file}: key {key!r}: unknown; {_known(key, ('version', 'library'))}"
            )
    version = data.get("version")
    if version != VERSION or isinstance(version, bool):
        found = "missing" if version is None else f"{version!r} is not supported"
        raise ManifestError(f"{file}: key 'version': {found}; write `version = {VERSION}`")
    tables = data.get("library")
    if not isinstance(tables, list) or not tables:
        raise ManifestError(
            f"{file}: key 'library': no library is configured; add a [[library]] table "
            "with name, adapter and path"
        )
    if not all(isinstance(table, dict) for table in tables):
        raise ManifestError(f"{file}: key 'library': write each library as a [[library]] table")
    return tables


def _parse(file: Path) -> dict[str, object]:
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ManifestError(
            f"{file}: cannot be read ({error.strerror}); "
            "create it or point CORPUS_CONFIG (or --config) at your corpus.toml"
        ) from None
    if len(raw) > MAX_BYTES:
        raise ManifestError(f"{file}: larger than {MAX_BYTES} bytes; this is no corpus.toml")
    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ManifestError(f"{file}: is not valid TOML: {error}; correct that line") from None


def _entry(where: _Where, table: Mapping[str, object], root: Path) -> LibraryEntry:
    known = (*_REQUIRED, *_OPTIONAL)
    for key in table:
        if key not in known:
            raise where.refuse(key, f"unknown; {_known(key, known)}")
    for key in _REQUIRED:
        if key not in table:
            raise where.refuse(key, f"missing; every library needs {', '.join(_REQUIRED)}")
    return LibraryEntry(
        name=_name(where, table["name"]),
        adapter=_adapter(where, table["adapter"]),
        path=_path(where, table["path"], root),
        include=_patterns(where, "include", table.get("include", list(DEFAULT_INCLUDE))),
        exclude=_patterns(where, "exclude", table.get("exclude", [])),
        base_url=_base_url(where, table.get("base_url", "")),
        history=_history(where, table.get("history", False)),
    )


def _name(where: _Where, value: object) -> str:
    if not isinstance(value, str) or not LIBRARY_NAME.match(value) or set(value) == {"."}:
        raise where.refuse(
            "name", f"{value!r} is not allowed; use 1-64 letters, digits, '.', '_' or '-'"
        )
    return value


def _adapter(where: _Where, value: object) -> str:
    if value in ADAPTERS:
        return str(value)
    if value in RESERVED:
        raise where.refuse(
            "adapter",
            f"{value!r} is not served by this version; "
            f"use one of {', '.join(ADAPTERS)} or remove the library",
        )
    raise where.refuse("adapter", f"{value!r} is unknown; {_known(str(value), ADAPTERS)}")


def _path(where: _Where, value: object, root: Path) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise where.refuse("path", f"{value!r} is not a path; write a path below {root}")
    if Path(value).is_absolute():
        raise where.refuse("path", f"{value!r} is absolute; write it relative to {root}")
    try:
        resolved = (root / value).resolve()
    except (OSError, RuntimeError) as error:
        raise where.refuse("path", f"{value!r} cannot be resolved ({error})") from None
    if not resolved.is_relative_to(root):
        raise where.refuse(
            "path",
            f"{value!r} leads to {resolved}, outside the corpus root {root}; "
            "move it below the root or set CORPUS_ROOT",
        )
    return resolved


def _patterns(where: _Where, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise where.refuse(key, f'{value!r} is not a list of patterns such as ["**/*.md"]')
    if key == "include" and not value:
        raise where.refuse(key, "is empty, so nothing would be served; list at least one pattern")
    for pattern in value:
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise where.refuse(
                key, f"{pattern!r} must be relative to the library and cannot contain '..'"
            )
    return tuple(value)


def _base_url(where: _Where, value: object) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _is_web_url(value):
        raise where.refuse(
            "base_url", f"{value!r} is not a web address; write https://host/path/ without ? or #"
        )
    return value if value.endswith("/") else value + "/"


def _is_web_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = value.isascii() and value.isprintable() and " " not in value
    return (
        plain
        and port_is_valid
        and parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and "@" not in parts.netloc
        and not parts.query
        and not parts.fragment
    )


def _history(where: _Where, value: object) -> bool:
    if not isinstance(value, bool):
        raise where.refuse("history", f"{value!r} is not true or false")
    return value


def _known(wrong: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(wrong, known, 1)
    names = ", ".join(known)
    return f"did you mean {close[0]!r}? known are {names}" if close else f"known are {names}"
