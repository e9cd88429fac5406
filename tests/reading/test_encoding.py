"""Bytes become text whatever wrote them; what is no text is told from what is."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.reading import decode

BOM = "\ufeff"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"# plain\n", "# plain\n"),
        (codecs.BOM_UTF8 + "# سلام\n".encode(), "# سلام\n"),
        (codecs.BOM_UTF16_LE + "# Réglages\n".encode("utf-16-le"), "# Réglages\n"),
        (codecs.BOM_UTF16_BE + "# Réglages\n".encode("utf-16-be"), "# Réglages\n"),
        ("# Größe".encode("latin-1"), "# Größe"),
        ("“quoted”".encode("cp1252"), "“quoted”"),
        (b"caf\xe9 \x81", "café \x81"),
    ],
)
def test_text_is_read_in_the_encoding_it_was_written_in(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    "data",
    [
        b"# A\n\0\0B",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\xff\xfe\x00\x00\x41\x00\x00\x00",
        bytes(range(1, 32)) * 4 + b"\xff" * 20,
    ],
)
def test_binary_files_have_no_text(data: bytes) -> None:
    assert decode(data) is None


def test_windows_and_old_mac_line_ends_count_once() -> None:
    assert decode(b"a\r\nb\rc\n\r\nd") == "a\nb\nc\n\nd"


def test_a_cut_utf16_file_still_reads() -> None:
    text = decode(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le") + b"\x41")
    assert text is not None
    assert text.startswith("ab")


@given(st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"])))
def test_utf8_text_comes_back_as_it_was(text: str) -> None:
    if not text.startswith(BOM):
        assert decode(text.encode()) == text
        assert decode(codecs.BOM_UTF8 + text.encode()) == text


@given(st.binary(max_size=200))
def test_no_bytes_break_the_decoder(data: bytes) -> None:
    text = decode(data)
    assert text is None or ("\r" not in text and "\0" not in text)
