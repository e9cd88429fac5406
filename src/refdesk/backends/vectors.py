"""Vectors of texts, kept in one folder by the hash of the text in -> likeness scores out.

    DATA_DIR/<library>/dense/
        vectors    complete: a line of JSON (format, model, width, corpus), then the rows
        journal    the same, written row by row while vectors are computed
        LOCK       held (flock) by the one process that computes

A row is the SHA-256 of the text and its vector, little-endian float32. `vectors` is replaced by a
rename; a `journal` that was cut short by a crash is good up to its last whole row.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

import numpy as np
from numpy.typing import NDArray

from refdesk.errors import Unavailable

Matrix = NDArray[np.float32]

FORMAT: Final = 1
VECTORS: Final = "vectors"
JOURNAL: Final = "journal"
_KEY_BYTES: Final = 32
_HEADER_BYTES: Final = 4096
_UNIT: Final = 0.01
"""A row whose length is further from 1 than this was not written by us."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What vectors were made by and for: `corpus` is the hash of every text's hash."""

    model: str
    width: int
    corpus: str


def key(text: str) -> bytes:
    """The name of a text's vector."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def corpus(keys: Iterable[bytes]) -> str:
    """The hash of a set of texts, whatever their order."""
    return hashlib.sha256(b"".join(sorted(set(keys)))).hexdigest()


class Store:
    """The vectors of one library, made by one model."""

    def __init__(self, folder: Path, model: str) -> None:
        self._folder = folder
        self._model = model
        self.corpus = ""
        """The texts that the complete file was made for; "" when there is none to use."""

    def load(self) -> dict[bytes, Matrix]:
        """Every usable vector by its text's key: none made by another model, none damaged."""
        self.corpus = ""
        rows: dict[bytes, Matrix] = {}
        for name in (VECTORS, JOURNAL):
            stamp, found = _read(self._folder / name)
            if stamp is None or stamp.model != self._model:
                continue
            if rows and len(next(iter(rows.values()))) != stamp.width:
                continue
            if name == VECTORS:
                self.corpus = stamp.corpus
            rows.update(found)
        return rows

    def note(self, keys: Sequence[bytes], matrix: Matrix) -> None:
        """Append rows to the journal, durably.

        Raises:
            Unavailable: the folder cannot be written.
        """
        try:
            with (self._folder / JOURNAL).open("r+b" if self._continues(matrix) else "wb") as file:
                _append(file, Stamp(self._model, matrix.shape[1], ""), keys, matrix)
        except OSError as error:
            raise Unavailable(_unwritable(self._folder, error)) from None

    def publish(self, rows: Mapping[bytes, Matrix]) -> None:
        """Make `rows` the complete file in one step and drop the journal.

        Raises:
            Unavailable: the folder cannot be written.
        """
        keys = list(rows)
        matrix = np.array([rows[one] for one in keys], dtype=np.float32)
        stamp = Stamp(self._model, matrix.shape[1], corpus(keys))
        building = self._folder / f"{VECTORS}.tmp"
        try:
            with building.open("wb") as file:
                _append(file, stamp, keys, matrix)
            building.replace(self._folder / VECTORS)
            (self._folder / JOURNAL).unlink(missing_ok=True)
            _sync(self._folder)
        except OSError as error:
            raise Unavailable(_unwritable(self._folder, error)) from None
        self.corpus = stamp.corpus

    def forget(self) -> None:
        """Drop every vector that is stored."""
        for name in (VECTORS, JOURNAL):
            (self._folder / name).unlink(missing_ok=True)
        self.corpus = ""

    def _continues(self, matrix: Matrix) -> bool:
        """Whether the journal that is there can take these rows."""
        stamp, _ = _header(self._folder / JOURNAL)
        return stamp is not None and (stamp.model, stamp.width) == (self._model, matrix.shape[1])


class Likeness:
    """The vectors of a library's pages, ready to be compared with a query's."""

    def __init__(self, pages: Sequence[str], matrix: Matrix) -> None:
        """`matrix`: one row for each page. The mean of a page's unit vectors scores like the mean
        of their scores."""
        self.pages = tuple(pages)
        self._matrix = matrix

    @classmethod
    def of(cls, pages: Sequence[str], vectors: Sequence[Sequence[Matrix]]) -> Self:
        """The likeness of pages that have several vectors each, the same number for every page."""
        return cls(pages, np.array([np.mean(several, axis=0) for several in vectors], np.float32))

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self._matrix.shape[1])

    def nearest(self, query: Matrix, least: float) -> dict[str, float]:
        """Page -> by how many standard deviations its likeness lies above the library's mean.

        Only pages with more than `least`. Exact: every page is looked at, in one product.
        """
        if len(self.pages) < 2:
            return {}
        scores = self._matrix @ query
        spread = float(scores.std())
        if spread < 1e-6:
            return {}
        deviations = (scores - scores.mean()) / spread
        chosen = np.flatnonzero(deviations > least)
        return {self.pages[number]: float(deviations[number]) for number in chosen.tolist()}


def _append(file: BinaryIO, stamp: Stamp, keys: Sequence[bytes], matrix: Matrix) -> None:
    """Write rows behind the last whole one, with a header in front of the first."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        header = json.dumps({"format": FORMAT, **asdict(stamp)}, separators=(",", ":"))
        file.write(header.encode("ascii") + b"\n")
    else:
        file.seek(0)
        start = len(file.readline(_HEADER_BYTES))
        row = _KEY_BYTES + 4 * stamp.width
        file.seek(start + (size - start) // row * row)
        file.truncate()
    table = np.empty(len(keys), dtype=_row(stamp.width))
    table["key"] = np.frombuffer(b"".join(keys), dtype=f"V{_KEY_BYTES}")
    table["vector"] = matrix
    file.write(table.tobytes())
    file.flush()
    os.fsync(file.fileno())


def _read(file: Path) -> tuple[Stamp | None, dict[bytes, Matrix]]:
    """The stamp and the sound rows of a file; None and {} when it is missing or not ours."""
    stamp, start = _header(file)
    if stamp is None:
        return None, {}
    kind = _row(stamp.width)
    try:
        body = file.read_bytes()[start:]
    except OSError:
        return None, {}
    table = np.frombuffer(body[: len(body) // kind.itemsize * kind.itemsize], dtype=kind)
    vectors = table["vector"].astype(np.float32)
    with np.errstate(all="ignore"):
        sound = np.abs(np.linalg.norm(vectors, axis=1) - 1.0) < _UNIT
    return stamp, {
        bytes(table["key"][number]): vectors[number] for number in np.flatnonzero(sound).tolist()
    }


def _header(file: Path) -> tuple[Stamp | None, int]:
    """The stamp of a file and where its rows begin."""
    try:
        with file.open("rb") as stream:
            line = stream.readline(_HEADER_BYTES)
        fields = json.loads(line)
        if fields.pop("format") != FORMAT:
            return None, 0
        stamp = Stamp(**fields)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, 0
    sound = isinstance(stamp.width, int) and 0 < stamp.width <= 8192
    return (stamp if sound else None), len(line)


def _row(width: int) -> np.dtype[np.void]:
    return np.dtype([("key", f"V{_KEY_BYTES}"), ("vector", "<f4", (width,))])


def _unwritable(folder: Path, error: OSError) -> str:
    return f"the vectors in {folder} cannot be written ({error.strerror or type(error).__name__})"


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems refuse fsync on folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
