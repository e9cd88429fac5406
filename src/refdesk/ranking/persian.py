"""One word of Arabic script in -> its folded spelling, its parts and its lighter stems out. Pure.

Folding is for matching only: it maps spellings that a reader takes for the same word onto one
form and is never shown to anybody.
"""

from __future__ import annotations

import re
from typing import Final

ZWNJ: Final = "\u200c"
ZWJ: Final = "\u200d"

_LETTERS: Final = {
    "\u064a": "ی",  # Arabic yeh
    "\u0649": "ی",  # alef maksura
    "\u06d2": "ی",  # yeh barree
    "\u06cd": "ی",  # yeh with tail
    "\u06d0": "ی",  # e
    "\u0626": "ی",  # yeh with hamza: ارائه and ارایه are one word
    "\u0643": "ک",  # Arabic kaf
    "\u06aa": "ک",  # swash kaf
    "\u0629": "ه",  # teh marbuta
    "\u06c0": "ه",  # heh with yeh above
    "\u06c1": "ه",  # heh goal
    "\u06c2": "ه",
    "\u06be": "ه",  # heh doachashmee
    "\u06d5": "ه",  # ae
    "\u0624": "و",  # waw with hamza
    "\u0622": "ا",  # alef with madda: آپلود is typed اپلود
    "\u0623": "ا",
    "\u0625": "ا",
    "\u0671": "ا",  # alef wasla
}
_DROPPED: Final = (
    "\u0621"  # hamza on the line
    "\u0640"  # tatweel
    + "".join(map(chr, range(0x064B, 0x0660)))  # harakat, superscript hamza and madda
    + "\u0670"  # superscript alef
    + "".join(map(chr, range(0x06D6, 0x06DD)))  # Quranic marks
    + "\u200e\u200f\u061c"  # bidi marks
    + "".join(map(chr, range(0x202A, 0x202F)))
    + "".join(map(chr, range(0x2060, 0x2070)))
    + "\u00ad\ufeff\ufe0e\ufe0f"
)
_DIGITS: Final = {chr(base + n): str(n) for base in (0x0660, 0x06F0) for n in range(10)}

FOLD: Final = str.maketrans({**_LETTERS, **_DIGITS, **dict.fromkeys(_DROPPED, ""), ZWJ: ZWNJ})
"""Table for `str.translate`: letter forms, both Arabic digit ranges, marks; ZWJ becomes ZWNJ."""

_ENDINGS: Final = (
    # Longest first, with the fewest letters that must stay.
    ("هایمان", 2),
    ("هایتان", 2),
    ("هایشان", 2),
    ("هایی", 2),
    ("هایم", 2),
    ("هایت", 2),
    ("هایش", 2),
    ("های", 2),
    ("ترین", 3),
    ("شان", 4),
    ("مان", 4),
    ("تان", 4),
    ("ها", 2),
    ("تر", 4),
    ("ام", 4),
    ("ات", 4),
    ("اش", 4),
    ("یی", 3),
    ("ی", 3),
)
_SUFFIXES: Final = frozenset(ending for ending, _ in _ENDINGS) | {"م", "ت", "ش", "ای", "اند"}
"""Endings that stand as a part of their own behind ZWNJ and carry no meaning to search for. Those
with an alef do so behind a heh only (خانه‌ام); elsewhere they are letter names (پی‌ام)."""
_PREFIXES: Final = frozenset({"می", "نمی"})

_COLLOQUIAL: Final = (
    ("امون", 3),
    ("اتون", 3),
    ("اشون", 3),
    ("هامو", 2),
    ("هاشو", 2),
    ("هاتو", 2),
    ("مون", 3),
    ("تون", 3),
    ("شون", 3),
    ("هام", 2),
    ("هاش", 2),
    ("هات", 2),
    ("ایی", 3),
    ("ای", 3),
    ("اش", 3),
    ("ام", 3),
    ("ات", 3),
    ("مو", 3),
    ("شو", 3),
    ("تو", 3),
    ("رو", 3),
    ("ا", 3),
    ("ه", 3),
    ("و", 3),
    ("م", 3),
    ("ش", 3),
    ("ت", 3),
)

