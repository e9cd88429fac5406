"""What every tool is made of, and what it works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic_core import to_json

from refdesk.model import (
    Answer,
    Changes,
    Document,
    Documented,
    Entry,
    Library,
    Lifetime,
    PageHistory,
    Platform,
    Survey,
)
from refdesk.settings import Settings

Json = dict[str, object]
"""A JSON object about to leave."""


class Manager(Protocol):
    """The part of the corpus manager that tools and the server use."""

    @property
    def libraries(self) -> Sequence[Library]:
        """Every configured library with its state at this moment."""

    @property
    def ready(self) -> bool:
        """Whether every library is ready."""

    @property
    def platforms(self) -> Sequence[Platform]:
        """What the libraries tell how to deploy on, in order of name."""

    async def surveys(self) -> Sequence[Survey]:
        """The make-up of every library whose kind knows it."""

    async def search(self, query: str, *, limit: int, library: str = "") -> Answer:
        """The best `limit` hits of one library, or of all."""

    async def fetch(self, ref: str) -> Document:
        """The document of a ref or of a page URL."""

    async def entries(
        self, library: str = "", prefix: str = "", cursor: str = ""
    ) -> tuple[list[Entry], str]:
        """One page of the table of contents and the cursor of the next, "" at the end."""

    @property
    def histories(self) -> Sequence[str]:
        """The libraries whose history can be asked about."""

    async def search_history(
        self, query: str, *, limit: int, only_removed: bool = False, library: str = ""
    ) -> Sequence[Lifetime]:
        """Sections, past and present, that hold words of `query`, best first."""

    async def when_documented(self, text: str, *, library: str = "") -> Sequence[Documented]:
        """For each library with history, the commits that wrote and removed a literal text."""

    async def page_history(self, path: str, *, library: str = "") -> PageHistory:
        """Every revision of one page."""

    async def reindex(self, library: str = "") -> Mapping[str, Changes]:
        """Bring one library, or all, up to date now."""

    async def start(self) -> None:
        """Begin indexing and watching; returns at once."""

    async def close(self) -> None:
        """Stop and let go of every library."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The manager and settings that a tool answers from; `local` is true on stdio."""

    manager: Manager
    settings: Settings
    local: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A tool's answer, already neutral, and what the log says of it.

    `text` is `body` as compact JSON, "" where the tool had no need of it.
    """

    body: Json
    count: int
    library: str = ""
    text: str = ""


def compact(body: Json) -> bytes:
    """`body` as JSON without blanks, in UTF-8."""
    return to_json(body)


@dataclass(frozen=True, slots=True)
class Tool:
    """One question an agent may ask.

    `schema` is the JSON Schema of the arguments; `choices` gives the values that an argument can
    take now, where the corpus decides; `deadline` the seconds after which the caller
    is told to try again; `reply_limit` the characters a client should be ready to take (0: any
    client's default will do).
    """

    name: str
    title: str
    description: str
    schema: Callable[[Settings], Json]
    answer: Callable[[Desk, Mapping[str, object]], Awaitable[Reply]]
    shown: Callable[[Desk], bool]
    deadline: float = 20.0
    reply_limit: int = 0
    choices: Callable[[Desk], Mapping[str, Sequence[str]]] | None = None

    def listed_schema(self, desk: Desk) -> Json:
        """`schema` with the choices of the moment as enums; without any, the text stays free."""
        schema = self.schema(desk.settings)
        properties = schema["properties"]
        if self.choices is not None and isinstance(properties, dict):
            for argument, values in self.choices(desk).items():
                if values:
                    properties[argument]["enum"] = list(values)
        return schema
