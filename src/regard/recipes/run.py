"""Running a recipe: every model is trained, and then scored on its test sets.

In: a `Recipe` and the folder that holds the data sets. Out: trained models, and `Results`: a `Row` of scores per model,
seed by seed and as an ensemble. Everything is done by the commands that a user would type, ``regard train`` and
``regard evaluate``, in processes of their own; each is reported before it runs. An arm's test sets are scored when all
its models are trained.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint import read_log
from regard.config import in_range, write_toml
from regard.device import describe_processor
from regard.errors import DataError, RegardError
from regard.io import make_folder, write_whole_text
from regard.recipes.recipe import Arm, Corpus, Pretraining, Recipe
from regard.recipes.results import ENSEMBLE, RESULTS, Measured, Point, Results, Row
from regard.tasks import TASKS
from regard.text.formats import read_file
from regard.training.provenance import read_run
from regard.training.seeds import is_finished

_SMOKE_LINES = {"train": 300, "valid": 20, "test": 20}
_SMOKE = ["--updates", "2", "--set", "training.validate_every=2"]


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
        assignments: further options of every training, as ``--set`` takes them; a language model that others start
            from does not get them.
        smoke: whether to train for a few updates on a few lines, to see that everything works.
        commit: of the code; empty to ask git.
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
    commit: str = ""
    listener: Callable[[str], None] = lambda line: None


def run_recipe(recipe: Recipe, options: RecipeOptions) -> Results:
    """Train and score every model of a recipe; what is finished in its folder is not trained again.

    ``results.json`` in that folder has every arm that is done, now or by an earlier command.

    Raises:
        RegardError: the data are missing, or a command failed.
    """
    in_range("--seeds", options.seeds, 1)
    make_folder(options.out)
    before = Results.read(options.out / RESULTS, recipe.name)
    commit = options.commit or checked_out_commit()
    corpora = {arm.trained.name: _corpora(arm.trained, options) for arm in recipe.arms}
    measured: dict[str, Measured] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        started: dict[str, Future[None]] = {}
        trained: dict[str, list[Future[None]]] = {}
        scores: dict[Future[list[Row]], Arm] = {}
        # the pool begins jobs in this order, so a job waits only for those that have begun
        for arm in recipe.arms:
            own, files = arm.trained, corpora[arm.trained.name]
            first = own.pretraining
            if first is not None and first.name not in started:
                started[first.name] = pool.submit(_pretrain, first, options)
            if own.name not in trained:
                waits = [] if first is None else [started[first.name]]
                seeds = range(1, options.seeds + 1)
                models = [pool.submit(_train, own, files, options, seed, waits) for seed in seeds]
                trained[own.name] = [*models, pool.submit(_combine, own, files, options, models)]
            scores[pool.submit(_score, recipe, arm, files, options, trained[own.name])] = arm
        try:
            for future in as_completed(scores):
                arm = scores[future]
                measured[arm.name] = _measured(recipe, arm, future.result(), options, commit)
                before.merge(Results(recipe.name, measured)).write(options.out / RESULTS)
        finally:  # after a failure or Ctrl-C, what waits is not begun
            pool.shutdown(wait=True, cancel_futures=True)
    return Results(recipe.name, {arm.name: measured[arm.name] for arm in recipe.arms})


def checked_out_commit() -> str:
    """The commit of this package's checkout, with ``+`` where tracked files differ from it; empty outside of one."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _corpora(arm: Arm, options: RecipeOptions) -> list[Corpus]:
    """The files of an arm, or of each of its folds; in a smoke run, some of their lines."""
    folder = options.out / arm.name / "data"
    made = arm.corpus(options.data, folder)
    return [_checked(corpus, folder, options) for corpus in ([made] if isinstance(made, Corpus) else made)]


