"""A word typed with the wrong keyboard layout in -> what the keys say in the other layout out.

Latin is QWERTY, Persian the standard layout (ISIRI 9147) with the older Windows one as second
guess. Whether a reading makes sense is for the caller's vocabulary to say. Pure.
"""

from __future__ import annotations

from typing import Final

_KEYS: Final = dict(
    zip("qwertyuiop[]asdfghjkl;'zxcvbnm,", "ضصثقفغعهخحجچشسیبلاتنمکگظطزرذدپو", strict=True)
)
_OLD_KEYS: Final = {**_KEYS, "m": "ئ", "`": "پ", "\\": "ژ"}
_SHIFTED: Final = {"C": "ژ", "H": "آ", "M": "ء"}
_TO_PERSIAN: Final = (
    str.maketrans({**_KEYS, "`": "پ", "\\": "پ", **_SHIFTED}),
    str.maketrans(_OLD_KEYS),
)
_TO_LATIN: Final = str.maketrans(
    {
        **{letter: key for key, letter in _KEYS.items()},
        "ئ": "m",
        "آ": "h",
        "ژ": "c",
        "\u064a": "d",  # Arabic yeh and kaf sit on the same keys
        "\u0643": ";",
    }
)


def other_layout(typed: str) -> tuple[str, ...]:
    """What the same keys write in the other layout: `nh;v` gives داکر, سثقرثق gives `server`.

    Punctuation keys are letters in Persian, so `typed` is everything between two spaces. () when
    the word mixes scripts or holds a key that neither layout has.
    """
    if typed.isascii():
        readings = dict.fromkeys(typed.translate(table) for table in _TO_PERSIAN)
        return tuple(reading for reading in readings if _all_moved(typed, reading))
    reading = typed.translate(_TO_LATIN)
    return (reading,) if _all_moved(typed, reading) else ()


def _all_moved(typed: str, reading: str) -> bool:
    return bool(typed) and all(
        a != b or a.isdigit() or a in ".-_" for a, b in zip(typed, reading, strict=True)
    )
