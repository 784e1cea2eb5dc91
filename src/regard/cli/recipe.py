"""``regard recipe``: published results, trained and scored again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from regard.cli.console import notes, print_json, results
from regard.cli.options import Device
from regard.errors import ConfigError, nearest
from regard.evaluation.metrics import display_name, format_score

if TYPE_CHECKING:
    from regard.recipes import Figure, Recipe
    from regard.recipes.results import Summary


def recipe(
    name: Annotated[
        str | None, typer.Argument(help="A recipe; without a name they are listed.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The folder that holds the data sets.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write models and results; by default runs/recipe-NAME.", show_default=False
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="One of its data sets or models; repeat it for several.", show_default=False),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="Models per data set; by default as the recipe says.", min=1, show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Models trained at the same time.", min=1)] = 1,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads of each training; by default as regard train chooses.", min=1),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Another option of every training; the results are then not the recipe's."
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Also store what was measured in this folder, in NAME.json, beside other arms of the recipe.",
            show_default=False,
        ),
    ] = None,
    commit: Annotated[
        str,
        typer.Option(
            help="The commit of the code, for the results; by default that of the checkout.",
            show_default=False,
        ),
    ] = "",
    smoke: Annotated[
        bool, typer.Option("--smoke", help="Train for a few updates on a few lines, to see that all works.")
    ] = False,
    device: Device = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print everything that was measured as JSON.")] = False,
) -> None:
    """Train and score a published result again.

    A recipe names data sets, a configuration for each, and the published
    figures. It runs the commands train and evaluate, and prints each before
    it runs. Test sets are scored once, after training. Repeat the command after
    an interruption: what is finished is not done again.

    [bold]Examples[/]

      regard recipe

      regard recipe g2p-2020 --data datasets --jobs 2 --threads 1

      regard recipe inflection-2016 --data datasets --only german --seeds 1

      regard recipe multi30k --data datasets --record results
    """
    from regard.recipes import (
        RECIPES,
        RecipeOptions,
        Results,
        choose_arms,
        report_json,
        run_recipe,
        summarize,
    )
    from regard.recipes.page import results_file

    if name is None:
        results.print(_listing(list(RECIPES.values())))
        results.print("\n[dim]train and score one:[/] regard recipe NAME --data FOLDER")
        return
    if name not in RECIPES:
        raise ConfigError(f"there is no recipe {name!r}; {nearest(name, RECIPES)}")
    if data is None:
        raise ConfigError(f"{name}: where are its data sets? Name their folder with --data")
    if record is not None and (smoke or assignments):
        raise ConfigError(
            f"--record {record}: with {'--smoke' if smoke else '--set'} the results are not the recipe's; leave out one"
        )
    chosen = choose_arms(RECIPES[name], only or ())
    options = RecipeOptions(
        data=data,
        out=out or Path("runs") / f"recipe-{name}{'-smoke' if smoke else ''}",
        seeds=seeds or chosen.seeds,
        jobs=jobs,
        threads=threads or 0,
        device=device,
        assignments=assignments or (),
        smoke=smoke,
        commit=commit,
        listener=lambda line: notes.print(line, markup=False, soft_wrap=True),
    )
    measured = run_recipe(chosen, options)
    if record is not None:
        file = results_file(record, name)
        Results.read(file, name).merge(measured).write(file)
    if json:
        print_json(report_json(chosen, measured))
        return
    results.print(_table(chosen, summarize(chosen, measured.rows)))
    notes.print(f"{chosen.conditions}; every score is in {options.out / 'results.json'}", markup=False)


def _listing(recipes: "list[Recipe]") -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for each in recipes:
        arms = ", ".join(arm.name for arm in each.arms)
        table.add_row(f"[bold]{each.name}[/]", f"{each.title}\n[dim]{arms}; {each.conditions}[/]")
    return table


def _table(recipe: "Recipe", lines: "list[Summary]") -> Table:
    columns = ("", display_name(recipe.metric), "ensemble", "to reach", "minutes")
    table = Table(box=None, pad_edge=False, title=recipe.title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, justify="left" if column in ("", "to reach") else "right")
    for line in lines:
        spread = "" if line.deviation is None else f" ± {format_score(recipe.metric, line.deviation)}"
        table.add_row(
            f"{line.arm} {line.test}".strip(),
            f"{format_score(recipe.metric, line.mean)}{spread}",
            "" if line.ensemble is None else format_score(recipe.metric, line.ensemble),
            "\n".join(_figure(recipe.metric, line, figure) for figure in line.figures),
            f"{line.minutes:.1f}",
        )
    return table


def _figure(metric: str, line: "Summary", figure: "Figure") -> str:
    mark = {True: "✓", False: "✗", None: " "}[line.reached(figure, metric)]
    of = "several" if figure.ensemble else "one"
    return f"{mark} {format_score(metric, figure.value)} ({of}: {figure.source})"
