"""Refs are what agents hold on to: they must come back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InvalidRef
from refdesk.model import Ref

names = st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True)
paths = st.text(min_size=1).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))


@given(names, paths)
def test_a_ref_round_trips_for_any_path(library: str, path: str) -> None:
    ref = Ref(library, path)
    assert Ref.parse(str(ref)) == ref


@given(names, st.binary(min_size=1))
def test_a_ref_round_trips_for_any_file_name(library: str, name: bytes) -> None:
    ref = Ref(library, name.decode("utf-8", "surrogateescape"))
    assert Ref.parse(str(ref)) == ref
    assert str(ref).isascii()


@given(names, paths)
def test_a_ref_is_one_token_without_blanks_or_quotes(library: str, path: str) -> None:
    assert not set(str(Ref(library, path))) & set(" \"'<>\n\r\t\\^`{|}#?")


def test_slashes_stay_readable() -> None:
    assert str(Ref("Docs", "guides/راه اندازی.md")).startswith("corpus://Docs/guides/%D8%B1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "corpus://",
        "corpus://Docs",
        "corpus://Docs/",
        "corpus:///x",
        "file:///etc/passwd",
        "corpus://a b/x",
        "CORPUS://Docs/x",
        "corpus://a\n/x",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidRef, match="search returned it"):
        Ref.parse(text)
