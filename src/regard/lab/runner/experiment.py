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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from regard.errors import DataError
from regard.io import make_folder, write_whole_text
from regard.lab.runner.bench import Bench
from regard.plots.figures.canvas import save
from regard.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


HELD, IN_PART, NOT_SEEN = "held", "held in part", "not seen here"
Sizes = TypeVar("Sizes")
"""What an experiment's two sizes are given as, such as a dataclass of its own."""


@dataclass(frozen=True)
class Check:
    """A measured value and its bound. A value that is not a number never holds.

    Attributes:
        what: the value in words, such as "BLEU kept at 16–30 words, RNNsearch-15".
        value: as measured.
        relation: of the value to the bound, if the claim holds.
        bound: set before the run, with its reason in the experiment's `decides`.
        unit: written after both, such as " %".
        control: whether a working program passes without the claim too (an identity, a baseline that must fail): it
            must hold, but is no evidence for the claim if nothing else holds.
    """

    what: str
    value: float
    relation: Literal["at least", "at most"]
    bound: float
    unit: str = ""
    control: bool = False

    @property
    def held(self) -> bool:
        """Whether the value is on the right side of the bound, or on it."""
        return self.value >= self.bound if self.relation == "at least" else self.value <= self.bound

    def to_json(self) -> dict[str, Any]:
        """The fields and `held`, as a JSON object."""
        return {**asdict(self), "held": self.held}


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
        """`HELD` if every check held, `IN_PART` if one that is not a control did, else `NOT_SEEN`."""
        if self.checks and all(check.held for check in self.checks):
            return HELD
        return IN_PART if any(check.held and not check.control for check in self.checks) else NOT_SEEN

    def to_json(self) -> dict[str, Any]:
        """The word, the reason and the checks, as a JSON object."""
        return {
            "word": self.word,
            "because": self.because,
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
    versions: Mapping[str, str]
    numbers: Mapping[str, Any]
    figures: Sequence[Mapping[str, str]]
    tables: Sequence[Mapping[str, Any]]
    remarks: Sequence[str]


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
