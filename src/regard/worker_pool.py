"""Worker processes: a pool that ends with its parent.

Workers ignore Ctrl-C, which their parent handles; they end with their parent, and are stopped when one of them fails.
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

_MAX_WORKERS = 61 if sys.platform == "win32" else 1024
"""The limit of a process pool."""


def num_cores() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes; if the block raises, running work is stopped and waiting work is dropped."""
    pool = ProcessPoolExecutor(min(count, _MAX_WORKERS), get_context("spawn"), initializer=_initialize_worker)
    try:
        yield pool
    except BaseException:
        running = list((pool._processes or {}).values())  # a pool has no other way to stop what runs
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.terminate()
        raise
    pool.shutdown()


def worker_killed() -> RegardError:
    """The error to raise when a worker was killed from outside."""
    return RegardError("a worker process was killed, perhaps for lack of memory; try again with --jobs 1")


def _initialize_worker() -> None:
    """In a new worker: use one thread, ignore Ctrl-C, end with the parent."""
    import torch

    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
