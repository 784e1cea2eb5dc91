"""Processes that work side by side, one thread each, and stop when they are told to.

In: how many. Out: a pool. Workers leave Ctrl-C to their parent, end when it ends, however it does, and are stopped
where the work that was given out fails.

The bench an experiment works at: where to put things, how much to do, and how to train a model.

In: the user's wishes. Out: model folders and whatever the experiment's own functions return. Every training runs
on one thread, in a process of its own where there are several cores, so equal seeds give equal numbers however
many cores there are.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from regard.datasets import Example
from regard.errors import RegardError
from regard.training.configure import configure
from regard.training.progress import Event, Progress
from regard.training.run import run_training

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


Arm = TypeVar("Arm")
Measured = TypeVar("Measured")
Choice = TypeVar("Choice")

Voice = Callable[[str], None]
"""Is told how far the work is, in a few words; crosses to other processes, so it must be picklable."""


def silence(message: str) -> None:
    """The voice that says nothing."""


@dataclass(frozen=True)
class Bench:
    """Where an experiment is done.

    Attributes:
        folder: the experiment's own; models go to ``models`` below it.
        full: whether the longer run was asked for.
        seed: the first; equal seeds give equal results.
        jobs: how many processes may work at once.
        text: what the user gave to look at, if anything.
        voice: who is told how far the work is.
    """

    folder: Path
    full: bool = False
    seed: int = 1
    jobs: int = 1
    text: str = ""
    voice: Voice = silence

    def choose(self, usual: Choice, full: Choice) -> Choice:
        """The size of something: as usual, or in the longer run."""
        return full if self.full else usual

    def seeds(self, count: int) -> list[int]:
        """So many seeds, from the first on."""
        return list(range(self.seed, self.seed + count))

    def train(
        self,
        name: str,
        config: Mapping[str, Any],
        train: Sequence[Example],
        valid: Sequence[Example],
        *,
        seed: int | None = None,
    ) -> Path:
        """Train a model on examples of a world.

        Args:
            name: of the model and its folder, such as "rnnsearch-30".
            config: as a configuration file would say it; its ``preset`` says of which task it is.
            train: what to learn from.
            valid: what to validate with.
            seed: of the weights and the order; by default the bench's.

        Returns:
            The model's folder.

        Raises:
            RegardError: the configuration cannot be used.
        """
        # on the processor always, so that the numbers do not depend on a GPU being there
        run = configure(config, {"training": {"device": "cpu", "seed": self.seed if seed is None else seed}})
        form = _FORMS[run.task]

        def listen(event: Event) -> None:
            if isinstance(event, Progress):
                share = "" if event.fraction is None else f", {100 * event.fraction:.0f} %"
                self.voice(f"training {name}{share}")

        path = self.folder / "models" / name
        with one_thread():
            trained = run_training(
                path, run, train=[form(e) for e in train], valid=[form(e) for e in valid], listener=listen
            )
        return trained.folder

    def each(self, work: Callable[["Bench", Arm], Measured], arms: Sequence[Arm]) -> list[Measured]:
        """Do the same for each arm of an experiment, side by side where `jobs` allows.

        Args:
            work: a function of a module (processes are sent its name), given a bench and an arm.
            arms: what it is done for; picklable, as are the results.

        Returns:
            The results, in the order of the arms.

        Raises:
            RegardError: one of them failed, or a worker was killed; the others are stopped.
        """
        single = replace(self, jobs=1)
        if self.jobs == 1 or len(arms) <= 1:
            with one_thread():
                return [work(single, arm) for arm in arms]
        with workers(min(self.jobs, len(arms))) as pool:
            try:
                waiting = [pool.submit(work, single, arm) for arm in arms]
                wait(waiting, return_when=FIRST_EXCEPTION)
                for each in waiting:
                    if each.done() and (error := each.exception()):
                        raise error
                return [each.result() for each in waiting]
            except BrokenProcessPool as error:
                raise worker_died() from error


_FORMS: dict[str, Callable[[Example], Any]] = {
    "translate": lambda e: (e.source, e.target),
    "language_model": lambda e: (e.source,),
    "classify": lambda e: (e.target, e.source),
    "tag": lambda e: (e.source, e.target),
    "caption": lambda e: (e.features, e.target),
}
"""By task: an example of a world as `run_training` takes it."""
