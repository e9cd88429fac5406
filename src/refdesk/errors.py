"""Every error refdesk raises on purpose; each carries the `code` an agent or operator sees.

RefdeskError
├── ConfigError                 corpus.toml or the environment is wrong: refuse to start
│   ├── ManifestError           names the file, the library and the key
│   └── SettingsError           names the variable
├── OpenError                   a configured library cannot be opened or indexed
└── RequestError                an answer to a caller, never a failure of the server
    ├── InvalidArgument         invalid_argument
    ├── InvalidRef              invalid_ref
    ├── NotFound                not_found
    ├── SectionNotFound         section_not_found
    ├── UnknownLibrary          unknown_library
    ├── Unavailable             unavailable: the library exists but cannot answer now
    └── Busy                    busy: too much at once, try again
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class RefdeskError(Exception):
    """Base of the tree: `str()` is one sentence that says what to do next."""

    code = "error"


class ConfigError(RefdeskError):
    """What the operator wrote cannot be used."""

    code = "config"


class ManifestError(ConfigError):
    """corpus.toml is refused; the message names file, library and key."""


class SettingsError(ConfigError):
    """An environment variable is refused; the message names it."""


class OpenError(RefdeskError):
    """A library cannot be opened or indexed; the message says why and what to do."""

    code = "unavailable"


class RequestError(RefdeskError):
    """An answer to a caller. `details` are extra JSON fields of the error result."""

    code = "invalid_argument"

    def __init__(self, message: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.details: dict[str, object] = dict(details or {})


class InvalidArgument(RequestError):
    """An argument is missing, unknown or of the wrong type."""


class InvalidRef(RequestError):
    """Not a ref that refdesk minted and not a URL."""

    code = "invalid_ref"


class NotFound(RequestError):
    """A well-formed ref or URL that no library holds; may carry `suggestions`."""

    code = "not_found"

    def __init__(self, message: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message, {"suggestions": list(suggestions)} if suggestions else None)


class SectionNotFound(RequestError):
    """The document is there, some of the sections asked for are not."""

    code = "section_not_found"


class UnknownLibrary(RequestError):
    """No library of that name is configured; carries the names that are."""

    code = "unknown_library"


class Unavailable(RequestError):
    """The library is configured but cannot answer at the moment."""

    code = "unavailable"


class Busy(RequestError):
    """Too many calls at once; the same call may be repeated."""

    code = "busy"
