"""What a Markdown passage shows: the text of its lines, without what no reader should see."""

from __future__ import annotations

import pytest

from refdesk.reading import read


def shown(text: str, path: str = "page.md") -> str:
    parts = read(path, f"# T\n\n{text}").parts
    passages = [passage.text for part in parts for passage in part.passages]
    return "\n".join(passages).removeprefix("# T").strip()


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\n\n<!-- md:version 1 -->\n\nb", "a\n\nb"),
        ("<!--\nhidden\n\nstill\n-->\nb", "b"),
        ("a <!-- inline --> b", "a  b"),
        ("a <!-- over\nlines --> b", "a\n b"),
        ("<!-- one line --> tail", " tail".strip()),
        ("- item\n  <!-- in an item\n\n  # x\n  -->\n  text", "- item\n  text"),
        ("`<!-- shown -->`", "`<!-- shown -->`"),
        ("```\n<!-- shown -->\n<Tabs>\n```", "```\n<!-- shown -->\n<Tabs>\n```"),
        ("a\n\n    <!-- code -->", "a\n\n    <!-- code -->"),
        ("a <!-- never\n\nclosed", "a <!-- never\n\nclosed"),
        ("<!-- never\n\nclosed", ""),
        ("open <!-- here\n\nand --> there", "open <!-- here\n\nand --> there"),
        ("text <!-- opens\n```\ncode --> stays\n```", "text <!-- opens\n```\ncode --> stays\n```"),
        ("a {/* jsx */} b", "a  b"),
        ("<script>\nlet a\n\n</script>\nb", "b"),
        ("<style>\np {}\n</style>\n\nb", "b"),
        ("<pre>\n<b>kept</b>\n</pre>", "<pre>\n<b>kept</b>\n</pre>"),
        ("<?php echo 1 ?>\n\nb", "b"),
    ],
)
def test_comments_and_scripts_go_and_code_stays(text: str, clean: str) -> None:
    assert shown(text) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("import Tabs from '@theme/Tabs'\nimport B from \"b\";\n\nb", "b"),
        ("import {\n  a,\n  c\n} from 'x'\n\nb", "b"),
        ("import './style.css'\n\nb", "b"),
        ("export const meta = {\n  a: 1,\n\n  b: 2,\n}\n\nb", "b"),
        ("export default function X() {\n  return 1\n}\n\nb", "b"),
        ("import a from 'a'\n\n## Next", "## Next"),
        ("import duties are paid\nby the buyer", "import duties are paid\nby the buyer"),
        ("export your data first.", "export your data first."),
        ("text\nimport a from 'a'", "text\nimport a from 'a'"),
        ("```js\nimport a from 'a'\n```", "```js\nimport a from 'a'\n```"),
    ],
)
def test_mdx_imports_and_exports_go_and_prose_stays(text: str, clean: str) -> None:
    assert shown(text, "page.mdx") == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("<Tabs>\n<TabItem value='a' label='npm'>\n\nrun\n\n</TabItem>\n</Tabs>", "npm\n\nrun"),
        (
            '<Listing number="2-1" caption="Guess">\n\ntext\n\n</Listing>',
            "Listing 2-1 – Guess\n\ntext",
        ),
        ('<Card\n  title="Both lines"\n  href="/x"\n/>\n\nb', "Both lines\n\nb"),
        ('<div class="a"\n     id="b">\n\nb\n\n</div>', "b"),
        ('<a id="here"></a>\n\nb', "b"),
        ('<img src="a.png" alt="A chart">', "![A chart](a.png)"),
        (
            '<iframe\n  src="https://v.invalid/1"\n  title="Film"></iframe>',
            "[Film](https://v.invalid/1)",
        ),
        ("<https://example.invalid>", "<https://example.invalid>"),
        ("<b>bold</b> text", "<b>bold</b> text"),
        ("{{< note >}}\ntext\n{{< /note >}}", "text"),
        ("{% raw %}\ntext\n{% endraw %}", "text"),
        ("{{< new-in 0.154.0 />}}", "{{< new-in 0.154.0 />}}"),
        (
            '{% include note.html text="Mind the gap" %}',
            '{% include note.html text="Mind the gap" %}',
        ),
    ],
)
def test_lines_of_nothing_but_tags_become_what_they_say(text: str, clean: str) -> None:
    assert shown(text) == clean


def test_headings_are_shown_as_one_markdown_line() -> None:
    text = "Two\nlines\n---\n\n<h3>Tag</h3>\n\n### Marked ### {#x}\n"
    texts = [part.passages[0].text for part in read("page.md", text).parts]
    assert texts == ["## Two lines", "### Tag", "### Marked"]


def test_a_lead_with_nothing_to_show_is_no_part() -> None:
    text = "import A from 'a'\n\n<!-- c -->\n\n{{< note >}}\n\n# T\n"
    assert [part.title for part in read("page.mdx", text).parts] == ["T"]


def test_dropped_lines_still_count() -> None:
    text = "<!-- a\nb -->\nlead\n\nimport A from 'a'\n\n# T\n\n<!-- c -->\nend"
    lead, part = read("page.mdx", text).parts
    assert (lead.start, lead.end, lead.passages[0].text) == (1, 5, "lead")
    assert (part.start, part.end, part.passages[0].text) == (7, 10, "# T\n\nend")


def test_control_characters_in_a_page_forge_nothing() -> None:
    assert shown("a \0 b \x01 0 \x01 \x02") == "a \ufffd b \ufffd 0 \ufffd \ufffd"
