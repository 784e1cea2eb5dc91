"""What recipes measured, how it came about, and how it compares with the published figures.

In: the `Row`s of trained models. Out: a `Summary` per arm and test set; ``results.json``, the rows of every arm with
the command, commit and hardware behind them. Arms are measured one by one, perhaps on different machines, so each has
its own `Measured`, and a file of results is merged arm by arm.
"""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from regard.errors import DataError
from regard.evaluation.metrics import METRICS
from regard.io import make_folder, parse_json, read_whole, write_whole_text
from regard.recipes.recipe import Figure, Recipe
from regard.training.seeds import sample_deviation

RESULTS = "results.json"
ENSEMBLE = "ensemble"
MEAN = "mean"
"""The name of the mean over all data sets of a recipe."""
_MAX_RESULTS_BYTES = 1 << 24


@dataclass(frozen=True)
class Point:
    """A validation during training.

    Attributes:
        update: updates until then.
        minutes: of training until then, validations included.
        score: of the metric that selects.
    """

    update: int
    minutes: float
    score: float


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
        select: the score that selected the best checkpoint.
        curve: that score over the training; none of an ensemble.
    """

    arm: str
    model: str
    valid: Mapping[str, float]
    tests: Mapping[str, Mapping[str, float]]
    minutes: float
    num_parameters: int
    select: str = "loss"
    curve: Sequence[Point] = ()


@dataclass(frozen=True)
class Measured:
    """The rows of one arm, and how they came about.

    Attributes:
        rows: of its models, and of their ensemble.
        command: what to type to measure them again; the folder of the data sets is ``DATA``.
        commit: of the code, with ``+`` where files had been changed; empty where it is not known.
        hardware: what the models were trained on.
        threads: of each training.
        torch: its version.
        date: when the last training of them began.
        assignments: options that are not the recipe's.
    """

    rows: Sequence[Row]
    command: str
    commit: str
    hardware: str
    threads: int
    torch: str
    date: str
    assignments: Sequence[str] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what `asdict` wrote."""
        rows = [
            Row(**{**row, "curve": [Point(**point) for point in row.get("curve", ())]})
            for row in value["rows"]
        ]
        return cls(**{**value, "rows": rows})


@dataclass(frozen=True)
class Results:
    """Everything that was measured of a recipe.

    Attributes:
        recipe: its name.
        arms: by name.
    """

    recipe: str
    arms: Mapping[str, Measured] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        """Those of all arms."""
        return [row for measured in self.arms.values() for row in measured.rows]

    def merge(self, other: "Results") -> "Results":
        """These results with another's, arm by arm; the other's win."""
        return Results(self.recipe, {**self.arms, **other.arms})

    def write(self, path: Path) -> None:
        """Write a file of results.

        Raises:
            DataError: it cannot be written.
        """
        make_folder(path.parent)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        write_whole_text(path, text + "\n")

    @classmethod
    def read(cls, path: Path, recipe: str) -> Self:
        """Read a file of results; without one there are none.

        Raises:
            DataError: it is damaged, or of another recipe.
        """
        if not path.exists():
            return cls(recipe)
        try:
            value = parse_json(read_whole(path, _MAX_RESULTS_BYTES))
            arms = {name: Measured.from_json(arm) for name, arm in value["arms"].items()}
            found = cls(value["recipe"], arms)
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise DataError(
                f"{path}: not a file of results ({error}); remove it, or choose another"
            ) from error
        if found.recipe != recipe:
            raise DataError(
                f"{path}: the results of {found.recipe}, and not of {recipe}; choose another file"
            )
        return found


@dataclass(frozen=True)
class Summary:
    """A line of the table of results: one arm on one test set.

    Attributes:
        arm: of the recipe, or `MEAN`.
        test: the test set.
        single: the score of each seed.
        ensemble: the score of all of them together; None where there is none.
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


def summarize(recipe: Recipe, rows: Sequence[Row]) -> list[Summary]:
    """The table of results: a line per arm and test set, and the mean over arms where all of them are measured.

    Folds of a cross-validation are one test set: a single score per fold.
    """
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
    if recipe.figures and {line.arm for line in lines} == {arm.name for arm in recipe.arms}:
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


def report_json(recipe: Recipe, results: Results) -> dict[str, Any]:
    """Everything that was measured, and the table, as plain values."""
    return {
        "metric": recipe.metric,
        **asdict(results),
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
            for line in summarize(recipe, results.rows)
        ],
    }
