"""Pages made to be slow: twice the text takes about twice the time, never much more."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from refdesk.reading import plain, read

SIZE = 24_000
NOISE = 0.03  # seconds by which a busy machine may be off
MOST = 2.5

# fmt: off
REPEATED = [
    "# h\n", "## same\ntext\n\n", "[", "![[]()", "- ", "> ", "> - ", "`", "`a", "``a` ", "<", "<a ",
    '<a b="', "<!--", "<!-- \n", "{/*", "{{< a ", "{% a ", "*a ", "**a", "_a ", "__a_b ", "&amp;",
    "| a ", " ", "\t", "\n", "- ```\n", "```\n", "<div>\n", "<h1>\n", "import {\n", "[a\n", "\\",
    "data:", "data:image/png;base64,", "[a]: ", "[a]: /u\n", "a\n===\n", "- a\n  - b\n", "# #",
    "[a](b", "[[a|", "![](data:", "{#a}", '<a id="x"></a>\n', '!!! a "', "==a", "<Foo\n", "---\n",
    "\u200c", "a|b\n-|-\n", "<script>\n", " <!-- a --> ", "[a][", "(((", "* * ", "'",
    "export const a = {\n",
]
REPEATED_ASCIIDOC = [
    "= a\n", "== a\n\n", "a\n-\n\n", "[[a]]\n", "[a]\n", "ifdef::a[]\n", "endif::[]\n", "----\n",
    "====\n", "{a}", ":a: b\n", ":a: b \\\n", ":a: {a}{a}\n", "== {a}\n\n", "<<a,", "a:b[", "`+",
    "+a", "((", "|", "*a", "_a", "#a", '"`', "////\n", "include::a[]\n", "a::\n", "link:a[", "= a ",
    "-- \n", "tag::a[]\n",
]
# fmt: on


def seconds(work: Callable[[], object]) -> float:
    """CPU time of `work` alone: a collector at work looks at all that other tests left behind,
    the more often the more `work` makes."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def grows_in_step(work: Callable[[int], object]) -> bool:
    """Whether doubling costs at most MOST times as much; measured again before saying no."""
    once = twice = float("inf")
    for _ in range(6):
        once = min(once, seconds(lambda: work(1)))
        twice = min(twice, seconds(lambda: work(2)))
        if twice <= MOST * once + NOISE:
            return True
    return False


@pytest.mark.parametrize(
    ("path", "piece"),
    [("a.md", piece) for piece in REPEATED] + [("a.adoc", piece) for piece in REPEATED_ASCIIDOC],
)
def test_a_repeated_piece_costs_time_in_step_with_its_length(path: str, piece: str) -> None:
    def text(times: int) -> str:
        return piece * (times * SIZE // len(piece))

    assert grows_in_step(lambda times: read(path, text(times)))
    assert grows_in_step(lambda times: plain(text(times), path))


def nested_list(size: int) -> str:
    return "\n".join("  " * min(level, 200) + "- a" for level in range(size // 200))


def runs_of_ticks(size: int) -> str:
    return " ".join("`" * length for length in range(1, int((2 * size) ** 0.5)))


CONSTRUCTED: dict[str, Callable[[int], str]] = {
    "nested list by indentation": nested_list,
    "deep list, then blank lines": lambda n: "- " * (n // 4) + "a\n" + "\n" * (n // 2),
    "deep quote, then lazy lines": lambda n: "> " * (n // 4) + "a\n" + "b\n" * (n // 4),
    "tick runs of growing length": runs_of_ticks,
    "one part of many fences": lambda n: "# a\n" + "```\na\n```\n\n" * (n // 13),
    "one part of many comments": lambda n: "# a\n" + "<!-- a -->\n\n" * (n // 13),
    "one long fence": lambda n: "```\n" + "x = 1\n" * (n // 6),
    "one unclosed fence": lambda n: "# a\n```\n" + "# b\n" * (n // 4),
    "one unclosed comment": lambda n: "<!--\n" + "# b\n" * (n // 4),
    "comments that end together": lambda n: "a <!-- " * (n // 8) + "-->",
    "comments that never end": lambda n: "a <!-- b\n\n" * (n // 10) + "-->",
    "one long line": lambda n: "word " * (n // 5),
    "one long heading": lambda n: "# " + "[a" * (n // 2),
    "one long underlined paragraph": lambda n: "a b\n" * (n // 4) + "===\n",
    "spaces inside a title": lambda n: "= a" + " " * n + "b",
    "brackets in front matter": lambda n: "---\ntitle: " + "[" * n + "\n---\n",
    "titles in front matter": lambda n: "---\n" + "title: a\n" * (n // 9) + "---\n",
    "brackets in TOML": lambda n: "+++\na = " + "[" * n + "\n+++\n",
}


@pytest.mark.parametrize("name", CONSTRUCTED)
@pytest.mark.parametrize("path", ["a.md", "a.adoc", "a.txt"])
def test_a_constructed_page_costs_time_in_step_with_its_length(path: str, name: str) -> None:
    make = CONSTRUCTED[name]
    assert grows_in_step(lambda times: read(path, make(times * SIZE)))
    assert grows_in_step(lambda times: plain(make(times * SIZE), path))


def test_a_hundred_thousand_headings_are_as_many_parts() -> None:
    assert len(read("a.md", "# a\n" * 100_000).parts) == 100_000


def test_an_attribute_bomb_adds_a_megabyte_at_most() -> None:
    bomb = ":a: " + "x" * 900 + "\n\n" + "{a}" * 50_000
    size = sum(
        len(passage.text) for part in read("a.adoc", bomb).parts for passage in part.passages
    )
    assert size < len(bomb) + 1_100_000
