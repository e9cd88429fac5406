"""Bytes of a file in, its text out, or None where they are no text."""

from __future__ import annotations

import codecs
from typing import Final

BOM: Final = "\ufeff"
_UTF16: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CONTROLS: Final = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27})
_BINARY_SHARE: Final = 0.02


def decode(data: bytes) -> str | None:
    """Text of a file, or None when it is binary.

    A byte order mark decides (UTF-8, UTF-16 LE, UTF-16 BE); without one it is UTF-8, else
    cp1252, whose five undefined bytes become Latin-1 controls. CRLF and CR become LF and the
    mark is removed. A NUL anywhere in the text, or more than 2% control bytes in what is not
    UTF-8, makes the file binary.
    """
    text = _utf16(data)
    if text is None:
        text = _utf8(data)
    if text is None or "\0" in text:
        return None
    text = text.removeprefix(BOM)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _utf16(data: bytes) -> str | None:
    for mark, name in _UTF16:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    return None


def _utf8(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _cp1252(data)


def _cp1252(data: bytes) -> str | None:
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if b"\0" in data or controls > len(data) * _BINARY_SHARE:
        return None
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
