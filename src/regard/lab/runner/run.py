"""Experiments done: one, or all of them side by side.

In: experiments and the user's wishes. Out: a folder each, with ``result.json``, figures and ``page.html``; for all
of them a ``report.html``. What fails is told by name at the end, and takes nothing with it.
"""

import shutil
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from queue import Empty
from typing import Any

from regard.errors import RegardError
from regard.io import make_folder
from regard.lab.page import write_page, write_report
from regard.lab.runner.bench import Bench, one_thread, worker_died, workers
from regard.lab.runner.experiment import Experiment, Result, read_result, write_result
from regard.plots.figures.canvas import require_matplotlib

_GLANCE = 0.2
"""Seconds between two looks at what the workers say."""


@dataclass(frozen=True)
class Heard:
    """Something an experiment says while it works, or how it ended.

    Attributes:
        name: of the experiment.
        message: in a few words.
        result: where it is done.
        failed: where it cannot be: why.
    """

    name: str
    message: str
    result: Result | None = None
    failed: str = ""


Ear = Callable[[Heard], None]


def run_experiment(experiment: Experiment, bench: Bench, command: str) -> Result:
    """Do one experiment and write all it found.

    Args:
        experiment: what to do.
        bench: where, and how much of it.
        command: what to type to have it again.

    Raises:
        RegardError: something the user can mend.
    """
    require_matplotlib()
    make_folder(bench.folder)
    bench.voice("begun")
    started = time.perf_counter()
    with one_thread():
        finding = experiment.run(bench)
    result = write_result(
        bench.folder,
        experiment,
        finding,
        command=command,
        full=bench.full,
        seed=bench.seed,
        seconds=time.perf_counter() - started,
    )
    write_page(bench.folder / "page.html", result, bench.folder)
    return result


def run_all(
    experiments: Sequence[Experiment], bench: Bench, command: Callable[[str], str], ear: Ear
) -> list[Result]:
    """Do several experiments, as many at a time as the bench has jobs, and write one report.

    Those that measure time come first, each alone; the others follow, the longest first.

    Args:
        experiments: in the order of the report.
        bench: its folder holds theirs.
        command: what to type to have one of them again, by its name.
        ear: is told how it goes.

    Returns:
        The results of those that could be done, in the order of the report.

    Raises:
        RegardError: nothing can be written or drawn here.
    """
    require_matplotlib()
    make_folder(bench.folder)
    started = time.perf_counter()
    with get_context("spawn").Manager() as manager:
        shift = _Shift(bench, command, ear, manager.Queue())
        for each in experiments:
            if each.alone:
                shift.work([each])
        shift.work(sorted((each for each in experiments if not each.alone), key=lambda each: -each.seconds))
    results = [read_result(bench.folder / each.name) for each in experiments if each.name in shift.done]
    if results:
        seconds = time.perf_counter() - started
        write_report(bench.folder / "report.html", results, bench.folder, seconds=seconds, jobs=bench.jobs)
    return results


class _Shift:
    """Experiments given out to workers.

    Attributes:
        done: the names of those that have a result.
    """

    def __init__(self, bench: Bench, command: Callable[[str], str], ear: Ear, said: Any) -> None:
        self.done: set[str] = set()
        self._bench, self._command, self._ear, self._said = bench, command, ear, said

    def work(self, batch: Sequence[Experiment]) -> None:
        """Do some side by side; what a worker that was killed took with it is tried again, one at a time."""
        for each in self._side_by_side(batch):
            shutil.rmtree(self._bench.folder / each.name, ignore_errors=True)
            if self._side_by_side([each]):
                self._ear(Heard(each.name, "failed", failed=str(worker_died())))

    def _side_by_side(self, batch: Sequence[Experiment]) -> list[Experiment]:
        """Do some, and return those whose worker was killed, or had no worker any more."""
        if not batch:
            return []
        lost: list[Experiment] = []
        with workers(min(self._bench.jobs, len(batch))) as pool:
            waiting: dict[Future[Result], Experiment] = {}
            for each in batch:
                try:
                    waiting[self._submit(pool, each)] = each
                except BrokenProcessPool:
                    lost.append(each)
            while waiting:
                ended, _ = wait(waiting, timeout=_GLANCE, return_when=FIRST_COMPLETED)
                self._pass_on()
                for future in ended:
                    each = waiting.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        lost.append(each)
                    else:
                        self._end(each.name, future)
        return lost

    def _submit(self, pool: Executor, experiment: Experiment) -> "Future[Result]":
        voice = QueueVoice(self._said, experiment.name)
        own = replace(self._bench, folder=self._bench.folder / experiment.name, jobs=1, voice=voice)
        return pool.submit(run_experiment, experiment, own, self._command(experiment.name))

    def _end(self, name: str, future: "Future[Result]") -> None:
        heard = _ended(name, future)
        if heard.result is not None:
            self.done.add(name)
        self._ear(heard)

    def _pass_on(self) -> None:
        """Tell all that has been said since the last look."""
        while True:
            try:
                name, message = self._said.get_nowait()
            except Empty:
                return
            self._ear(Heard(name, message))


@dataclass(frozen=True)
class QueueVoice:
    """Says into a queue that crosses processes."""

    said: Any
    name: str

    def __call__(self, message: str) -> None:
        """Say it."""
        self.said.put((self.name, message))


def _ended(name: str, future: "Future[Result]") -> Heard:
    try:
        result = future.result()
    except RegardError as error:
        return Heard(name, "failed", failed=str(error))
    except Exception as error:  # a fault of ours, with its traceback; the other experiments go on
        return Heard(name, "failed", failed="".join(traceback.format_exception(error)))
    return Heard(name, result.verdict["word"], result)
