from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from refdesk.backends.lexical import LexicalReader, LexicalWriter
from refdesk.ranking import analysis
from refdesk.ranking.plan import MOST_WORDS, plan

ZWNJ = "\u200c"
PAGES = {
    "docker": ("استقرار برنامه Docker", "برنامه خود را با Dockerfile بسازید و مستقر کنید."),
    "disk": ("ساخت دیسک", f"برای ذخیره{ZWNJ}سازی دائمی فایل{ZWNJ}ها یک دیسک بسازید."),
    "mongo": ("اتصال به MongoDB", "رشته اتصال را در متغیر MONGO_URL بگذارید."),
    "cli": ("ساخت باکت با CLI", "فرمان liara bucket:create را در ترمینال اجرا کنید."),
    "backup": ("Restore a backup", "Download the dump and restore it with pg_restore."),
    "cicd": ("CI/CD with GitHub", "Add a token to the secrets of the repository."),
    "errors": ("Too many redirects", "Fix ERR_TOO_MANY_REDIRECTS in WordPress behind the proxy."),
    "volumes": ("Filesystem", "The filesystem is read only; mount a volume for uploads."),
    "python": ("Python versions", "Python 3.11 is the default; set 3.12 in the settings file."),
    "wordpress": ("وردپرس", "استایل سایت پس از انتقال به هم ریخته است."),
    "logs": ("مشاهده لاگ‌های برنامه", "لاگ برنامه در کنسول دیده می‌شود."),
    "jp": ("依存関係", "レスポンスが送信される前に終了コードが実行されます。"),
    "kubernetes": ("Kubernetes clusters", "Nodes join the cluster with a token."),
}
Ask = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LexicalReader]:
    folder: Path = tmp_path_factory.mktemp("index")
    writer = LexicalWriter(folder)
    for number, (path, (title, body)) in enumerate(PAGES.items()):
        fields = analysis.fields(title=title, breadcrumb=(title,), path=f"{path}.md", body=body)
        writer.add(number, number, fields)
    writer.commit()
    writer.close()
    reader = LexicalReader(folder)
    yield reader
    reader.close()


@pytest.fixture
def ask(reader: LexicalReader) -> Ask:
    names = list(PAGES)

    def ask(query: str) -> list[str]:
        return [names[hit.document] for hit in reader.search(plan(query, reader), 10)]

    return ask


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("داکر", "docker"),
        ("دپلوی داکر", "docker"),
        ("ساخت دیسک", "disk"),
        ("ساخت دىسك", "disk"),
        ("دیسکم", "disk"),
        ("فایلا", "disk"),
        ("persistent storage", "disk"),
        ("مونگو", "mongo"),
        ("سی ال آی", "cli"),
        (f"سی{ZWNJ}ال{ZWNJ}آی", "cli"),
        ("بکاپ", "backup"),
        ("restor a backp", "backup"),
        ("cicd", "cicd"),
        ("ci cd", "cicd"),
        ("err_too_many_redirect", "errors"),
        ("file system", "volumes"),
        ("فایل سیستم", "volumes"),
        ("3.12", "python"),
        ("پایتون", "python"),
        ("ورد پرس", "wordpress"),
        ("wordpres redirects", "errors"),
        ("مشاهده لاک های برنامه", "logs"),
        ("依存関係", "jp"),
        ("終了コード", "jp"),
        ("kubrenets", "kubernetes"),
        ("nh;v", "docker"),
        ("شدی فاث یعئح", "backup"),
        ("how do I restore a backup", "backup"),
    ],
)
def test_what_was_meant_is_found_first(ask: Ask, query: str, page: str) -> None:
    assert ask(query)[0] == page


@pytest.mark.parametrize(
    "query", ["", "   ", "?!", "🙂", '""', "qwzxkv jjhgqz", "میز صندلی پنجره", "\0", "\ud800"]
)
def test_nonsense_finds_nothing(ask: Ask, query: str) -> None:
    assert ask(query) == []


def test_a_quoted_phrase_must_stand_as_it_is(ask: Ask) -> None:
    assert ask('"restore it"') == ["backup"]
    assert ask('"it restore"') == []
    assert ask('"終了コード"') == ["jp"]
    assert ask('token "GitHub"') == ["cicd"]


def test_other_signs_of_query_languages_are_only_signs(ask: Ask) -> None:
    for query in (
        "title:restore",
        "restore*",
        "+restore -backup",
        "restore AND NOT dump",
        "(restore",
    ):
        assert ask(query)[0] == "backup"
    assert ask('restore "backup')[0] == "backup"


def test_a_misspelt_query_carries_a_suggestion(reader: LexicalReader) -> None:
    assert plan("restore a bakcup", reader).suggestion == "restore a backup"
    assert plan("nh;v", reader).suggestion == "داکر"
    assert plan("restore a backup", reader).suggestion == ""
    assert plan("a bakcup: restore", reader).suggestion == "a backup: restore"


def test_a_quoted_query_suggests_itself_without_its_marks(reader: LexicalReader) -> None:
    assert plan('fix "it restore"', reader).suggestion == "fix it restore"


def test_filler_words_weigh_little_and_are_not_lost(reader: LexicalReader) -> None:
    groups = {group.word: group for group in plan("how to restore the backup", reader).groups}
    assert groups["the"].rarity < groups["backup"].rarity / 5
    assert groups["the"].clauses


def test_synonyms_can_be_left_out(reader: LexicalReader) -> None:
    with_them, without = plan("هارد", reader), plan("هارد", reader, synonyms=False)
    assert len(with_them.groups[0].clauses) > len(without.groups[0].clauses)


def test_only_the_first_words_count(reader: LexicalReader) -> None:
    assert len(plan("word " * 5_000, reader).groups) <= MOST_WORDS


@given(st.text(st.characters(exclude_categories=()), max_size=120))
@example("a" * 10_000)
@example("(a+)+$" * 500)
@example('"' * 999)
@example("ای " * 400)
@example("سی ال آی پی " * 100)
@example("\u202e" * 300 + "x")
@example("-" * 2_000)
@example("NEAR(a, b) col:x ^ {} [] ~0.5 /re/ \\")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_query_is_answered(reader: LexicalReader, query: str) -> None:
    start = time.perf_counter()
    found = reader.search(plan(query, reader), 10)
    assert time.perf_counter() - start < 2.0
    assert all(0.0 < hit.coverage <= 1.0 + 1e-9 for hit in found)
