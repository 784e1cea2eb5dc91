"""``regard demo``: generate a dataset, train a model on it, evaluate it, and show it at work."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.console import command_line, notes, print_json, results, score_table
from regard.cli.options import MAX_SEED
from regard.cli.progress import LinesDisplay
from regard.evaluation.metrics import display_name, format_score
from regard.tasks import TASKS

if TYPE_CHECKING:
    from regard.tasks.evaluation import DemoRun, DemoView, EvaluationReport


_PARTS = ("kind", "cell", "energy")
"""Options that say what a model is made of."""


def demo(
    context: typer.Context,
    dataset: Annotated[
        str,
        typer.Argument(
            help="microworld, dates, copy (translators), language, newsroom (language models), sentiment, "
            "recall (classifiers), tagging (a tagger), scenes (a captioner), or alignment (an aligner)."
        ),
    ] = "microworld",
    out: Annotated[Path | None, typer.Option(help="Where to write; by default runs/demo-DATASET.")] = None,
    train_size: Annotated[
        int | None,
        typer.Option(
            help="Number of training examples, and maximum number of test examples; the default depends on the dataset."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            help="Random seed for the dataset, the weights and the data order.", min=0, max=MAX_SEED
        ),
    ] = 1,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", help="Set any option of regard train: --set training.max_updates=500."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Train a model on a generated dataset, and look inside it.

    Nothing is downloaded: the sentences are generated, those of microworld
    with gold word alignments. A demo takes about two minutes on two cores,
    and ends with test scores, examples, and a plot: a translator's
    attention, a classifier's weights, or a sampled sentence step by step.

    [bold]Examples[/]

      regard demo

      regard demo sentiment --seed 2 --out runs/sentiment
    """
    _show(train_demo(dataset, out, train_size, seed, options or ()), command_line(context), json)


def train_demo(
    dataset: str,
    out: Path | None = None,
    train_size: int | None = None,
    seed: int = 1,
    options: Sequence[str] = (),
) -> "DemoRun":
    """Generate a dataset and train its demonstration, with progress; arguments as for `demo`.

    Raises:
        RegardError: there is no such dataset, or an option is wrong.
    """
    from regard.config import flatten, set_option
    from regard.datasets import find_dataset
    from regard.io import free_folder, make_folder
    from regard.tasks.evaluation import DemoRun
    from regard.training.configure import configure
    from regard.training.demos import find_demo
    from regard.training.progress import TrainingDisplay
    from regard.training.run import run_training

    chosen = find_demo(dataset).limited_to(train_size)
    generator = find_dataset(dataset)()
    spec = TASKS[generator.task]
    folder = free_folder(
        out or Path("runs") / f"demo-{dataset}", lambda path: (path / "regard.json").exists()
    )
    overrides: dict[str, Any] = {"training": {"seed": seed}}
    for assignment in options:
        set_option(overrides, assignment)
    # configured before the work begins, so that a wrong option is an error at once
    model = flatten(configure(chosen.config, overrides).model.to_mapping())
    parts = [f"{path} {value}" for path, value in model.items() if path.split(".")[-1] in _PARTS]
    notes.print(f"model: {', '.join(parts)}", markup=False)
    with notes.status(f"generating the dataset {dataset}"):
        splits = generator.splits(
            train=chosen.train, valid=chosen.valid, test=chosen.test, seed=seed, **chosen.dataset
        )
    sets = {"train": splits.train, "valid": splits.valid, "test": splits.test, **splits.extra}
    make_folder(folder / "corpus")
    files = {name: spec.write_examples(folder / "corpus" / name, sets[name]) for name in sets}
    data = {"data": {name: files[name] for name in ("train", "valid")}}
    with TrainingDisplay(notes) as display:
        trained = run_training(
            folder, configure(chosen.config, data, overrides), listener=display, page=False
        )
    return DemoRun(dataset, generator, chosen, splits, folder, trained.report)


def _show(run: "DemoRun", command: str, json: bool) -> None:
    """Evaluate a trained demonstration, write its report, and show it."""
    from regard.checkpoint import read_log
    from regard.tasks.evaluation import ReportContext

    spec = TASKS[run.dataset.task]
    predictor = spec.predictor().load(run.folder)
    reports: dict[str, EvaluationReport] = {}
    for name, examples in {"test": run.splits.test, **run.splits.extra}.items():
        evaluation = spec.evaluate_examples(predictor, examples, run)
        doing = evaluation.doing if name == "test" else f"{evaluation.doing} ({name})"
        with LinesDisplay(doing, evaluation.size) as display:
            reports[name] = evaluation.run(display)
    test = reports.pop("test")
    view = spec.show_demo(predictor, test.evaluation, run)
    context = ReportContext(
        run.title,
        command,
        subtitle=run.dataset.summary,
        facts={**run.report, **view.facts},
        log=read_log(run.folder),
        extra=reports,
    )
    written = test.write(run.folder, context)
    if json:
        print_json(context.report(test.json))
        return
    scores = {name: value for name, value in test.scores.items() if name not in view.hidden}
    scores["train_seconds"] = run.report["train_seconds"]
    results.print(score_table(scores, title=f"[bold]{len(run.splits.test):,} held-out sentences[/]"))
    for name, report in reports.items():
        main = (f"{display_name(key)} {format_score(key, report.scores[key])}" for key in view.headline)
        number = report.scores.get("num_sentences")
        counted = "" if number is None else f" ({number:,} sentences)"
        results.print(f"[dim]{name}:[/] {', '.join(main)}{counted}")
    for item in view.shown:
        results.print(item)
    _print_end(run.folder, view, written["report"])


def _print_end(folder: Path, view: "DemoView", report: Path) -> None:
    """Where everything is, and what to type next."""
    results.print(f"\nthe model, its report and its corpus are in {folder}", markup=False)
    if report.suffix == ".html":
        results.print(f"report:  {report.resolve()}", markup=False)
    if view.picture is not None:
        results.print(f"picture: {view.picture.resolve()}", markup=False)
    program = sys.argv[0] if Path(sys.argv[0]).name == "regard" else "regard"
    for number, command in enumerate(view.commands):
        typed = command.format(regard=program, folder=shlex.quote(str(folder)))
        results.print(f"{'try:' if number == 0 else '':<9}{typed}", markup=False)
