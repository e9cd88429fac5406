from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.ranking import analysis

ZWNJ = "\u200c"
texts = st.text(st.characters(exclude_categories=()), max_size=60)


def met(one: str, other: str) -> bool:
    """Whether a text written one way is found by the other."""
    return bool(set(analysis.terms(one)) & set(analysis.terms(other)))


@given(texts)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = analysis.normalize(text)
    assert analysis.normalize(once) == once


@given(texts)
def test_any_text_gives_tokens_that_an_index_can_hold(text: str) -> None:
    made = analysis.fields(title=text, breadcrumb=(text,), path=text, body=text, tags=(text,))
    assert tuple(made) == analysis.FIELDS
    for tokens in made.values():
        tokens.encode("utf-8")
        assert "\0" not in tokens


@given(texts)
def test_a_text_is_found_by_itself(text: str) -> None:
    text = unicodedata.normalize("NFKC", text)
    fields = analysis.fields(title="", breadcrumb=(), path="", body=text)
    held = set(fields["body"].split())
    for _, _, word in analysis.surface(text):
        assert set(analysis.word_terms(word)) <= held


@given(texts)
def test_words_are_cut_from_the_text_itself(text: str) -> None:
    for start, end, word in analysis.surface(text):
        assert text[start:end] == word != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (".NET", "NET."),
        ("NET.", "dot net"),
        (".env", "env."),
        ("Node.js", "nodejs"),
        ("NodeJS", "node.js"),
        ("don't", "dont"),
        ("don\u2019t", "don't"),
        ("user's", "users"),
        ("file-system", "filesystem"),
        ("file-system", "file system"),
        ("utf-8", "UTF8"),
        ("CI/CD", "cicd"),
        ("healthCheck", "health check"),
        ("healthCheck", "healthcheck"),
        ("XMLHttpRequest", "http"),
        ("target_link_libraries", "link library"),
        ("json.dumps", "dumps"),
        ("liara.json", "liara"),
        ("python3.11", "3.11"),
        ("3.11.2", "3.11"),
        ("python3", "Python"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("deploying", "deployed"),
        ("Müller", "Muller"),
        ("Müller", "Mu\u0308ller"),
        ("STRASSE", "straße"),
        ("зависимости", "зависимостей"),
        ("의존성을", "의존성"),
        ("依存関係を追加", "依存関係"),
        ("การติดตั้ง", "ติดตั้ง"),
        ("हिन्दी", "हिन्दी"),
        ("Ｆａｓｔ", "fast"),
        (f"فایل{ZWNJ}سیستم", "فایلسیستم"),
        (f"فایل{ZWNJ}سیستم", "فایل سیستم"),
        (f"برنامه{ZWNJ}های", "برنامه"),
        ("برنامههای", f"برنامه{ZWNJ}ها"),
        ("برنامه های", "برنامه"),
        ("كليد", "کلید"),
        ("آپلود", "اپلود"),
        ("ارائه", "ارایه"),
        ("خانۀ", "خانه"),
        ("كتـــاب", "کتاب"),
        ("مُحَمَّد", "محمد"),
        ("۲۵", "25"),
        ("٢٥", "۲۵"),
        ("\u200fکلید\u200e", "کلید"),
    ],
)
def test_spellings_of_one_thing_meet(one: str, other: str) -> None:
    assert met(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C"), ("C#", "C++"), ("3.11", "11.3"), ("node", "code"), ("依存", "関係")],
)
def test_different_things_stay_apart(one: str, other: str) -> None:
    assert not met(one, other)


def test_scripts_without_spaces_are_cut_into_pairs_that_a_snippet_can_mark() -> None:
    assert [word for _, _, word in analysis.surface("Use 依存関係")] == [
        "Use",
        "依存",
        "存関",
        "関係",
    ]


def test_an_address_is_found_by_its_words() -> None:
    held = analysis.terms("https://docs.example.ir/cloud/disks/about/?a=1#b")
    assert {"cloud", "disk", "about", "exampl"} <= set(held)


def test_the_path_counts_without_its_ending_and_index_name() -> None:
    fields = analysis.fields(title="T", breadcrumb=(), path="cloud/django/index.md", body="")
    assert fields["slug"].split() == ["cloud", "django"]


def test_a_title_that_is_also_the_first_heading_counts_once() -> None:
    fields = analysis.fields(title="Disks", breadcrumb=("Disks", "Resize"), path="d.md", body="")
    assert fields["head"].split() == ["disk", "resiz"]


def test_tags_count_as_headings() -> None:
    fields = analysis.fields(title="T", breadcrumb=(), path="", body="", tags=("storage",))
    assert "storag" in fields["head"].split()


def test_a_quoted_phrase_is_made_of_plain_spellings_in_order() -> None:
    assert analysis.exact_terms("Define a *path operation*: liara.json") == [
        "define", "a", "path", "operation", "liara", "json",
    ]  # fmt: skip


def test_a_run_of_data_is_no_endless_token() -> None:
    assert all(len(term) <= 64 for term in analysis.terms("iVBORw0KGgo" * 5_000))


def test_marks_belong_to_their_word() -> None:
    assert [word for _, _, word in analysis.surface("cafe\u0301 हिन्दी")] == ["cafe\u0301", "हिन्दी"]
