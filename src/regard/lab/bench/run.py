"""Experiments done: one, or all of them side by side.

In: experiments and the user's wishes. Out: a folder each, with ``result.json``, figures and ``page.html``; for all
of them a ``report.html``. What fails is told by name at the end, and takes nothing with it.
"""

import os
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from multiprocessing import get_context
from queue import Empty
from typing import Any

from regard.errors import RegardError
from regard.lab.bench.bench import Bench, use_one_thread
from regard.lab.bench.experiment import Experiment
from regard.lab.bench.result import Result, write_result
from regard.lab.page import write_page, write_report
from regard.output.pictures.canvas import require_matplotlib
from regard.whole_file import make_folder

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


def cores() -> int:
    """How many processes may work side by side here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    started = time.perf_counter()
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
    done: dict[str, Result] = {}
    context = get_context("spawn")
    with (
        context.Manager() as manager,
        ProcessPoolExecutor(bench.jobs, context, initializer=use_one_thread) as pool,
    ):
        said: Any = manager.Queue()
        started = time.perf_counter()

        def submit(experiment: Experiment) -> "Future[Result]":
            own = replace(
                bench,
                folder=bench.folder / experiment.name,
                jobs=1,
                voice=QueueVoice(said, experiment.name),
            )
            return pool.submit(run_experiment, experiment, own, command(experiment.name))

        def attend(batch: Iterable[Experiment]) -> None:
            waiting = {submit(each): each.name for each in batch}
            while waiting:
                ended, _ = wait(waiting, timeout=_GLANCE, return_when=FIRST_COMPLETED)
                _pass_on(said, ear)
                for each in ended:
                    name = waiting.pop(each)
                    heard = _ended(name, each)
                    if heard.result is not None:
                        done[name] = heard.result
                    ear(heard)

        try:
            for each in experiments:
                if each.alone:
                    attend([each])
            attend(sorted((e for e in experiments if not e.alone), key=lambda e: -e.seconds))
        except BaseException:
            for process in list(pool._processes.values()):  # a pool has no other way to stop what runs
                process.terminate()
            raise
    results = [done[each.name] for each in experiments if each.name in done]
    if results:
        write_report(bench.folder / "report.html", results, bench.folder, time.perf_counter() - started)
    return results


@dataclass(frozen=True)
class QueueVoice:
    """Says into a queue that crosses processes."""

    said: Any
    name: str

    def __call__(self, message: str) -> None:
        """Say it."""
        self.said.put((self.name, message))


def _pass_on(said: Any, ear: Ear) -> None:
    """Tell all that has been said since the last look."""
    while True:
        try:
            name, message = said.get_nowait()
        except Empty:
            return
        ear(Heard(name, message))


def _ended(name: str, future: "Future[Result]") -> Heard:
    try:
        result = future.result()
    except RegardError as error:
        return Heard(name, "failed", failed=str(error))
    except Exception as error:  # a fault of ours, with its traceback; the other experiments go on
        return Heard(name, "failed", failed="".join(traceback.format_exception(error)))
    return Heard(name, result.verdict["word"], result)
