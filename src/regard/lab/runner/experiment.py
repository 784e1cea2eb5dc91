"""What an experiment is, what it returns, and its result on disk.

An experiment is one file of `regard.lab`: the claim, a function that measures, and the checks that decide. It returns a
`Finding`, plain data and figures. `write_result` stores that as ``result.json`` with the figures beside it; pages are
made from the stored `Result` alone, so that they can be made again without another run.
"""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from regard.errors import DataError
from regard.evaluation.metrics import power_of_ten
from regard.io import make_folder, write_whole_text
from regard.lab.measures.statistics import Spread
from regard.lab.runner.bench import Bench
from regard.lab.runner.registration import Registration, registered_hashes
from regard.plots.figures.canvas import save
from regard.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


HELD, IN_PART, NOT_SEEN, NOT_DECIDED = "held", "held in part", "not seen here", "not decided"
"""The verdicts."""
YES, NO, OPEN = "yes", "no", "not decided"
"""The outcomes of a check."""
Sizes = TypeVar("Sizes")
"""What an experiment's two sizes are given as, such as a dataclass of its own."""
_LARGE, _SMALL = 10_000, 1e-4
_ROUND = 100
"""From here on the decimals of a number do not matter."""


def format_number(value: float | str | None) -> str:
    """A number with three significant digits; a dash for None, infinity as it is."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value and not _SMALL <= abs(value) < _LARGE:
        return power_of_ten(value, digits=1)
    return (f"{value:.3g}" if abs(value) < _ROUND else f"{value:,.0f}").replace("-", "−")


@dataclass(frozen=True)
class Check:
    """A measured value and its bound. A value that is not a number never holds.

    Attributes:
        what: the value in words, such as "BLEU kept at 16–30 words, RNNsearch-15".
        value: as measured; over several seeds the mean.
        relation: of the value to the bound, if the claim holds.
        bound: registered before the run, with its reason in the experiment's `decides`.
        unit: written after both, such as " %".
        control: whether a working program passes without the claim too (an identity, a baseline that must fail): it
            must hold, but is no evidence for the claim if nothing else holds.
        interval: of the value over seeds; the check holds only if all of it is on the right side of the bound.
        given: what must hold before this check may count, such as that the task was learned at its shortest length.
    """

    what: str
    value: float
    relation: Literal["at least", "at most"]
    bound: float
    unit: str = ""
    control: bool = False
    interval: tuple[float, float] | None = None
    given: Check | None = None

    @classmethod
    def over_seeds(
        cls,
        what: str,
        values: Iterable[float],
        relation: Literal["at least", "at most"],
        bound: float,
        unit: str = "",
        *,
        control: bool = False,
        given: Check | None = None,
    ) -> Check:
        """A check of one value per seed: their mean and its 90 % interval, `Spread.interval`; see `Check`."""
        spread = Spread.of(values)
        return cls(what, spread.mean, relation, bound, unit, control, spread.interval, given)

    @property
    def outcome(self) -> str:
        """`YES` or `NO`; `OPEN` if the interval includes the bound, or if what is `given` does not hold."""
        if self.given is not None and not self.given.held:
            return OPEN
        ends = self.interval or (self.value, self.value)
        near, far = ends if self.relation == "at least" else ends[::-1]
        return YES if self._on_the_right_side(near) else OPEN if self._on_the_right_side(far) else NO

    def _on_the_right_side(self, value: float) -> bool:
        return value >= self.bound if self.relation == "at least" else value <= self.bound

    @property
    def held(self) -> bool:
        """Whether the value, with all of its interval, is on the right side of the bound, or on it."""
        return self.outcome == YES

    @property
    def undecided(self) -> str:
        """Why the outcome is `OPEN`, in words."""
        if self.given is not None and not self.given.held:
            return (
                f"{self.given.what} is {format_number(self.given.value)}{self.given.unit}, and must be "
                f"{self.given.relation} {format_number(self.given.bound)}{self.given.unit} before this may count"
            )
        low, high, bound = map(format_number, (*(self.interval or ()), self.bound))
        return f"{self.what}: the interval from {low} to {high}{self.unit} includes the bound {bound}"

    def to_json(self) -> dict[str, Any]:
        """The fields and the outcome, as a JSON object."""
        return {**asdict(self), "outcome": self.outcome, "held": self.held}


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds.

    Attributes:
        checks: all of them must hold for the claim to hold.
        because: what was measured, in a sentence or two with the numbers in it.
    """

    checks: Sequence[Check]
    because: str

    @property
    def word(self) -> str:
        """One of the verdicts.

        `HELD` if every check held, `IN_PART` if one that is not a control did; else `NOT_SEEN` if one of those was
        decided, and `NOT_DECIDED` if none was.
        """
        if self.checks and all(check.held for check in self.checks):
            return HELD
        outcomes = [check.outcome for check in self.checks if not check.control]
        if YES in outcomes:
            return IN_PART
        return NOT_DECIDED if outcomes and all(outcome == OPEN for outcome in outcomes) else NOT_SEEN

    @property
    def undecided(self) -> list[str]:
        """Why checks were not decided, each reason once."""
        return list(dict.fromkeys(check.undecided for check in self.checks if check.outcome == OPEN))

    def to_json(self) -> dict[str, Any]:
        """The word, the reasons and the checks, as a JSON object."""
        return {
            "word": self.word,
            "because": self.because,
            "undecided": self.undecided,
            "checks": [check.to_json() for check in self.checks],
        }


