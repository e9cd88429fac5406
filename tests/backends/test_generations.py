"""An index is whole or it is not there, whatever happens to the process that builds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from refdesk.backends import generations
from refdesk.errors import Busy, OpenError


def build(home: Path, text: str) -> Path:
    with generations.writing(home):
        building = generations.begin(home)
        (building / "data").write_text(text, encoding="utf-8")
        return generations.publish(building)


def die_while_building(home: Path) -> None:
    with generations.writing(home):
        (generations.begin(home) / "data").write_text("half", encoding="utf-8")
        raise RuntimeError("died")


def test_nothing_is_current_before_the_first_build(tmp_path: Path) -> None:
    assert generations.current(tmp_path / "none") is None


def test_the_newest_published_generation_is_current(tmp_path: Path) -> None:
    build(tmp_path, "one")
    second = build(tmp_path, "two")
    assert generations.current(tmp_path) == second
    assert (second / "data").read_text(encoding="utf-8") == "two"


def test_the_one_before_stays_for_readers_that_are_opening_it(tmp_path: Path) -> None:
    built = [build(tmp_path, str(number)) for number in range(4)]
    assert [path.exists() for path in built] == [False, False, True, True]


def test_a_builder_that_dies_leaves_the_last_generation(tmp_path: Path) -> None:
    good = build(tmp_path, "good")
    with pytest.raises(RuntimeError, match="died"):
        die_while_building(tmp_path)
    assert generations.current(tmp_path) == good
    assert list(tmp_path.glob("*.tmp"))
    build(tmp_path, "next")
    assert not list(tmp_path.glob("*.tmp"))


def test_a_generation_finished_but_never_pointed_at_is_swept_away(tmp_path: Path) -> None:
    build(tmp_path, "good")
    (tmp_path / "gen-00000002").mkdir()
    latest = build(tmp_path, "next")
    assert (latest / "data").read_text(encoding="utf-8") == "next"
    assert generations.current(tmp_path) == latest


@pytest.mark.parametrize("text", ["", "../../etc", "gen-1", "gen-00000009", "\xff"])
def test_a_pointer_to_anything_else_counts_as_no_index(tmp_path: Path, text: str) -> None:
    (tmp_path / generations.CURRENT).write_bytes(text.encode("latin-1"))
    assert generations.current(tmp_path) is None


def test_two_cannot_write_one_library(tmp_path: Path) -> None:
    with (
        generations.writing(tmp_path / "lib"),
        pytest.raises(Busy, match="lib is being indexed"),
        generations.writing(tmp_path / "lib"),
    ):
        pass


HOLD = """
import signal, sys
from pathlib import Path
from refdesk.backends import generations
with generations.writing(Path(sys.argv[1])):
    print("ready", flush=True)
    signal.pause()
"""


def test_a_killed_writer_frees_the_library(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        with pytest.raises(Busy), generations.writing(tmp_path):
            pass
        writer.kill()
    with generations.writing(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OpenError, match="DATA_DIR"), generations.writing(tmp_path / "file/lib"):
        pass


def test_linked_files_share_their_bytes_until_one_is_replaced(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.mkdir()
    (source / "segment").write_text("old", encoding="utf-8")
    generations.link_tree(source, tmp_path / "b")
    new = tmp_path / "b" / "new"
    new.write_text("new", encoding="utf-8")
    new.replace(tmp_path / "b" / "segment")
    assert (source / "segment").read_text(encoding="utf-8") == "old"
    assert (tmp_path / "b" / "segment").read_text(encoding="utf-8") == "new"
