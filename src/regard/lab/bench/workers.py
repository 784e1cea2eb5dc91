"""Processes that work side by side, one thread each, and stop when they are told to.

In: how many. Out: a pool. Workers leave Ctrl-C to their parent, end when it ends, however it does, and are stopped
where the work that was given out fails.
"""

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread

from regard.errors import RegardError

_MOST = 61 if sys.platform == "win32" else 1024
"""More than that a pool does not take there."""


def cores() -> int:
    """How many processes may work side by side here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes; on the way out by an exception, what runs is stopped and what waits is dropped.

    Args:
        count: how many; no more than a pool takes.
    """
    pool = ProcessPoolExecutor(min(count, _MOST), get_context("spawn"), initializer=_begin)
    try:
        yield pool
    except BaseException:
        running = list((pool._processes or {}).values())  # a pool has no other way to stop what runs
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.terminate()
        raise
    pool.shutdown()


def worker_died() -> RegardError:
    """What to say when a worker was killed from outside."""
    return RegardError("a worker process was killed, perhaps for want of memory; try again with --jobs 1")


def _begin() -> None:
    """In a new worker: one thread, no ear for Ctrl-C, and an end when the parent has ended."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch's products of this process to one thread for a while."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
