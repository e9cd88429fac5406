"""Arguments as an agent wrote them in, checked arguments out.

Numbers are clamped rather than refused, null stands for "not given", and a mistake is answered
with the names that are known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from refdesk.errors import InvalidArgument

_LARGEST: Final = 2**53


class Arguments(BaseModel):
    """Base of the arguments of a tool: nothing but the declared names is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError("must be text")


def _number(value: object) -> int:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ValueError("must be a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError("must be a number")
    return int(max(-_LARGEST, min(_LARGEST, value)))


def _names(value: object) -> list[str]:
    if isinstance(value, str):
        value = _spelled_out(value)
    if not isinstance(value, list):
        raise ValueError("must be a list of texts")
    return [_text(name) for name in value]


def _spelled_out(text: str) -> list[object]:
    """A list that a client sent as one string: its JSON, or a single name."""
    if text.lstrip().startswith("["):
        try:
            decoded = json.loads(text)
        except (ValueError, RecursionError):
            return [text]
        if isinstance(decoded, list):
            return decoded
    return [text]


Text = Annotated[str, BeforeValidator(_text)]
"""Text; a number is taken as it is written."""
Number = Annotated[int, BeforeValidator(_number)]
"""A whole number, also when it comes as text or with a fraction."""
Names = Annotated[list[str], BeforeValidator(_names)]
"""A list of texts; a single text is a list of one."""

A = TypeVar("A", bound=Arguments)


def check(tool: str, model: type[A], given: Mapping[str, object]) -> A:
    """`given` as a `model`.

    Raises:
        InvalidArgument: an argument is unknown, missing or of the wrong type.
    """
    known = model.model_fields
    try:
        return model.model_validate(
            {name: value for name, value in given.items() if value is not None or name not in known}
        )
    except ValidationError as error:
        wrong = [
            _explain(str(detail["loc"][0]), detail["type"], detail["msg"])
            for detail in error.errors(include_url=False, include_context=False)
        ]
        message = f"{'; '.join(wrong)}. {tool} takes: {', '.join(known)}"
        raise InvalidArgument(message, {"known_arguments": list(known)}) from None


def clamp(number: int, low: int, high: int) -> int:
    """`number`, or the nearer end of `low`..`high`."""
    return max(low, min(high, number))


def _explain(name: str, kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return f"unknown argument '{name}'"
    if kind == "missing":
        return f"missing argument '{name}'"
    return f"argument '{name}' {message.removeprefix('Value error, ')}"
