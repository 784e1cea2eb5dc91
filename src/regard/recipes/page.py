"""The page of all results, as Markdown, and the curves behind it.

In: the recipes, and what was measured of each. Out: ``RESULTS.md``: per recipe its conditions and a table of arms, each
with the measured score, the figure to reach and how it was measured; what was not measured is listed as that. Notes
about a recipe, in a Markdown file beside its results, become part of its section. `draw_validation` draws the
validations of one recipe.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.evaluation.metrics import METRICS, display_name, format_score, format_with_margin, is_better
from regard.recipes.recipe import Arm, Figure, Recipe
from regard.recipes.results import ENSEMBLE, Measured, Results, Summary, summarize

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

_MOST_PANELS = 6
_HEADING = """# Results

Published tables, measured again by recipes that anyone can run: `regard recipe NAME --data DATA`, `DATA` being the
folder that holds the data sets. Each recipe names its data, metric and figures in one file of
[`src/regard/recipes`](src/regard/recipes). Settings are chosen on validation sets; a test set is scored for the
settings that were chosen. Scores are means over models of different seeds ± their sample deviation; "ensemble" is all
of them as one model; minutes are of training one model, validations included. ✓ is a figure that was reached, ✗ one
that was not. "Recalled" marks a published figure that was not looked up in its paper.

`python tools/results.py` writes this page from the files of [`results`](results), which
`regard recipe NAME --data DATA --record results` writes.
"""


def results_page(
    recipes: Sequence[Recipe], measured: Mapping[str, Results], notes: Mapping[str, str] | None = None
) -> str:
    """The text of ``RESULTS.md``.

    Args:
        recipes: in the order of the page.
        measured: by the name of the recipe.
        notes: Markdown for the end of a section, by the name of the recipe.
    """
    sections = [
        _section(recipe, measured.get(recipe.name, Results(recipe.name)), (notes or {}).get(recipe.name, ""))
        for recipe in recipes
    ]
    return "\n".join([_HEADING, _overview(recipes, measured), *sections])


def measured_table(recipes: Sequence[Recipe], measured: Mapping[str, Results]) -> str:
    """A short table of what was measured, a row per recipe, for the README; a sentence where nothing was."""
    rows = []
    for recipe in recipes:
        lines = summarize(recipe, measured.get(recipe.name, Results(recipe.name)).rows)
        if lines:
            scores = "; ".join(_in_short(recipe, line) for line in lines)
            rows.append(
                f"| {_cell(recipe.title)} | `regard recipe {recipe.name}` | {display_name(recipe.metric)}: {scores} |"
            )
    if not rows:
        return "No recipe was measured with this version yet.\n"
    return (
        "\n".join(
            ["| what | command | one model / ensemble, and the figure to reach |", "|---|---|---|", *rows]
        )
        + "\n"
    )


def draw_validation(recipe: Recipe, results: Results) -> "MatplotlibFigure | None":
    """The validations of the first seed of every arm over updates, a panel per score; None where there are none.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    from regard.plots.figures.curves import Curve, Panel, draw_curves

    curves: dict[str, list[Curve]] = {}
    trained = {arm.name for arm in recipe.arms if arm.models_of is None}
    for row in results.rows:
        if row.model == "seed-1" and row.curve and row.arm in trained:
            points = [(point.update, point.score) for point in row.curve]
            updates, scores = zip(*points, strict=True)
            curves.setdefault(row.select, []).append(Curve(row.arm, updates, scores))
    if not curves:
        return None
    panels = [
        Panel(each, "updates", f"validation {display_name(select)}")
        for select, each in list(curves.items())[:_MOST_PANELS]
    ]
    return draw_curves(panels)


def picture_of(recipe: Recipe) -> str:
    """The file name of a recipe's curves."""
    return f"{recipe.name}.svg"


def _overview(recipes: Sequence[Recipe], measured: Mapping[str, Results]) -> str:
    """How many figures were reached, by recipe."""
    lines = ["| recipe | figures | reached | not reached | not measured |", "|---|---|---|---|---|"]
    for recipe in recipes:
        results = measured.get(recipe.name, Results(recipe.name))
        summaries = summarize(recipe, results.rows)
        marks = [line.reached(figure, recipe.metric) for line in summaries for figure in line.figures]
        total = len(recipe.figures) + sum(len(each) for arm in recipe.arms for each in arm.figures.values())
        reached, missed = marks.count(True), marks.count(False)
        lines.append(
            f"| [{recipe.name}](#{recipe.name}) | {total} | {reached} | {missed} | {total - reached - missed} |"
        )
    return "\n".join(lines) + "\n"


