"""``regard train``: from training files to a model folder, for every task."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from regard.cli.console import command_line, notes, print_json, results, score_table
from regard.cli.options import option_flags
from regard.cli.progress import PrepareDisplay
from regard.cli.run_flags import DEFAULT_RUN, RunFlags
from regard.config import list_options, merge, one_of
from regard.errors import ConfigError
from regard.evaluation.metrics import duration, format_score, format_with_margin
from regard.processes import Processes
from regard.tasks import TASKS
from regard.terminal import wrap_line

if TYPE_CHECKING:
    from regard.training.configure import PlannedRun


_GUIDED = 0.5  # the weight of guided alignment, unless it is set
_ALIGNMENT_SIZE = 256  # the width of the alignment attention, unless it is set


@option_flags(RunFlags, "flags")
def train(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(help="Where to write the model: a new folder, or with --resume that of a run.")
    ],
    flags: RunFlags = DEFAULT_RUN,
    minutes: Annotated[float | None, typer.Option(help="Maximum training time in minutes.")] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print the plan with its reasons, and exit; --json for programs.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Random seed for weights, data order and dropout.")] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Train this number of models one after the other, from --seed on, as one ensemble: FOLDER/seed-1, "
            "seed-2, … A finished one is not trained again.",
            metavar="N",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the run in FOLDER from its newest checkpoint, as if it had never stopped; other options "
            "change how it goes on, such as --epochs. A run that has not begun yet is begun.",
        ),
    ] = False,
    guided: Annotated[
        Path | None,
        typer.Option(
            help="An aligner's folder (--task align): a translator learns from its links of the training pairs to "
            "align what it writes.",
            show_default=False,
        ),
    ] = None,
    start_from: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Start from the weights, tokenizers and labels of this model; --set training.extend_vocabulary=true "
            "adds new words, characters and labels.",
            metavar="MODEL",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    list_options: Annotated[
        bool,
        typer.Option(
            "--list-options",
            help="Print every option of --config and --set, and exit. Give --task before it for another task, or "
            "--preset for that preset's values. "
            r"decoder\[luong].x is the option decoder.x of the decoder with kind=luong.",
            callback=lambda context, wanted: _print_options(
                wanted, context.params.get("task"), context.params.get("preset")
            ),
            is_eager=True,
        ),
    ] = False,
    list_presets: Annotated[
        bool,
        typer.Option(
            "--list-presets",
            help="Print the presets, and exit; with --task before it, those of one task.",
            callback=lambda context, wanted: _print_presets(wanted, context.params.get("task")),
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Train a model, as the training data suggest.

    Without a preset the run is planned from the data: the level of the
    text (characters, words, subwords), the model and its size, dropout,
    batch, learning rate, updates and validation, each with its reason.
    --plan prints the plan alone; whatever is given by hand wins over it.

    Training data by task: translate: two parallel files, or one
    tab-separated file, perhaps with a column of features (lemma, features,
    form). language_model: text. classify: label and text,
    tab-separated. tag: words and tags, in two files or one. caption: a file
    of feature vectors (.npy, Arrow) and one of captions.

    Tokenizers are trained first and stored in the folder. --set overrides
    the other flags, flags override --config, and --config overrides the
    preset or the plan. The complete configuration is written to
    FOLDER/train.toml; to repeat the run, pass it as --config. Scores, curves
    and examples are on one page, FOLDER/report.html.

    A run that was stopped goes on with --resume, to the very weights of a
    run that was never stopped. A finished one can be given more updates,
    epochs or minutes, or another schedule; time already spent counts.

    Under torchrun, on one machine or several, all processes train one model:
    they share each batch, and the first of them writes and reports.

    [bold]Examples[/]

      regard train model --train pairs.tsv

      regard train model --train pairs.tsv --budget 10

      regard train model --train a.de.gz --train a.en.gz --minutes 30

      regard train model --resume

      regard train model --resume --epochs 20

      regard train news --from model --train news.tsv --epochs 3

      regard train model --train pairs.tsv --guided aligner

      regard train g2p --train words.tsv --preset characters

      regard train g2p --train words.tsv --preset characters --seeds 5

      regard train inflection --train forms.tsv --features 2 --preset characters

      regard train lm --task language_model --train text.txt

      torchrun --standalone --nproc-per-node 4 -m regard train model --train pairs.tsv --resume
    """
    from regard.checkpoint import read_options
    from regard.training.configure import begun_options, plan_run
    from regard.training.prepare import prepare_large
    from regard.training.progress import TrainingDisplay
    from regard.training.run import run_training
    from regard.training.seeds import run_seeds

    processes = Processes.launched()
    if seeds is not None and processes.world_size > 1:
        raise ConfigError(
            f"--seeds {seeds}: {processes.world_size} processes train one model together; leave out --seeds, or train "
            "without torchrun"
        )
    file = read_options(flags.config) if flags.config else {}
    begun = begun_options(folder) if resume and seeds is None else {}
    given = flags.to_mapping(begun, file)
    if guided is not None:
        given = merge(guided_by(guided), given)
    if not plan:
        with PrepareDisplay() as preparing:
            stored = prepare_large(
                folder,
                file,
                given,
                preset=flags.preset,
                jobs=None,
                listener=lambda note: notes.print(note, markup=False),
                progress=preparing.report,
            )
        given = merge(given, stored)
    start = None if start_from is None else str(start_from)
    single = {"max_minutes": minutes, "seed": seed, "start_from": start}
    own = {name: value for name, value in single.items() if value is not None}
    layers = (file, {"training": own} if own else {}, given)
    run = plan_run(*layers, preset=flags.preset, budget=flags.budget, begun=begun)
    if plan:
        _print_plan(run, json)
        return
    with TrainingDisplay(notes) as display, _how_to_go_on(folder, seeds is not None):
        if seeds is not None:
            ensemble = run_seeds(
                folder,
                run.config,
                seeds,
                listener=display,
                plan=run.lines,
                command=command_line(context),
            )
        else:
            trained = run_training(
                folder,
                run.config,
                listener=display,
                plan=run.lines,
                command=command_line(context),
                resume=resume,
            )
    if seeds is not None:
        if json:
            print_json(ensemble.report)
            return
        results.print(_seeds_table(ensemble.report))
        _say_where("ensemble", run.config.task, ensemble.folder)
        return
    if json:
        print_json(trained.report)
        return
    report = trained.report
    results.print(
        score_table({key: value for key, value in report.items() if key != "validation"}, "[bold]trained[/]")
    )
    select, scores = report["select"], report["validation"]
    title = f"\n[bold]update {report['best_update']:,}[/] on {trained.scored_on}"
    results.print(score_table({select: scores[select]} | scores, title))
    _say_where("model", report["task"], trained.folder)


