"""What a walk of a folder finds, and what it says of the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from refdesk.backends import files
from refdesk.manifest import DEFAULT_INCLUDE


def put(root: Path, path: str, text: str | bytes = "# x\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def walk(
    root: Path, include: tuple[str, ...] = DEFAULT_INCLUDE, exclude: tuple[str, ...] = ()
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    tree = files.walk(root, include, exclude)
    return list(tree.files), {skip.reason: skip.examples for skip in tree.skips.summary()}


def test_documents_of_every_kind_are_found_at_every_depth(tmp_path: Path) -> None:
    wanted = ["a.md", "b/c.mdx", "b/d/e.markdown", "f.adoc", "g.asciidoc", "h.txt", "I.MD"]
    for path in wanted:
        put(tmp_path, path)
    assert walk(tmp_path)[0] == sorted(wanted)


def test_what_is_left_out_is_named_with_its_reason(tmp_path: Path) -> None:
    put(tmp_path, "kept.md")
    put(tmp_path, "logo.png")
    put(tmp_path, ".obsidian/plugin.md")
    put(tmp_path, "node_modules/pkg/README.md")
    put(tmp_path, "empty.md", "")
    put(tmp_path, "drafts/later.md")
    put(tmp_path, "build/out.md")
    put(tmp_path, ".gitignore", "build/\n")
    found, skipped = walk(tmp_path, exclude=("drafts/**",))
    assert found == ["kept.md"]
    assert skipped == {
        files.NOT_INCLUDED: ("logo.png",),
        files.HIDDEN: (".gitignore", ".obsidian"),
        files.DEPENDENCIES: ("node_modules",),
        files.EMPTY: ("empty.md",),
        files.EXCLUDED: ("drafts",),
        files.IGNORED: ("build",),
    }


def test_gitignore_files_nest_and_can_take_back(tmp_path: Path) -> None:
    put(tmp_path, ".gitignore", "*.txt\n")
    put(tmp_path, "a.txt")
    put(tmp_path, "sub/.gitignore", "!b.txt\nc.md\n")
    put(tmp_path, "sub/b.txt")
    put(tmp_path, "sub/c.md")
    put(tmp_path, "c.md")
    assert walk(tmp_path)[0] == ["c.md", "sub/b.txt"]


def test_include_patterns_replace_the_default(tmp_path: Path) -> None:
    put(tmp_path, "guides/a.md")
    put(tmp_path, "notes/b.md")
    put(tmp_path, "guides/c.rst")
    assert walk(tmp_path, include=("guides/*.rst", "notes/**"))[0] == ["guides/c.rst", "notes/b.md"]


def test_a_link_to_a_document_gives_one_document(tmp_path: Path) -> None:
    put(tmp_path, "real.md")
    (tmp_path / "copy.md").symlink_to("real.md")
    found, skipped = walk(tmp_path)
    assert found == ["real.md"]
    assert skipped == {files.LINK_TWICE: ("copy.md",)}


def test_a_link_to_a_hidden_file_of_the_library_is_followed(tmp_path: Path) -> None:
    put(tmp_path, "..data/page.md")
    (tmp_path / "page.md").symlink_to("..data/page.md")
    assert walk(tmp_path)[0] == ["page.md"]


def test_links_that_leave_loop_or_lead_nowhere_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "library"
    put(root, "a.md")
    secret = put(tmp_path, "secret.md")
    (root / "out.md").symlink_to(secret)
    (root / "loop").symlink_to(".")
    (root / "self.md").symlink_to("self.md")
    found, skipped = walk(root)
    assert found == ["a.md"]
    assert skipped == {
        files.LINK_OUTSIDE: ("out.md",),
        files.LINKED_FOLDER: ("loop",),
        files.LINK_BROKEN: ("self.md",),
    }


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    assert walk(tmp_path) == (["a.md"], {files.NOT_REGULAR: ("pipe.md",)})
    with pytest.raises(OSError, match="regular"):
        files.read(tmp_path, "pipe.md")


def test_a_very_deep_folder_is_walked_to_its_end(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(300):
        folder = folder / "d"
        folder.mkdir()
    put(folder, "x.md")
    assert walk(tmp_path)[0] == ["d/" * 300 + "x.md"]


@pytest.mark.parametrize("name", ["two words.md", "line\nbreak.md", "100%25 #1?.md", "کتاب.md"])
def test_any_name_can_be_found_and_read(tmp_path: Path, name: str) -> None:
    put(tmp_path, name, "# here\n")
    assert walk(tmp_path)[0] == [name]
    assert files.read(tmp_path, name) == b"# here\n"


def test_a_name_that_is_no_text_can_be_found_and_read(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/caf\xe9.md"
    with open(raw, "wb") as stream:
        stream.write(b"# here\n")
    (name,) = walk(tmp_path)[0]
    assert files.read(tmp_path, name) == b"# here\n"


def test_reading_follows_no_path_out_of_the_library(tmp_path: Path) -> None:
    root = tmp_path / "library"
    put(root, "a.md")
    put(tmp_path, "secret.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    for path in ("../secret.md", "out.md", "/etc/passwd", "a.md/../../secret.md"):
        with pytest.raises(OSError):  # noqa: PT011 - any refusal will do
            files.read(root, path)


def test_a_file_that_grew_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 10)
    put(tmp_path, "big.md", "x" * 11)
    assert walk(tmp_path)[0] == []
    with pytest.raises(OSError, match="larger"):
        files.read(tmp_path, "big.md")


@pytest.mark.corpora
def test_every_tree_trap_is_covered_here(corpora: Path) -> None:
    cases = json.loads((corpora / "folders/traps/tree-cases.json").read_text(encoding="utf-8"))
    assert {case["id"] for case in cases["cases"]} == {
        "space_name", "newline_name", "percent_name", "symlink_inside", "symlink_dir_loop", "fifo",
        "hidden_dir", "node_modules", "case_twins", "empty", "nul_byte", "deep", "include_escape",
    }  # fmt: skip
