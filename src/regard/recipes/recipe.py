"""A recipe: data sets, a configuration for each, and the published figures that they should reach.

Plain values and nothing that runs: `run` trains and scores a recipe, `results` compares what it measured with the
figures. What a recipe makes of a data set, such as a split, it writes by `write_lines`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regard.errors import DataError, nearest
from regard.io import make_folder, write_whole_text
from regard.tasks.spec import Preset


@dataclass(frozen=True)
class Corpus:
    """The files of a data set.

    Attributes:
        train: as ``--train`` takes them.
        valid: as ``--valid`` takes them; none where ``regard train`` splits some examples off.
        tests: by name, as ``regard evaluate`` takes them.
    """

    train: Sequence[Path]
    valid: Sequence[Path]
    tests: Mapping[str, Sequence[Path]] = field(default_factory=dict)


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
class Pretraining:
    """A language model from which the encoders of some arms start.

    It is trained once, with the first seed, and used by every arm and seed that names it.

    Attributes:
        name: within the recipe; that of its folder.
        corpus: (folder of the data sets, folder for files made from them) → the files; it has no test sets.
        config: options of ``regard train``, as a configuration file has them.
    """

    name: str
    corpus: Callable[[Path, Path], Corpus]
    config: Preset


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One data set, or one model, of a recipe.

    Attributes:
        name: within the recipe.
        corpus: (folder of the data sets, folder for files made from them) → the files, or those of each fold of a
            cross-validation: then model k is trained without fold k and tested on it.
        config: options of ``regard train``, as a configuration file has them; what it leaves open is planned.
        arguments: of ``regard train`` and ``regard evaluate`` beside the files, such as ``--features 2``.
        evaluate: arguments of ``regard evaluate`` alone.
        figures: to reach, by test set.
        pretraining: the language model from which the encoder starts.
        models_of: another arm, whose models this one scores in another way; it trains none.
        milestone: a validation score, of the metric that selects, until which minutes are counted.
    """

    name: str
    corpus: Callable[[Path, Path], Corpus | Sequence[Corpus]]
    config: Preset = field(default_factory=dict)
    arguments: Sequence[str] = ()
    evaluate: Sequence[str] = ()
    figures: Mapping[str, Sequence[Figure]] = field(default_factory=dict)
    pretraining: Pretraining | None = None
    models_of: "Arm | None" = None
    milestone: float | None = None

    @property
    def trained(self) -> "Arm":
        """The arm that trains the models: this one, or the one whose models it scores."""
        return self if self.models_of is None else self.models_of


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


def choose_arms(recipe: Recipe, names: Iterable[str]) -> Recipe:
    """The recipe with some of its arms; all where none is named. Figures for the mean are of all of them.

    Raises:
        DataError: there is no such arm.
    """
    wanted = list(names)
    known = {arm.name: arm for arm in recipe.arms}
    for name in wanted:
        if name not in known:
            raise DataError(f"{recipe.name} has no {name!r}; {nearest(name, known)}")
    if not wanted or set(wanted) == set(known):
        return recipe
    return replace(recipe, arms=[known[name] for name in wanted], figures=())


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Write a file that a recipe makes of a data set; one that is there already is kept."""
    if not path.exists():
        make_folder(path.parent)
        write_whole_text(path, "".join(f"{line}\n" for line in lines))
    return path
