"""Passages as words: what an index and a snippet should hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.reading import plain


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## Title ##\n\ntext", "Title ##\n\ntext"),
        (
            "**bold**, __strong__, *it*, _em_, ~~gone~~, ==marked==",
            "bold, strong, it, em, gone, marked",
        ),
        ("**a *b* c**", "a b c"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("`__init__(*args)` and ``a ` b``", "__init__(*args) and a ` b"),
        ("```py\n**kwargs  # <b>\n```\nend", "**kwargs  # <b>\nend"),
        ("> ```\n> a > b\n> ```", "a > b"),
        ("~~~\nnever *closed*", "never *closed*"),
        ("[text](http://x.invalid 'title') [ref][id] [short]", "text ref short"),
        ("[a (b)](u(v)) [x[1]](y)", "a (b) x[1]"),
        ("![alt](a.png) [![badge](b.svg)](ci) ![](c.png)", "alt badge"),
        ("[[Page]] and [[Page|shown]] and ![[pic.png]]", "Page and shown and pic.png"),
        ("[id]: http://x.invalid 'title'\ntext", "text"),
        ("note[^1]\n\n[^1]: the note", "note\n\nthe note"),
        ("<b>bold</b> <kbd>Ctrl</kbd>a<br>b", "bold Ctrla b"),
        ("<https://x.invalid/a> <me@x.invalid>", "https://x.invalid/a me@x.invalid"),
        ('<img src="a.png" alt="A chart"> <!-- no -->', "A chart"),
        ("- a\n* b\n+ [ ] c\n1. d", "a\nb\nc\n1. d"),
        ("> quoted\n> > twice", "quoted\ntwice"),
        ("> [!NOTE]\n> Mind", "Mind"),
        ('!!! warning "Do not skip"\n\n    Body', "Do not skip\n\nBody"),
        ('??? note\n    Body\n=== "Linux"', "Body\nLinux"),
        (":::caution Mind the gap\ntext\n:::", "Mind the gap\ntext"),
        ("/// note | Details\ntext\n///", "Details\ntext"),
        ("| a | b |\n|---|:-:|\n| c | d |", "a b\n\nc d"),
        ("a\n\n---\n\nb\n\n***", "a\n\nb"),
        ('{{< note >}}x{{< /note >}} {{< ref "x.md" >}}', "x x.md"),
        ('{{< figure src="/a.png" caption="The big one" >}}', "The big one"),
        ("{{#include ../x.rs}} {* ../y.py *}", "{* ../y.py *}"),
        ("{* ../y.py hl[1] *}\n--8<-- 'z.md'\nend", "end"),
        ("Text {#id .c}\n{ .annotate }", "Text"),
        ("\\*literal\\* \\[x\\](y)", "*literal* [x](y)"),
        ("a &amp; b &lt;T&gt;", "a & b <T>"),
        ("pic ![x](data:image/png;base64,AAAA) data:text/html,<b>", "pic x"),
        (":material-check: done", "done"),
        ("میخواهم **سلام**", "میخواهم سلام"),
        ("", ""),
    ],
)
def test_markdown_keeps_its_words_and_loses_its_marks(text: str, words: str) -> None:
    assert plain(text, "a.md") == words
    assert plain(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("== Title\n\ntext", "Title\n\ntext"),
        ("[source,rb]\n----\n*a* <1>\n----\n<1> call", "*a*\ncall"),
        ("*b* _i_ `c` #m# H~2~O x^2^ **un**bold", "b i c m H2O x2 unbold"),
        ('`+{a}+` +lit+ "`q`"', '{a} lit "q"'),
        ("link:http://x.invalid[Click] https://x.invalid[X^] xref:a.adoc#b[B]", "Click X B"),
        ("<<id,See>> <<other>> [[anchor]]text", "See other text"),
        ("image::a.png[Alt,200] icon:x[] kbd:[F1]", "Alt F1"),
        ("linkgit:git-add[1] (((a,b))) ((shown))", "git-add(1) shown"),
        (".Caption\n|===\n|a |b\n2+|c\n|===", "Caption\n\na b\nc"),
        ("term:: def +\nnext", "term: def\nnext"),
        ("* a\n** [x] b\n. c\n\nNOTE: mind", "a\nb\nc\n\nmind"),
        ("[.path]_x.html_ [discrete]", "x.html [discrete]"),
        ("a &amp; b", "a & b"),
        ("====\ninside\n====\n'''", "inside"),
    ],
)
def test_asciidoc_keeps_its_words_and_loses_its_marks(text: str, words: str) -> None:
    assert plain(text, "a.adoc") == words


def test_a_text_file_is_left_as_it_is() -> None:
    assert plain(" *a* <b>\n  c\n", "a.txt") == "*a* <b>\n  c"


@given(st.text("ab*_`[]()<>!#|-~={}\\:&;\n \"'/+^$.1", max_size=80))
def test_no_text_breaks_it_and_plain_words_come_through(text: str) -> None:
    for path in ("a.md", "a.adoc"):
        assert isinstance(plain(text, path), str)
        assert plain("word " + "other", path) == "word other"


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=8), min_size=1, max_size=20))
def test_words_without_markup_are_kept(words: list[str]) -> None:
    text = " ".join(words)
    assert plain(text, "a.md") == plain(text, "a.adoc") == text