def _section(recipe: Recipe, results: Results, note: str) -> str:
    columns = ["", display_name(recipe.metric), *map(display_name, recipe.others), "ensemble", "to reach"]
    columns += ["models", "minutes", "hardware", "commit"]
    lines = [
        f"## {recipe.name}\n",
        f"{recipe.title}. {_sentence(recipe.conditions)}\n",
        f"`regard recipe {recipe.name} --data DATA`\n",
        f"| {' | '.join(columns)} |",
        "|" + "---|" * len(columns),
    ]
    summaries = {(line.arm, line.test): line for line in summarize(recipe, results.rows)}
    for arm in recipe.arms:
        tests = [test for name, test in summaries if name == arm.name] or list(arm.figures) or [""]
        for test in tests:
            line = summaries.pop((arm.name, test), None)
            figures = arm.figures.get(test, ())
            cells = (
                ["not measured", *([""] * len(recipe.others)), "", _figures(recipe, figures, None)] + [""] * 4
                if line is None
                else _measured_cells(recipe, arm, line, results.arms[arm.name])
            )
            lines.append(f"| {_name(arm.name, test)} | {' | '.join(cells)} |")
    for line in summaries.values():  # the mean over all arms
        cells = [_score(recipe, line), *([""] * len(recipe.others)), _ensemble(recipe, line)]
        cells += [_figures(recipe, line.figures, line), "", f"{line.minutes:.1f}", "", ""]
        lines.append(f"| {line.arm} | {' | '.join(cells)} |")
    text = "\n".join(lines) + "\n"
    if any(row.curve for row in results.rows):
        text += f"\n![Validation scores of {recipe.name} over updates](results/{picture_of(recipe)})\n"
    return text + (f"\n{note.strip()}\n" if note.strip() else "")


def _measured_cells(recipe: Recipe, arm: Arm, line: Summary, measured: Measured) -> list[str]:
    members = [row for row in measured.rows if row.model != ENSEMBLE]
    others = []
    for key in recipe.others:
        values = [row.tests[line.test][key] for row in members if key in row.tests[line.test]]
        others.append(format_score(key, sum(values) / len(values)) if values else "")
    minutes = f"{line.minutes:.1f}"
    if arm.milestone is not None and (reached := _minutes_to(measured, arm.milestone)) is not None:
        minutes += f"; {reached:.1f} to {format_score(members[0].select, arm.milestone)} in validation"
    hardware = measured.hardware
    if "core" in hardware:
        hardware += f", {measured.threads} thread{'' if measured.threads == 1 else 's'}"
    changed = "".join(f" `--set {each}`" for each in measured.assignments)
    return [
        _score(recipe, line) + changed,
        *others,
        _ensemble(recipe, line),
        _figures(recipe, line.figures, line),
        str(len(members)),
        minutes,
        _cell(hardware),
        measured.commit or "unknown",
    ]


def _minutes_to(measured: Measured, score: float) -> float | None:
    """Training until the first model's first validation that reaches a score; None where none does."""
    row = measured.rows[0]
    for point in row.curve:
        if point.score == score or is_better(row.select, point.score, score):
            return point.minutes
    return None


def _name(arm: str, test: str) -> str:
    return f"{arm}, {test}" if test not in ("", "test") else arm


def _score(recipe: Recipe, line: Summary) -> str:
    if line.deviation is None:
        return format_score(recipe.metric, line.mean)
    return format_with_margin(recipe.metric, line.mean, line.deviation)


def _ensemble(recipe: Recipe, line: Summary) -> str:
    return "" if line.ensemble is None else format_score(recipe.metric, line.ensemble)


def _in_short(recipe: Recipe, line: Summary) -> str:
    """A measured score, that of the ensemble, and the figures: ``kor 17.1 / 16.6 % (✗ ensemble ≤ 16.3 %)``."""
    score = format_score(recipe.metric, line.mean)
    if line.ensemble is not None:
        score = f"{score.split()[0]} / {_ensemble(recipe, line)}"  # the unit once
    figures = ", ".join(
        _mark(recipe, figure, line) + ("ensemble " if figure.ensemble else "") + _bound(recipe, figure)
        for figure in line.figures
    )
    return f"{_name(line.arm, line.test)} {score}" + (f" ({figures})" if figures else "")


def _bound(recipe: Recipe, figure: Figure) -> str:
    sign = "≤" if METRICS[recipe.metric].better == "lower" else "≥"
    return f"{sign} {format_score(recipe.metric, figure.value)}"


def _mark(recipe: Recipe, figure: Figure, line: Summary | None) -> str:
    reached = None if line is None else line.reached(figure, recipe.metric)
    return {True: "✓ ", False: "✗ ", None: ""}[reached]


def _figures(recipe: Recipe, figures: Sequence[Figure], line: Summary | None) -> str:
    def to_reach(figure: Figure) -> str:
        of = "ensemble" if figure.ensemble else "one model"
        return _cell(f"{_bound(recipe, figure)} ({of}; {figure.source})")

    return "<br>".join(_mark(recipe, figure, line) + to_reach(figure) for figure in figures)


def _cell(text: str) -> str:
    """Text in a table of Markdown."""
    return text.replace("|", "\\|")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def read_results(folder: Path, recipes: Sequence[Recipe]) -> dict[str, Results]:
    """What is stored of each recipe in a folder, one file per recipe.

    Raises:
        DataError: a file is damaged.
    """
    stored = {recipe.name: Results.read(results_file(folder, recipe.name), recipe.name) for recipe in recipes}
    return {name: results for name, results in stored.items() if results.arms}


def read_notes(folder: Path, recipes: Sequence[Recipe]) -> dict[str, str]:
    """The notes about each recipe in a folder."""
    files = {recipe.name: folder / f"{recipe.name}.md" for recipe in recipes}
    return {name: path.read_text(encoding="utf-8") for name, path in files.items() if path.exists()}


def results_file(folder: Path, recipe: str) -> Path:
    """Where the results of a recipe are stored."""
    return folder / f"{recipe}.json"
