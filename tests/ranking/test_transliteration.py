from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.ranking import analysis, transliteration

PAIRS = """
داکر/docker دپلوی/deploy دیپلوی/deploy ریداکس/redux انجینایکس/nginx سرور/server ورسل/vercel
وردپرس/wordpress کش/cache لاگ/log گیت/git ریورس/reverse پراکسی/proxy پولینگ/pooling میرور/mirror
کانکشن/connection باکت/bucket هلث/health سلری/celery مونگو/mongo جنگو/django پستگرس/postgres
کورس/cors لاراول/laravel وبهوک/webhook ردیس/redis کوبرنتیز/kubernetes کافکا/kafka ترافیک/traffic
فلاتر/flutter گیتهاب/github اسنپشات/snapshot نکست/next انگولار/angular فلسک/flask سوپابیس/supabase
الاستیک/elastic ماریا/maria استرپی/strapi گرافانا/grafana پرومتئوس/prometheus اکسپرس/express
جاوااسکریپت/javascript توکن/token کران/cron ورکر/worker دیتابیس/database بکاپ/backup ریستور/restore
والیوم/volume دامین/domain رکورد/record ایمیج/image کانتینر/container پروداکشن/production
لوکیشن/location یوزر/user پکیج/package پایتون/python فریمورک/framework فایروال/firewall آپدیت/update
ریپازیتوری/repository اندپوینت/endpoint هدر/header ایندکس/index مایگریشن/migration سشن/session
تایم‌اوت/timeout ارور/error تمپلیت/template کامپوننت/component استایل/style امبدینگ/embedding
کامپوز/compose آرتیزان/artisan ویندوز/windows اوبونتو/ubuntu پریزما/prisma سوپروایزر/supervisor
ریدایرکت/redirect وایلدکارد/wildcard سرتیفیکیت/certificate اینستنس/instance آیفریم/iframe
""".split()


@pytest.mark.parametrize("pair", PAIRS)
def test_a_word_and_its_persian_spelling_share_a_key_and_agree(pair: str) -> None:
    written, latin = pair.split("/")
    persian = analysis.normalize(written).replace("\u200c", "")
    assert set(transliteration.keys(persian)) & set(transliteration.keys(latin))
    assert transliteration.likeness(persian, latin) >= 0.8


@pytest.mark.parametrize(
    ("persian", "latin"),
    [
        ("پاک", "apache"),
        ("سرور", "sorry"),
        ("دستور", "duster"),
        ("عمومی", "mvvm"),
        ("پورت", "party"),
    ],
)
def test_words_that_sound_otherwise_do_not_agree(persian: str, latin: str) -> None:
    assert transliteration.likeness(persian, latin) < 0.7


@pytest.mark.parametrize("word", ["حذف", "ضبط", "خطا", "html", "c++", "日本語", "", "a1"])
def test_words_that_no_other_script_writes_have_no_keys(word: str) -> None:
    assert transliteration.keys(word) == ()


@pytest.mark.parametrize(
    ("spoken", "meant"),
    [
        ("سی ال ای", "cli"),
        ("ای پی ای", "api"),
        ("اس کیو ال", "sql"),
        ("ان ایت ان", "n8n"),
        ("جی اس", "js"),
    ],
)
def test_spoken_letters_spell_their_abbreviation(spoken: str, meant: str) -> None:
    words = ["ساخت", *spoken.split(), "برنامه"]
    runs = list(transliteration.spelled_out(words))
    assert [(start, end) for start, end, _ in runs] == [(1, len(words) - 1)]
    assert meant in runs[0][2]


def test_one_letter_name_alone_is_a_word() -> None:
    assert list(transliteration.spelled_out(["ساخت", "ای", "برنامه"])) == []


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert len(transliteration.keys(one)) <= 5
    assert 0.0 <= transliteration.likeness(one, other) <= 1.0
