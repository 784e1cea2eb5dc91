"""``regard tune``: the search for better options of a training run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from regard.cli.console import notes, print_json, results
from regard.cli.options import MAX_SEED, option_flags
from regard.cli.run_flags import DEFAULT_RUN, RunFlags
from regard.config import toml_value
from regard.evaluation.metrics import display_name, duration, format_score
from regard.terminal import wrap_line

if TYPE_CHECKING:
    from regard.training.tune import Search


@option_flags(RunFlags, "flags")
def tune(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Where to write trials and winner: a new folder, or that of a search to continue."
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            help="An option and its values: a range low..high, or a list one,other; repeat it for more options. "
            "A range over more than a factor of 5 is sampled on a logarithmic scale; :log or :linear after it decides."
        ),
    ] = None,
    trials: Annotated[int, typer.Option(help="Number of configurations to try.")] = 20,
    minutes: Annotated[
        float | None, typer.Option(help="Maximum time of the whole search in minutes.", show_default=False)
    ] = None,
    flags: RunFlags = DEFAULT_RUN,
    seed: Annotated[
        int,
        typer.Option(
            help="Random seed of the sampled options; each trial is trained with training.seed.",
            min=0,
            max=MAX_SEED,
        ),
    ] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Search for better options: random search with successive halving.

    Every trial is trained with a ninth of the budget, the better third of
    them with a third, the better third of those with all of it; fewer steps
    for fewer than nine trials. The budget is max_updates, max_epochs or
    max_minutes of one training. Trials are ranked by their best validation
    (training.select). The first trial is the configuration as it is, or
    without a preset the plan made from the data; each other trial is planned
    with its own options.

    FOLDER/trials.jsonl has a row per trial, FOLDER/trials their models and
    logs, FOLDER/best.toml the winner's configuration. Repeat the command to
    continue an interrupted search, or with more --trials or --minutes;
    finished trials are kept.

    [bold]Examples[/]

      regard tune search --train pairs.tsv --vary training.learning_rate=0.0005..0.004

      regard tune search --config train.toml --trials 30 --minutes 60 --vary model.encoder.dropout=0.1,0.3,0.5

      regard train model --config search/best.toml
    """
    from regard.checkpoint import read_options
    from regard.training.progress import Event, Note, TrainingDisplay
    from regard.training.tune import Varied, plan_trials
    from regard.training.tune import tune as run_search

    space = [Varied.parse(assignment) for assignment in vary or []]
    file = read_options(flags.config) if flags.config else {}
    given = flags.to_mapping({}, file)
    planned, configure_trial = plan_trials(file, given, preset=flags.preset, budget=flags.budget)
    for line in planned.lines:
        notes.print(wrap_line(notes, line), markup=False, soft_wrap=True)
    with TrainingDisplay(notes) as display:

        def listen(event: Event) -> None:
            if isinstance(event, Note) or display.is_interactive:
                display(event)

        search = run_search(
            folder,
            configure_trial,
            space,
            num_trials=trials,
            max_minutes=minutes,
            seed=seed,
            listener=listen,
        )
    if json:
        print_json(search.report())
        return
    results.print(_table(search))
    winner = search.winner
    if winner.fraction == 1:
        model = f"its model is in {search.folder / winner.folder}"
    else:
        model = f"it was trained with {winner.budget} of the budget only"
    notes.print(
        f"{search.stopped}; the winner is trial {winner.number}: {model}; train again with: "
        f"regard train FOLDER --config {search.folder / 'best.toml'}",
        markup=False,
    )


def _table(search: "Search") -> Table:
    """All trials, those with the largest budget first, each budget from best to worst."""
    paths = list(dict.fromkeys(path for trial in search.trials for path in trial.options))
    numbers = len({trial.number for trial in search.trials})
    table = Table(
        box=None, pad_edge=False, title=f"{numbers} trials", title_justify="left", title_style="bold"
    )
    table.add_column("trial", justify="right", style="dim")
    table.add_column("budget", justify="right")
    table.add_column(display_name(search.select), justify="right", style="bold")
    for path in paths:
        table.add_column(path, justify="right")
    table.add_column("updates", justify="right")
    table.add_column("time", justify="right")
    table.add_column("")
    for trial in search.trials:
        values = [toml_value(trial.options[path]) if path in trial.options else "as it is" for path in paths]
        mark = "winner" if trial is search.winner else "failed" if trial.error else ""
        table.add_row(
            str(trial.number),
            trial.budget,
            format_score(search.select, trial.score),
            *values,
            f"{trial.updates:,}",
            duration(trial.seconds),
            mark,
        )
    return table
