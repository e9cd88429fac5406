"""Every rule of corpus.toml, and what is said when one is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from refdesk.errors import ManifestError
from refdesk.manifest import DEFAULT_INCLUDE, LibraryEntry, load

GOOD = """\
version = 1

[[library]]
name = "Docs"
adapter = "markdown"
path = "docs"
"""


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "corpus" / "docs").mkdir(parents=True, exist_ok=True)
    file = tmp_path / "corpus.toml"
    file.write_text(text, encoding="utf-8")
    return file


def library(tmp_path: Path, *lines: str) -> Path:
    return written(tmp_path, "version = 1\n[[library]]\n" + "\n".join(lines))


def test_a_minimal_library_gets_the_defaults(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    manifest = load(file, tmp_path / "corpus")
    assert manifest.file == file
    assert manifest.root == tmp_path / "corpus"
    assert manifest.libraries == (
        LibraryEntry("Docs", "markdown", tmp_path / "corpus" / "docs", DEFAULT_INCLUDE),
    )


def test_every_key_is_read(tmp_path: Path) -> None:
    file = library(
        tmp_path,
        'name = "a.B_c-9"',
        'adapter = "markdown"',
        'path = "docs"',
        'include = ["**/*.md"]',
        'exclude = ["drafts/**"]',
        'base_url = "https://docs.example.com/v1"',
        "history = true",
    )
    (entry,) = load(file, tmp_path / "corpus").libraries
    assert entry == LibraryEntry(
        "a.B_c-9",
        "markdown",
        tmp_path / "corpus" / "docs",
        ("**/*.md",),
        ("drafts/**",),
        "https://docs.example.com/v1/",
        True,
    )


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "\ufeff" + GOOD)
    assert load(file, tmp_path / "corpus").libraries[0].name == "Docs"


REFUSED_FILES = {
    "no TOML": ("version = = 1", ["not valid TOML"]),
    "no version": (GOOD.replace("version = 1\n", ""), ["'version'", "missing", "version = 1"]),
    "a newer version": (GOOD.replace("version = 1", "version = 2"), ["'version'", "2"]),
    "version true": (GOOD.replace("version = 1", "version = true"), ["'version'"]),
    "an unknown top key": (GOOD.replace("[[library]]", "libary = 3\n[[library]]"), ["'libary'"]),
    "no library": ("version = 1\n", ["'library'", "[[library]]"]),
    "a plain table": ('version = 1\n[library]\nname = "x"\n', ["'library'", "[[library]]"]),
    "library of numbers": ("version = 1\nlibrary = [1]\n", ["'library'", "[[library]]"]),
    "two of one name": (GOOD + GOOD.replace("version = 1\n", ""), ["'Docs'", "'name'", "twice"]),
    "names that differ in case": (
        GOOD + GOOD.replace("version = 1\n", "").replace("Docs", "DOCS"),
        ["'DOCS'", "'name'", "twice"],
    ),
}


@pytest.mark.parametrize(("text", "said"), REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_a_bad_file_is_refused_by_name(tmp_path: Path, text: str, said: list[str]) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ManifestError) as refusal:
        load(file, tmp_path / "corpus")
    for part in [str(file), *said]:
        assert part in str(refusal.value)


REFUSED_KEYS = {
    "unknown": ("pth", "1", "did you mean 'path'"),
    "name empty": ("name", '""', "1-64"),
    "name with a slash": ("name", '"a/b"', "1-64"),
    "name with a newline": ("name", '"a\\n"', "1-64"),
    "name of dots": ("name", '".."', "1-64"),
    "name too long": ("name", f'"{"x" * 65}"', "1-64"),
    "name a number": ("name", "5", "1-64"),
    "adapter unknown": ("adapter", '"markdwon"', "did you mean 'markdown'"),
    "adapter reserved": ("adapter", '"zim"', "not served by this version"),
    "adapter a list": ("adapter", '["markdown"]', "unknown"),
    "path empty": ("path", '""', "not a path"),
    "path absolute": ("path", '"/etc"', "absolute"),
    "path outside": ("path", '"../corpus2"', "outside the corpus root"),
    "path through a folder and out": ("path", '"docs/../../x"', "outside the corpus root"),
    "path with NUL": ("path", '"a\\u0000b"', "not a path"),
    "path a number": ("path", "1", "not a path"),
    "include a string": ("include", '"*.md"', "list of patterns"),
    "include of numbers": ("include", "[1]", "list of patterns"),
    "include empty": ("include", "[]", "empty"),
    "include above": ("include", '["../*.md"]', "'..'"),
    "exclude absolute": ("exclude", '["/etc/*"]', "relative"),
    "base_url of another scheme": ("base_url", '"javascript:alert(1)"', "web address"),
    "base_url without host": ("base_url", '"https://"', "web address"),
    "base_url with a query": ("base_url", '"https://a.example/?q=1"', "web address"),
    "base_url with a password": ("base_url", '"https://u:p@a.example/"', "web address"),
    "base_url with a blank": ("base_url", '"https://a.example/a b"', "web address"),
    "base_url with a bad port": ("base_url", '"https://a.example:x/"', "web address"),
    "base_url a number": ("base_url", "4", "web address"),
    "history a string": ("history", '"yes"', "true or false"),
}


@pytest.mark.parametrize(("key", "value", "said"), REFUSED_KEYS.values(), ids=REFUSED_KEYS)
def test_a_bad_key_is_refused_with_file_library_and_key(
    tmp_path: Path, key: str, value: str, said: str
) -> None:
    lines = {"name": '"Docs"', "adapter": '"markdown"', "path": '"docs"', key: value}
    file = library(tmp_path, *(f"{name} = {text}" for name, text in lines.items()))
    with pytest.raises(ManifestError) as refusal:
        load(file, tmp_path / "corpus")
    label = "'Docs'" if key != "name" else "library"
    for part in (str(file), label, f"key {key!r}", said):
        assert part in str(refusal.value)


@pytest.mark.parametrize("key", ["name", "adapter", "path"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    lines = {"name": '"Docs"', "adapter": '"markdown"', "path": '"docs"'}
    del lines[key]
    file = library(tmp_path, *(f"{name} = {text}" for name, text in lines.items()))
    with pytest.raises(ManifestError, match=f"key '{key}': missing"):
        load(file, tmp_path / "corpus")


def test_a_missing_file_says_how_to_name_another(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="CORPUS_CONFIG"):
        load(tmp_path / "none.toml", tmp_path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD + "#" * (1024 * 1024))
    with pytest.raises(ManifestError, match="larger than"):
        load(file, tmp_path / "corpus")


def test_a_link_that_leaves_the_root_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD.replace('"docs"', '"link"'))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "corpus" / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ManifestError, match="outside the corpus root"):
        load(file, tmp_path / "corpus")


def test_a_link_inside_the_root_is_resolved(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD.replace('"docs"', '"link"'))
    (tmp_path / "corpus" / "link").symlink_to("docs")
    (entry,) = load(file, tmp_path / "corpus").libraries
    assert entry.path == tmp_path / "corpus" / "docs"


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD.replace('"docs"', '"loop"'))
    (tmp_path / "corpus" / "loop").symlink_to("loop")
    with pytest.raises(ManifestError, match="key 'path'"):
        load(file, tmp_path / "corpus")