@dataclass(frozen=True, eq=False)
class CaptionedFigure:
    """A figure and its caption.

    Attributes:
        name: of its files, such as "curves".
        caption: what is plotted, then what to look for.
        figure: with labelled axes; see `regard.plots`.
    """

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Table:
    """A table of formatted cells.

    Attributes:
        caption: what the cells are.
        columns: the headings.
        rows: one cell per column.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Finding:
    """What an experiment returns.

    Attributes:
        numbers: every number, as JSON; the figures can be plotted again from it.
        verdict: on the claim.
        figures: the most important one first.
        tables: in the order of the page.
        remarks: paragraphs on what else was measured, and on possible reasons.
    """

    numbers: Mapping[str, Any]
    verdict: Verdict
    figures: Sequence[CaptionedFigure] = ()
    tables: Sequence[Table] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Experiment(Generic[Sizes]):
    """A claim of the lectures, and how to test it.

    Attributes:
        name: what is typed after ``regard lab``.
        title: a heading.
        claim: what the lectures say, in a sentence.
        source: where they say it.
        method: what is trained on what, and what is measured.
        decides: which numbers decide, against which bounds, and why these.
        measure: the experiment itself, on a bench, at a size.
        usual: the size of an ordinary run.
        full: the size of the longer run, ``--full``.
        seconds: about how long the usual run takes on one core; the longest are started first.
        alone: whether it measures time, so that nothing may run beside it.
        text: what a text of the user's is for it, such as "a sentence to be read"; empty if it takes none.
        registration: the settings that decide; None for an experiment whose results are not registered.
    """

    name: str
    title: str
    claim: str
    source: str
    method: str
    decides: str
    measure: Callable[[Bench, Sizes], Finding]
    usual: Sizes
    full: Sizes
    seconds: int
    alone: bool = False
    text: str = ""
    registration: Registration[Sizes] | None = None

    @property
    def seed(self) -> int:
        """The first seed of a run that is not told another: the registered one."""
        return 1 if self.registration is None else self.registration.seed

    def decided_by(self, *, full: bool, seed: int) -> bool:
        """Whether a run of this size from this seed has the registered settings."""
        registered = self.registration
        if registered is None or seed != registered.seed:
            return False
        return self.full == registered.full if full else self.usual == registered.usual

    def run(self, bench: Bench) -> Finding:
        """Measure at the size the bench asks for."""
        return self.measure(bench, self.full if bench.full else self.usual)


RESULT = "result.json"
_ENDINGS = ("png", "svg")


@dataclass(frozen=True)
class Result:
    """The contents of ``result.json``.

    Attributes:
        name: of the experiment, as are the title, the claim, its source, the method and what decides.
        title: see `Experiment`.
        claim: see `Experiment`.
        source: see `Experiment`.
        method: see `Experiment`.
        decides: see `Experiment`.
        verdict: see `Verdict.to_json`.
        command: what to type to run it again.
        full: whether it was the longer run.
        seed: the first.
        seconds: how long it took.
        settings: the SHA-256 of the experiment's registered settings; empty if it has none.
        deciding: whether size and seed were those of the settings.
        versions: of Python, the libraries and the machine.
        numbers: all that was measured.
        figures: name and caption of each; the files are ``NAME.png`` and ``NAME.svg``.
        tables: each a caption, columns and rows.
        remarks: paragraphs.
    """

    name: str
    title: str
    claim: str
    source: str
    method: str
    decides: str
    verdict: Mapping[str, Any]
    command: str
    full: bool
    seed: int
    seconds: float
    settings: str
    deciding: bool
    versions: Mapping[str, str]
    numbers: Mapping[str, Any]
    figures: Sequence[Mapping[str, str]]
    tables: Sequence[Mapping[str, Any]]
    remarks: Sequence[str]

    @property
    def unregistered(self) -> str:
        """Why this result is not one of the registered settings, in words; empty if it is."""
        registered = registered_hashes().get(self.name, "")
        if not self.settings or not registered:
            return "no settings are registered"
        if self.settings != registered:
            return f"the settings {self.settings[:12]} are not the registered {registered[:12]}"
        return "" if self.deciding else "its seed or its size is not the registered one"


def write_result(
    folder: Path,
    experiment: Experiment[Any],
    finding: Finding,
    *,
    command: str,
    full: bool,
    seed: int,
    seconds: float,
) -> Result:
    """Write a finding; the figures first, so that where there is a ``result.json`` the result is complete.

    Returns:
        What `read_result` will return.

    Raises:
        DataError: the folder cannot be written.
    """
    make_folder(folder)
    for figure in finding.figures:
        for ending in _ENDINGS:
            save(figure.figure, folder / f"{figure.name}.{ending}")
    result = Result(
        name=experiment.name,
        title=experiment.title,
        claim=experiment.claim,
        source=experiment.source,
        method=experiment.method,
        decides=experiment.decides,
        verdict=finding.verdict.to_json(),
        command=command,
        full=full,
        seed=seed,
        seconds=round(seconds, 1),
        settings="" if experiment.registration is None else experiment.registration.sha256,
        deciding=experiment.decided_by(full=full, seed=seed),
        versions=versions(),
        numbers=finding.numbers,
        figures=[{"name": figure.name, "caption": figure.caption} for figure in finding.figures],
        tables=[asdict(table) for table in finding.tables],
        remarks=list(finding.remarks),
    )
    plain = _to_json(asdict(result))
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole_text(folder / RESULT, text + "\n")
    return Result(**plain)


def read_result(folder: Path) -> Result:
    """Read a result back.

    Raises:
        DataError: there is none, or it is not complete.
    """
    path = folder / RESULT
    try:
        return Result(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            f"{path}: is not a result of this lab ({error}); run the experiment again: regard lab {folder.name}"
        ) from error


def versions() -> dict[str, str]:
    """What the numbers depend on besides the seed."""
    import numpy
    import torch

    return {
        "regard": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count() or 1),
    }


def _to_json(value: Any) -> Any:
    """Arrays as lists, infinity as "∞", and null for what is not a number."""
    if isinstance(value, Mapping):
        return {str(key): _to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(each) for each in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays, and torch's
        return _to_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "∞" if value > 0 else "−∞"
    return value
