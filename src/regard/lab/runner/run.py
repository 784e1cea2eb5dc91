"""Run experiments: one of them, or several in parallel.

In: experiments and a bench. Out: a folder each, with ``result.json``, figures and ``page.html``; for several also a
``report.html``. An experiment that fails is reported by name and does not stop the others.
"""

import shutil
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from queue import Empty
from typing import Any

from regard.errors import DataError, RegardError
from regard.io import make_folder
from regard.lab.runner.bench import Bench, one_thread
from regard.lab.runner.experiment import RESULT, Experiment, Result, read_result, write_result
from regard.lab.runner.page import write_overview, write_page
from regard.plots.figures.canvas import require_matplotlib
from regard.worker_pool import worker_killed, workers

_POLL_SECONDS = 0.2
"""Between two looks at the workers' messages."""


@dataclass(frozen=True)
class Status:
    """A progress message of an experiment, or how it ended.

    Attributes:
        name: of the experiment.
        message: in a few words.
        result: if it is done.
        failed: the reason, if it failed.
    """

    name: str
    message: str
    result: Result | None = None
    failed: str = ""


Listener = Callable[[Status], None]


@dataclass(frozen=True)
class QueueReporter:
    """A bench's reporter that puts (name, message) into a queue shared by processes."""

    messages: Any
    name: str

    def __call__(self, message: str) -> None:
        """Put a message into the queue."""
        self.messages.put((self.name, message))


def run_experiment(experiment: Experiment[Any], bench: Bench, command: str) -> Result:
    """Run one experiment and write its result and its page.

    Args:
        experiment: what to run.
        bench: where, and at which size.
        command: what to type to run it again.

    Raises:
        RegardError: something the user can correct.
    """
    require_matplotlib()
    make_folder(bench.folder)
    bench.report("started")
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


def finished(folder: Path, experiment: Experiment[Any], *, full: bool, seed: int) -> bool:
    """Whether a folder holds the result of this experiment.

    Args:
        folder: the experiment's own.
        experiment: which one.
        full: whether the longer run is wanted.
        seed: the first.

    Raises:
        DataError: it holds another result, or half of one.
    """
    if not (folder / RESULT).exists():
        return False
    result = read_result(folder)
    settings = "" if experiment.registration is None else experiment.registration.sha256
    if (result.name, result.full, result.seed, result.settings) == (experiment.name, full, seed, settings):
        return True
    raise DataError(
        f"{folder}: holds a result of other settings (seed {result.seed}, settings {result.settings[:12] or 'none'}); "
        "choose another folder"
    )


def run_all(
    experiments: Sequence[Experiment[Any]],
    bench: Bench,
    command: Callable[[str], str],
    listener: Listener,
    *,
    seed: int | None = None,
) -> list[Result]:
    """Run several experiments, as many at a time as the bench has jobs, and write one report.

    Those that measure time come first, each alone; the others follow, the longest first. An experiment whose result is
    in the folder already is not run again; what an interrupted one left there is removed.

    Args:
        experiments: in the order of the report.
        bench: its folder holds theirs; its seed is not used.
        command: what to type to run one of them again, by its name.
        listener: receives every `Status`.
        seed: the first of all experiments; by default each one's registered seed.

    Returns:
        The results of those that did not fail, in the order of the report.

    Raises:
        RegardError: nothing can be written or plotted here, or the folder has results of other settings.
    """
    require_matplotlib()
    make_folder(bench.folder)
    started = time.perf_counter()
    seeds = {each.name: each.seed if seed is None else seed for each in experiments}
    waiting = []
    for each in experiments:
        folder = bench.folder / each.name
        if finished(folder, each, full=bench.full, seed=seeds[each.name]):
            result = read_result(folder)
            listener(Status(each.name, result.verdict["word"], result))
        else:
            shutil.rmtree(folder, ignore_errors=True)
            waiting.append(each)
    with get_context("spawn").Manager() as manager:
        scheduler = _Scheduler(bench, command, listener, manager.Queue(), seeds)
        scheduler.done.update(each.name for each in experiments if each not in waiting)
        for experiment in waiting:
            if experiment.alone:
                scheduler.run([experiment])
        scheduler.run(sorted((each for each in waiting if not each.alone), key=lambda each: -each.seconds))
    results = [read_result(bench.folder / each.name) for each in experiments if each.name in scheduler.done]
    if results:
        seconds = time.perf_counter() - started
        write_overview(bench.folder / "report.html", results, bench.folder, seconds=seconds, jobs=bench.jobs)
    return results


class _Scheduler:
    """Distributes experiments over workers.

    Attributes:
        done: the names of those that have a result.
    """

    def __init__(
        self,
        bench: Bench,
        command: Callable[[str], str],
        listener: Listener,
        messages: Any,
        seeds: Mapping[str, int],
    ) -> None:
        self.done: set[str] = set()
        self._bench, self._command, self._listener, self._messages = bench, command, listener, messages
        self._seeds = seeds

    def run(self, experiments: Sequence[Experiment[Any]]) -> None:
        """Run some in parallel; those lost with a killed worker are tried again, one at a time."""
        for experiment in self._run_in_parallel(experiments):
            shutil.rmtree(self._bench.folder / experiment.name, ignore_errors=True)
            if self._run_in_parallel([experiment]):
                self._listener(Status(experiment.name, "failed", failed=str(worker_killed())))

    def _run_in_parallel(self, experiments: Sequence[Experiment[Any]]) -> list[Experiment[Any]]:
        """Run some; return those whose worker was killed, or that found no worker left."""
        if not experiments:
            return []
        lost: list[Experiment[Any]] = []
        with workers(min(self._bench.jobs, len(experiments))) as pool:
            waiting: dict[Future[Result], Experiment[Any]] = {}
            for experiment in experiments:
                try:
                    waiting[self._submit(pool, experiment)] = experiment
                except BrokenProcessPool:
                    lost.append(experiment)
            while waiting:
                ended, _ = wait(waiting, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
                self._forward_messages()
                for future in ended:
                    experiment = waiting.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        lost.append(experiment)
                        continue
                    status = _final_status(experiment.name, future)
                    if status.result is not None:
                        self.done.add(experiment.name)
                    self._listener(status)
        return lost

    def _submit(self, pool: Executor, experiment: Experiment[Any]) -> "Future[Result]":
        report = QueueReporter(self._messages, experiment.name)
        own = replace(
            self._bench,
            folder=self._bench.folder / experiment.name,
            seed=self._seeds[experiment.name],
            jobs=1,
            report=report,
        )
        return pool.submit(run_experiment, experiment, own, self._command(experiment.name))

    def _forward_messages(self) -> None:
        while True:
            try:
                name, message = self._messages.get_nowait()
            except Empty:
                return
            self._listener(Status(name, message))


def _final_status(name: str, future: "Future[Result]") -> Status:
    try:
        result = future.result()
    except RegardError as error:
        return Status(name, "failed", failed=str(error))
    except Exception as error:  # a bug, reported with its traceback; the other experiments go on
        return Status(name, "failed", failed="".join(traceback.format_exception(error)))
    return Status(name, result.verdict["word"], result)
