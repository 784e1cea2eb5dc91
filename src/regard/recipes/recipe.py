"""A recipe: data sets, a configuration each, and the published figures that they should reach.

In: a `Recipe` and the folder that holds the data sets. Out: trained models, and a `Row` of scores per model, seed by
seed and as an ensemble. Everything is done by the commands that a user would type, ``regard train`` and ``regard
evaluate``, in processes of their own; each is reported before it runs. An arm's test sets are scored once, when all its
models are trained.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from regard.config import in_range, write_toml
from regard.errors import DataError, RegardError, nearest
from regard.evaluation.metrics import METRICS
from regard.io import make_folder, write_whole_text
from regard.tasks.spec import Preset
from regard.text.formats import read_file
from regard.training.seeds import is_finished, sample_deviation

RESULTS = "results.json"
ENSEMBLE = "ensemble"
MEAN = "mean"
"""The name of the mean over all data sets of a recipe."""
_SMOKE_LINES = {"train": 300, "valid": 20, "test": 20}
_SMOKE = ["--updates", "4", "--set", "training.validate_every=4"]


@dataclass(frozen=True)
class Corpus:
    """The files of a data set.

    Attributes:
        train: as ``--train`` takes them.
        valid: as ``--valid`` takes them.
        tests: by name, as ``regard evaluate`` takes them.
    """

    train: Sequence[Path]
    valid: Sequence[Path]
    tests: Mapping[str, Sequence[Path]]


@dataclass(frozen=True)
class Figure:
    """A figure to reach.

    Attributes:
        value: of the metric, as `METRICS` has it: fractions for per cent.
        source: whose figure it is, and under which conditions.
        ensemble: whether several models reach it together.
    """

    value: float
    source: str
    ensemble: bool = False


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One data set, or one model, of a recipe.

    Attributes:
        name: within the recipe.
        corpus: (folder of the data sets, folder for files made from them) → the files.
        config: options of ``regard train``, as a configuration file has them; what it leaves open is planned.
        arguments: of ``regard train`` and ``regard evaluate`` beside the files, such as ``--features 2``.
        evaluate: arguments of ``regard evaluate`` alone.
        figures: to reach, by test set.
    """

    name: str
    corpus: Callable[[Path, Path], Corpus]
    config: Preset = field(default_factory=dict)
    arguments: Sequence[str] = ()
    evaluate: Sequence[str] = ()
    figures: Mapping[str, Sequence[Figure]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One table of results.

    Attributes:
        name: as ``regard recipe`` takes it.
        title: what is measured.
        conditions: data, metric and whatever differs from the published ones.
        metric: a key of `METRICS`, by which results are compared.
        others: further metrics that are reported.
        arms: its data sets or models.
        figures: for the mean over all arms.
        seeds: models trained per arm where no number is given.
    """

    name: str
    title: str
    conditions: str
    metric: str
    arms: Sequence[Arm]
    others: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    seeds: int = 1


@dataclass(frozen=True)
class Row:
    """The scores of one model, or of an ensemble.

    Attributes:
        arm: a data set of the recipe.
        model: ``seed-1``, …, or `ENSEMBLE`.
        valid: scores on the validation set, as ``report.json`` has them.
        tests: by test set, the scores of the recipe's metrics.
        minutes: of training.
        num_parameters: of the model.
    """

    arm: str
    model: str
    valid: Mapping[str, float]
    tests: Mapping[str, Mapping[str, float]]
    minutes: float
    num_parameters: int


@dataclass(frozen=True)
class Summary:
    """A line of the table of results: one arm on one test set.

    Attributes:
        arm: of the recipe, or `MEAN`.
        test: the test set.
        single: the score of each seed.
        ensemble: the score of all of them together; None for a single seed.
        figures: to reach.
        minutes: of training one model, the mean.
    """

    arm: str
    test: str
    single: Sequence[float]
    ensemble: float | None
    figures: Sequence[Figure]
    minutes: float

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return statistics.fmean(self.single)

    @property
    def deviation(self) -> float | None:
        """The sample deviation over seeds; None for one."""
        return sample_deviation(self.single)

    def reached(self, figure: Figure, metric: str) -> bool | None:
        """Whether a figure is reached, by the mean of single models or by the ensemble; None where it is missing."""
        value = self.ensemble if figure.ensemble else self.mean
        if value is None:
            return None
        return value <= figure.value if METRICS[metric].better == "lower" else value >= figure.value


@dataclass(frozen=True)
class RecipeOptions:
    """How a recipe is run.

    Attributes:
        data: the folder that holds the data sets.
        out: where models and results are written.
        seeds: models per arm.
        jobs: models trained at the same time.
        threads: of each training; 0 leaves them to ``regard train``.
        device: as ``--device`` takes it.
        assignments: further options of every training, as ``--set`` takes them.
        smoke: whether to train for a few updates on a few lines, to see that everything works.
        listener: called with every command before it runs, and with notes.
    """

    data: Path
    out: Path
    seeds: int
    jobs: int = 1
    threads: int = 0
    device: str = "auto"
    assignments: Sequence[str] = ()
    smoke: bool = False
    listener: Callable[[str], None] = lambda line: None


def choose_arms(recipe: Recipe, names: Iterable[str]) -> Recipe:
    """The recipe with some of its arms; all where none is named.

    Raises:
        DataError: there is no such arm.
    """
    wanted = list(names)
    known = {arm.name: arm for arm in recipe.arms}
    for name in wanted:
        if name not in known:
            raise DataError(f"{recipe.name} has no {name!r}; {nearest(name, known)}")
    return replace(recipe, arms=[known[name] for name in wanted]) if wanted else recipe


def run_recipe(recipe: Recipe, options: RecipeOptions) -> list[Row]:
    """Train and score every model of a recipe; what is finished in its folder is not trained again.

    ``results.json`` in that folder has the rows of every arm that is done.

    Raises:
        RegardError: the data are missing, or a command failed.
    """
    in_range("--seeds", options.seeds, 1)
    make_folder(options.out)
    corpora = {arm.name: _corpus(arm, options) for arm in recipe.arms}
    rows: dict[str, list[Row]] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        scores: dict[Future[list[Row]], str] = {}
        # the pool begins jobs in this order, so a score waits only for trainings that have begun
        for arm in recipe.arms:
            corpus = corpora[arm.name]
            seeds = range(1, options.seeds + 1)
            trained = [pool.submit(_train, arm, corpus, options, seed) for seed in seeds]
            scores[pool.submit(_score, recipe, arm, corpus, options, trained)] = arm.name
        try:
            for future in as_completed(scores):
                rows[scores[future]] = future.result()
                done = [asdict(row) for arm in recipe.arms for row in rows.get(arm.name, [])]
                write_whole_text(options.out / RESULTS, json.dumps(done, indent=1) + "\n")
        finally:  # after a failure or Ctrl-C, what waits is not begun
            pool.shutdown(wait=True, cancel_futures=True)
    return [row for arm in recipe.arms for row in rows[arm.name]]


def summarize(recipe: Recipe, rows: Sequence[Row]) -> list[Summary]:
    """The table of results: a line per arm and test set, and the mean over arms where there are several."""
    lines = []
    for arm in recipe.arms:
        own = [row for row in rows if row.arm == arm.name]
        members = [row for row in own if row.model != ENSEMBLE]
        together = next((row for row in own if row.model == ENSEMBLE), None)
        lines += [
            Summary(
                arm.name,
                test,
                [row.tests[test][recipe.metric] for row in members],
                None if together is None else together.tests[test][recipe.metric],
                arm.figures.get(test, ()),
                statistics.fmean(row.minutes for row in members),
            )
            for test in (members[0].tests if members else ())
        ]
    if len(lines) > 1 and recipe.figures:
        ensembles = [line.ensemble for line in lines if line.ensemble is not None]
        lines.append(
            Summary(
                MEAN,
                "",
                [statistics.fmean(scores) for scores in zip(*(line.single for line in lines), strict=True)],
                statistics.fmean(ensembles) if len(ensembles) == len(lines) else None,
                recipe.figures,
                statistics.fmean(line.minutes for line in lines),
            )
        )
    return lines


def _corpus(arm: Arm, options: RecipeOptions) -> Corpus:
    folder = options.out / arm.name / "data"
    corpus = arm.corpus(options.data, folder)
    files = [*corpus.train, *corpus.valid, *(path for test in corpus.tests.values() for path in test)]
    for path in files:
        if not path.is_file():
            raise DataError(f"{path}: no such file; name the folder that holds the data sets with --data")
    if not options.smoke:
        return corpus

    def first_lines(paths: Sequence[Path], part: str) -> list[Path]:
        cut = []
        for path in paths:
            make_folder(folder)
            short = folder / f"{part}-{path.name.removesuffix('.xz').removesuffix('.gz')}"
            lines = islice(read_file(path), _SMOKE_LINES[part])
            write_whole_text(short, "".join(f"{line}\n" for line in lines))
            cut.append(short)
        return cut

    tests = {name: first_lines(paths, "test") for name, paths in corpus.tests.items()}
    return Corpus(first_lines(corpus.train, "train"), first_lines(corpus.valid, "valid"), tests)


def _flags(flag: str, values: Iterable[object]) -> list[str]:
    return [argument for value in values for argument in (flag, str(value))]


def _training_arguments(arm: Arm, corpus: Corpus, options: RecipeOptions) -> list[str]:
    """What every model of an arm is trained with; the configuration is written beside the models."""
    folder = options.out / arm.name
    arguments = [*_flags("--train", corpus.train), *_flags("--valid", corpus.valid), *arm.arguments]
    if arm.config:
        write_whole_text(folder / "recipe.toml", write_toml(arm.config))
        arguments += ["--config", str(folder / "recipe.toml")]
    # written out, as an ensemble's members have it
    arguments += ["--set", "training.split_seed=1", "--device", options.device]
    arguments += ["--threads", str(options.threads)] if options.threads else []
    return [*arguments, *_flags("--set", options.assignments), *(_SMOKE if options.smoke else [])]


def _train(arm: Arm, corpus: Corpus, options: RecipeOptions, seed: int) -> None:
    folder = options.out / arm.name / f"seed-{seed}"
    if is_finished(folder):
        options.listener(f"{folder}: trained before, not trained again")
        return
    make_folder(options.out / arm.name)
    given = _training_arguments(arm, corpus, options)
    _run(["train", str(folder), "--resume", "--json", "--seed", str(seed), *given], options)


def _score(
    recipe: Recipe, arm: Arm, corpus: Corpus, options: RecipeOptions, trained: Iterable["Future[None]"]
) -> list[Row]:
    for future in trained:
        future.result()
    folder = options.out / arm.name
    models = {f"seed-{seed}": folder / f"seed-{seed}" for seed in range(1, options.seeds + 1)}
    if options.seeds > 1:
        given = _training_arguments(arm, corpus, options)
        _run(["train", str(folder), "--json", "--seed", "1", "--seeds", str(options.seeds), *given], options)
        models[ENSEMBLE] = folder
    rows = []
    for model, path in models.items():
        report = json.loads((path / "report.json").read_text(encoding="utf-8"))
        tests = {}
        for test, files in corpus.tests.items():
            given = [*map(str, files), *arm.arguments, *arm.evaluate, "--device", options.device, "--json"]
            scored = json.loads(_run(["evaluate", str(path), *given], options))
            tests[test] = {
                key: scored[key] for key in (recipe.metric, *recipe.others) if scored.get(key) is not None
            }
        valid = report["ensemble" if model == ENSEMBLE else "validation"]
        minutes = report["train_seconds"] / 60
        rows.append(Row(arm.name, model, valid, tests, minutes, report["num_parameters"]))
    return rows


def _run(arguments: Sequence[str], options: RecipeOptions) -> str:
    """Run a command of Regard as a user would, and return what it printed.

    Raises:
        RegardError: it failed; the message ends with the end of its standard error.
    """
    options.listener(f"regard {shlex.join(arguments)}")
    variables: dict[str, str] = dict(os.environ)
    if options.threads:
        variables["OMP_NUM_THREADS"] = str(options.threads)
    done = subprocess.run(
        [sys.executable, "-m", "regard", *arguments],
        capture_output=True,
        text=True,
        env=variables,
        check=False,
    )
    if done.returncode:
        raise RegardError(f"regard {shlex.join(arguments)} failed: {done.stderr[-2000:].strip()}")
    return done.stdout


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Write a file that a recipe makes of a data set; one that is there already is kept."""
    if not path.exists():
        make_folder(path.parent)
        write_whole_text(path, "".join(f"{line}\n" for line in lines))
    return path


def report_json(recipe: Recipe, rows: Sequence[Row]) -> dict[str, Any]:
    """Everything that was measured, as plain values."""
    return {
        "recipe": recipe.name,
        "metric": recipe.metric,
        "rows": [asdict(row) for row in rows],
        "table": [
            {
                "arm": line.arm,
                "test": line.test,
                "mean": line.mean,
                "deviation": line.deviation,
                "ensemble": line.ensemble,
                "minutes": line.minutes,
                "figures": [
                    asdict(figure) | {"reached": line.reached(figure, recipe.metric)}
                    for figure in line.figures
                ],
            }
            for line in summarize(recipe, rows)
        ],
    }