def _say_where(what: str, task: str, folder: Path) -> None:
    from regard.training.run import PAGE

    page = f"; report: {folder / PAGE}" if (folder / PAGE).exists() else ""
    command = TASKS[task].first_command.format(folder=shlex.quote(str(folder)))
    notes.print(f"the {what} is in {folder}{page}; try: {command}", markup=False)


@contextmanager
def _how_to_go_on(folder: Path, is_ensemble: bool) -> Iterator[None]:
    """Say, where training is stopped by a signal, how to go on; the exit status is the signal's."""
    from regard.training.signals import StoppedTraining

    try:
        yield
    except StoppedTraining as stop:
        torchrun = "torchrun … -m " if Processes.launched().world_size > 1 else ""
        command = f"{torchrun}regard train {shlex.quote(str(folder))} --resume"
        if is_ensemble:
            command = "repeat the command"
        with suppress(OSError):  # a terminal that is gone
            notes.print(f"go on with: {command}", markup=False)
        raise typer.Exit(stop.status) from stop


def _seeds_table(report: dict[str, Any]) -> Table:
    """Each validation score: of every member of an ensemble, as mean ± deviation, and of the ensemble."""
    members = report["members"]
    examples = next(key.removeprefix("num_valid_") for key in report if key.startswith("num_valid_"))
    title = (
        f"[bold]trained[/]: {len(members)} seeds in {duration(report['train_seconds'])}; validation on "
        f"{report[f'num_valid_{examples}']:,} {examples}"
    )
    table = Table(box=None, pad_edge=False, title=title, title_justify="left", title_style="")
    table.add_column("", style="dim")
    for member in members:
        table.add_column(f"seed {member['seed']}", justify="right")
    if len(members) > 1:
        table.add_column("mean ± deviation", justify="right")
        table.add_column("ensemble", justify="right", style="bold")
    for key, each in report["validation"].items():
        mean = format_with_margin(key, each["mean"], each["deviation"])
        scores = [format_score(key, member["validation"][key]) for member in members]
        together = [mean, format_score(key, report["ensemble"].get(key))] if len(members) > 1 else []
        table.add_row(key, *scores, *together)
    return table


def guided_by(aligner: Path) -> dict[str, Any]:
    """The options of a translator whose alignment attention learns from an aligner's links."""
    return {
        "model": {"alignment_size": _ALIGNMENT_SIZE},
        "data": {"aligner": str(aligner)},
        "auxiliary_losses": {"guided_alignment": _GUIDED},
    }


def _print_plan(run: "PlannedRun", json: bool) -> None:
    if run.plan is None:
        raise ConfigError(
            "--plan: nothing is planned: that needs --train files, no --preset, a task that plans (not caption), and "
            "an option left to decide"
        )
    if json:
        print_json({"task": run.config.task, **run.plan.to_json(), "config": run.config.to_mapping()})
        return
    for line in run.lines:
        results.print(wrap_line(results, line), markup=False, soft_wrap=True)


def _print_options(wanted: bool, task: str | None, preset: str | None) -> None:
    """Every option with its default, or with the value of a preset and the default where they differ."""
    if not wanted:
        return
    if preset is None:
        name, values = task or next(iter(TASKS)), None
        one_of("task", name, TASKS)
    else:
        from regard.training.configure import configure

        values = configure({"task": task} if task else {}, preset=preset)
        name = values.task
    for option in list_options(TASKS[name].run_config(), values=values):
        shown = option.default if option.value is None else option.value
        differs = "" if shown == option.default else f"    (default {option.default})"
        results.print(f"{option.path} = {shown}{differs}", style="bold", markup=False)
        results.print(wrap_line(results, f"    {option.sentence}"), style="dim", markup=False)
    raise typer.Exit


def _print_presets(wanted: bool, task: str | None) -> None:
    if not wanted:
        return
    if task is not None:
        one_of("task", task, TASKS)
    for spec in [TASKS[task]] if task else TASKS.values():
        for name, preset in spec.presets().items():
            summary = (preset.__doc__ or "").splitlines()[0]
            default = " (the default)" if name == spec.default_preset else ""
            line = Text(wrap_line(results, f"{name} [{spec.name}]{default}: {summary}"))
            line.stylize("bold", 0, len(name))
            results.print(line)
    raise typer.Exit
