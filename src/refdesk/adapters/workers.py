"""Calls in, their results in the same order out: made by processes, one a core."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.connection import wait
from typing import Final, TypeVar

Result = TypeVar("Result")

CORES: Final = os.cpu_count() or 1
_AHEAD: Final = 4
"""Calls handed out per core before results are taken: bounds what waits in memory."""


def each(
    work: Callable[..., list[Result]], calls: Iterable[tuple[object, ...]]
) -> Iterator[Result]:
    """The results of `work`, a function of a module, called with each of the argument tuples.

    The fork server imports that module once for all workers. They are not forked from this
    process, which may run threads (a server does), and they end when it does, however that is.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__])
    with ProcessPoolExecutor(CORES, context, initializer=_follow_parent) as pool:
        pending: deque[Future[list[Result]]] = deque()
        for arguments in calls:
            pending.append(pool.submit(work, *arguments))
            if len(pending) > CORES * _AHEAD:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()


def _follow_parent() -> None:
    """Workers hold both ends of their own queue: a parent killed with SIGKILL would leave them
    waiting for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()


def _leave_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