_VERB: Final = re.compile(f"ن?م[ی\u064a]{ZWNJ}")

FILLERS: Final = frozenset(
    # Grammar words and the small talk of questions, folded, formal and spoken forms side by side.
    """
    و در به از که با برای را این ان آن یک یه هر هم تا بر اگر پس یا نیز اما ولی بی چون چه چی جز
    رو واسه توی تو داخل روی زیر بین پیش بعد قبل هنگام موقع وقتی زمانی حین طی درباره مورد
    من ما شما او وی ایشان انها اینها همین همان چند چندین خود خودم خودش خودمان
    است هست نیست بود شد شده شود میشود میشه نمیشه نمیشود شدن باشد باشه باشند هستند هستم کرد کرده
    کردن کند کنم کنیم کنید کنه کنن میکنم میکند میکنه میکنن میکنیم میکنید نمیکنه نمیکند بکنم بکنه
    دارد داره دارم دارند داریم دارید داشتن داشته ندارد نداره ندارم
    میخوام میخواهم میخوایم میخواهیم میخواد میخواهد خواستن بخوام بخواهم باید نباید شاید
    میتوانم میتوان میتونم میتوانید میتواند میتونه توانید توان نمیتونم نمیتوانم بتوانم بتونم
    چطور چطوری چجوری چگونه چرا چیکار چکار کجا کی کدام کدوم چقدر چیست چیه ایا
    لطفا مثلا مثل یعنی فقط خیلی بیشتر کمتر همه هیچ بعضی برخی دیگر دیگه دوباره الان حالا هنوز
    شیوه نحوه روش طریقه چگونگی راه کار کاری چیزی جای طور صورت
    ها های هایی ی ای ام ات اش تر ترین می نمی
    اینکه انکه زیرا بنابراین همچنین البته سپس ابتدا اینجا انجا اونجا اون اینا
    کنند دهید دهم بدم بده بدهم میده میدهد نمیده نمیدهد گرفتن بگیرم رفتن رفت
    """.split()
)


def stems(word: str) -> tuple[str, ...]:
    """Lighter forms of a folded, joined word: كتابها gives (كتاب,); at most two, longest first.

    They are added to the word, never put in its place, so an ending taken off wrongly costs
    little.
    """
    found = []
    bare = word
    for prefix in ("نمی", "می"):
        if word.startswith(prefix) and len(word) - len(prefix) >= 3:
            bare = word[len(prefix) :]
            found.append(bare)
            break
    for ending, least in _ENDINGS:
        if bare.endswith(ending) and len(bare) - len(ending) >= least:
            found.append(bare[: -len(ending)])
            break
    return tuple(found)


def is_verb(word: str) -> bool:
    """Whether a written word begins with می or نمی and ZWNJ, as only verbs do.

    Persian says what it is about in nouns and leans on them with light verbs (اجرا می‌کند).
    """
    return bool(_VERB.match(word))


def spoken_stems(word: str) -> tuple[str, ...]:
    """Forms left when spoken endings go (دیتابیسم, کاربرا, سایتو): guesses to be checked.

    Too loose for an index: a caller keeps those that the vocabulary knows.
    """
    return tuple(
        word[: -len(ending)]
        for ending, least in _COLLOQUIAL
        if word.endswith(ending) and len(word) - len(ending) >= least
    )


def pieces(word: str) -> tuple[str, ...]:
    """The meaningful parts of a folded word with ZWNJ: فایل‌سیستم‌ها gives (فایل, سیستم)."""
    parts = [part for part in word.split(ZWNJ) if part]
    kept = [
        part
        for before, part in zip(["", *parts], parts, strict=False)
        if not _is_ending(before, part) and (before or part not in _PREFIXES)
    ]
    return tuple(kept or parts)


def _is_ending(before: str, part: str) -> bool:
    if not before or part not in _SUFFIXES:
        return False
    return not part.startswith("ا") or before.endswith("ه")
