"""The bench an experiment runs on: its folder, its seed, its worker processes, and how it trains a model.

In: the user's options. Out: model folders, and whatever the experiment's own functions return. Every training runs on
one thread of the CPU, in its own process where there are several cores, so equal seeds give equal numbers on any number
of cores. Workers ignore Ctrl-C, which their parent handles; they end with their parent, and are stopped when one of
them fails. The bench knows nothing of claims and verdicts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from regard.datasets import Example
from regard.training.configure import configure
from regard.training.progress import Event, Progress, ignore
from regard.training.run import run_training
from regard.worker_pool import worker_killed, workers


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread inside the block."""
    from regard.device import threads_set_to  # imports torch

    with threads_set_to(1):
        yield


Measured = TypeVar("Measured")

Reporter = Callable[[str], None]
"""Takes a short progress message. It is sent to other processes, so it must be picklable."""


def train_for(updates: int, **options: Any) -> dict[str, Any]:
    """The ``training`` section of a configuration: exactly this many updates, validated once, at the end.

    Args:
        updates: of the optimizer.
        options: further fields of the section.
    """
    return {"max_epochs": 0, "max_updates": updates, "validate_every": updates, **options}


@dataclass(frozen=True)
class Bench:
    """Where an experiment runs.

    Attributes:
        folder: the experiment's own; models go to ``models`` below it.
        full: whether to run at the full size.
        seed: the first; equal seeds give equal results.
        jobs: the number of processes that may run at once.
        text: the user's own text, if any.
        report: receives progress messages.
    """

    folder: Path
    full: bool = False
    seed: int = 1
    jobs: int = 1
    text: str = ""
    report: Reporter = ignore

    def seeds(self, count: int) -> list[int]:
        """The first `count` seeds, from the bench's own on."""
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
        """Train a model on examples of a dataset.

        Args:
            name: of the model and its folder, such as "rnnsearch-30".
            config: as in a configuration file; its ``preset`` determines the task.
            train: the training examples.
            valid: the validation examples.
            seed: of the weights and the order of the batches; by default the bench's.

        Returns:
            The model's folder.

        Raises:
            RegardError: the configuration cannot be used.
        """
        # always on the CPU, so that the numbers do not depend on whether there is a GPU
        run = configure(config, {"training": {"device": "cpu", "seed": self.seed if seed is None else seed}})
        to_training_example = _TRAINING_EXAMPLES[run.task]

        def listen(event: Event) -> None:
            if isinstance(event, Progress):
                share = "" if event.fraction is None else f", {100 * event.fraction:.0f} %"
                self.report(f"training {name}{share}")

        with one_thread():
            trained = run_training(
                self.folder / "models" / name,
                run,
                train=[to_training_example(example) for example in train],
                valid=[to_training_example(example) for example in valid],
                listener=listen,
                page=False,
            )
        return trained.folder

    def starmap(self, work: Callable[..., Measured], arguments: Sequence[tuple[Any, ...]]) -> list[Measured]:
        """Call ``work(bench, *arguments)`` for each tuple of arguments, in parallel where `jobs` allows.

        Args:
            work: a function of a module (it is sent to other processes by name).
            arguments: one tuple per call; picklable, as are the results.

        Returns:
            The results, in the order of the arguments.

        Raises:
            RegardError: a call failed, or a worker was killed; the others are stopped.
        """
        single = replace(self, jobs=1)
        if self.jobs == 1 or len(arguments) <= 1:
            with one_thread():
                return [work(single, *each) for each in arguments]
        with workers(min(self.jobs, len(arguments))) as pool:
            try:
                futures = [pool.submit(work, single, *each) for each in arguments]
                wait(futures, return_when=FIRST_EXCEPTION)
                for future in futures:
                    if future.done() and (error := future.exception()):
                        raise error
                return [future.result() for future in futures]
            except BrokenProcessPool as error:
                raise worker_killed() from error


_TRAINING_EXAMPLES: dict[str, Callable[[Example], Any]] = {
    "translate": lambda e: (e.source, e.target),
    "language_model": lambda e: (e.source,),
    "classify": lambda e: (e.target, e.source),
    "tag": lambda e: (e.source, e.target),
    "caption": lambda e: (e.features, e.target),
}
"""By task: a dataset's example in the form that `run_training` takes."""