def _checked(corpus: Corpus, folder: Path, options: RecipeOptions) -> Corpus:
    files = [*corpus.train, *corpus.valid, *(path for test in corpus.tests.values() for path in test)]
    for path in files:
        if not path.is_file():
            raise DataError(f"{path}: no such file; name the folder that holds the data sets with --data")
    if not options.smoke:
        return corpus

    def cut(paths: Sequence[Path], part: str) -> list[Path]:
        made = []
        for path in paths:
            make_folder(folder)
            short = folder / f"{part}-{path.name.removesuffix('.xz').removesuffix('.gz')}"
            lines = list(read_file(path))
            # spread over the file, where every label occurs; the first line may be a header
            chosen = lines[:: max(1, len(lines) // _SMOKE_LINES[part])][: _SMOKE_LINES[part]]
            write_whole_text(short, "".join(f"{line}\n" for line in chosen))
            made.append(short)
        return made

    tests = {name: cut(paths, "test") for name, paths in corpus.tests.items()}
    return Corpus(cut(corpus.train, "train"), cut(corpus.valid, "valid"), tests)


def _flags(flag: str, values: Iterable[object]) -> list[str]:
    return [argument for value in values for argument in (flag, str(value))]


def _training_arguments(
    arm: Arm | Pretraining, corpus: Corpus, options: RecipeOptions, assignments: Iterable[str]
) -> list[str]:
    """What every model of an arm is trained with; the configuration is written beside the models."""
    folder = options.out / arm.name
    arguments = [*_flags("--train", corpus.train), *_flags("--valid", corpus.valid)]
    if isinstance(arm, Arm):
        arguments += arm.arguments
        if arm.pretraining is not None:
            encoder = options.out / arm.pretraining.name
            arguments += ["--set", f"pretrained.encoder={json.dumps(str(encoder))}"]
    if arm.config:
        write_whole_text(folder / "recipe.toml", write_toml(arm.config))
        arguments += ["--config", str(folder / "recipe.toml")]
    # written out, as an ensemble's members have it
    arguments += ["--set", "training.split_seed=1", "--device", options.device]
    arguments += ["--threads", str(options.threads)] if options.threads else []
    return [*arguments, *_flags("--set", assignments), *(_SMOKE if options.smoke else [])]


def _pretrain(pretraining: Pretraining, options: RecipeOptions) -> None:
    folder = options.out / pretraining.name
    made = folder / "data"
    corpus = _checked(pretraining.corpus(options.data, made), made, options)
    _train_model(folder, pretraining, corpus, options, 1, ())


def _train(
    arm: Arm, corpora: Sequence[Corpus], options: RecipeOptions, seed: int, waits: Iterable["Future[None]"]
) -> None:
    for future in waits:
        future.result()
    folder = options.out / arm.name / f"seed-{seed}"
    corpus = corpora[(seed - 1) % len(corpora)]
    _train_model(folder, arm, corpus, options, seed, options.assignments)


def _train_model(
    folder: Path,
    arm: Arm | Pretraining,
    corpus: Corpus,
    options: RecipeOptions,
    seed: int,
    assignments: Iterable[str],
) -> None:
    if is_finished(folder):
        options.listener(f"{folder}: trained before, not trained again")
        return
    make_folder(options.out / arm.name)
    given = _training_arguments(arm, corpus, options, assignments)
    _run(["train", str(folder), "--resume", "--json", "--seed", str(seed), *given], options)


def _combine(
    arm: Arm, corpora: Sequence[Corpus], options: RecipeOptions, trained: Iterable["Future[None]"]
) -> None:
    """Make an ensemble of an arm's models, where there are several of one data set and their task has ensembles."""
    for future in trained:
        future.result()
    folder = options.out / arm.name
    task = _report(folder / "seed-1")["task"]
    if options.seeds > 1 and len(corpora) == 1 and TASKS[task].predictor().combines:
        given = _training_arguments(arm, corpora[0], options, options.assignments)
        _run(["train", str(folder), "--json", "--seed", "1", "--seeds", str(options.seeds), *given], options)


def _score(
    recipe: Recipe,
    arm: Arm,
    corpora: Sequence[Corpus],
    options: RecipeOptions,
    trained: Iterable["Future[None]"],
) -> list[Row]:
    for future in trained:
        future.result()
    folder = options.out / arm.trained.name
    models = {f"seed-{seed}": folder / f"seed-{seed}" for seed in range(1, options.seeds + 1)}
    if is_finished(folder):
        models[ENSEMBLE] = folder
    rows = []
    for number, (model, path) in enumerate(models.items()):
        report = _report(path)
        tests = {}
        for test, files in corpora[number % len(corpora)].tests.items():
            given = [*map(str, files), *arm.arguments, *arm.evaluate, "--device", options.device, "--json"]
            scored = json.loads(_run(["evaluate", str(path), *given], options))
            tests[test] = {
                key: scored[key] for key in (recipe.metric, *recipe.others) if scored.get(key) is not None
            }
        rows.append(
            Row(
                arm.name,
                model,
                report["ensemble" if model == ENSEMBLE else "validation"],
                tests,
                round(report["train_seconds"] / 60, 2),
                report["num_parameters"],
                report["select"],
                _curve(path, report["select"]),
            )
        )
    return rows


def _report(model: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((model / "report.json").read_text(encoding="utf-8"))
    return report


def _curve(model: Path, select: str) -> list[Point]:
    """The validations of a training; none of an ensemble, which has no log, nor of a mean of checkpoints."""
    return [
        Point(row["update"], round(row["seconds"] / 60, 2), round(row[select], 5))
        for row in read_log(model)
        if row["event"] == "validation" and "averaged" not in row
    ]


def _measured(recipe: Recipe, arm: Arm, rows: Sequence[Row], options: RecipeOptions, commit: str) -> Measured:
    session: Mapping[str, Any] = read_run(options.out / arm.trained.name / "seed-1")["sessions"][-1]
    command = ["regard", "recipe", recipe.name, "--data", "DATA", "--only", arm.name]
    command += ["--seeds", str(options.seeds)] if options.seeds != recipe.seeds else []
    command += [*_flags("--set", options.assignments), *(["--smoke"] if options.smoke else [])]
    return Measured(
        rows=rows,
        command=shlex.join(command),
        commit=commit,
        hardware=describe_processor() if session["device"] == "cpu" else session["device"],
        threads=session["threads"],
        torch=session["versions"]["torch"],
        date=session["started"][:10],
        assignments=list(options.assignments),
    )


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
