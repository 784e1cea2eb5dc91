"""Whether a claim was seen: numbers held against bounds that were set before the run.

In: checks, each a measured value and its bound. Out: one of three words. A value that is not a number holds
against nothing. A control, which any working program passes, makes no claim hold in part; where all checks are
controls, as of an identity, that they hold is all there is to see.

What an experiment is, and what it hands back.

An experiment is one file of `regard.lab`: the claim, what is trained on what, what is drawn, and which numbers
decide. It ends in a `Finding`, plain data and figures; who runs it writes them down.

An experiment's result on disk: ``result.json`` and the figures beside it.

In: an experiment and its finding. Out: a folder, and a `Result` that can be read back from it; pages are made
from that alone, so a page can be made again without another run.
"""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.errors import DataError
from regard.io import make_folder, write_whole_text
from regard.lab.runner.bench import Bench
from regard.plots.figures.canvas import save
from regard.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


HELD, IN_PART, NOT_SEEN = "held", "held in part", "not seen here"


@dataclass(frozen=True)
class Check:
    """One number that decides.

    Attributes:
        what: the number in words, such as "BLEU kept beyond the lengths learnt from, RNNsearch".
        value: as measured.
        relation: how it must stand to the bound for the claim to hold.
        bound: set before the run, with its reason in the experiment's file.
        unit: written behind both, such as " %".
        control: whether it would hold without the claim too (an identity, a baseline that must fail): it must hold,
            but is no sign of the claim where nothing else holds.
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
        """Give the check as a JSON object."""
        return {
            "what": self.what,
            "value": self.value,
            "relation": self.relation,
            "bound": self.bound,
            "unit": self.unit,
            "control": self.control,
            "held": self.held,
        }


@dataclass(frozen=True)
class Verdict:
    """What an experiment says of its claim.

    Attributes:
        checks: all of them must hold for the claim to hold.
        because: what was seen, in a sentence or two with the numbers in it.
    """

    checks: Sequence[Check]
    because: str

    @property
    def word(self) -> str:
        """`HELD` where every check held, `IN_PART` where some that is no control did, else `NOT_SEEN`."""
        if self.checks and all(check.held for check in self.checks):
            return HELD
        return IN_PART if any(check.held and not check.control for check in self.checks) else NOT_SEEN

    def to_json(self) -> dict[str, Any]:
        """Give the verdict as a JSON object."""
        return {
            "word": self.word,
            "because": self.because,
            "checks": [check.to_json() for check in self.checks],
        }


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with what is to be said under it.

    Attributes:
        name: of its files, such as "curves".
        caption: what is drawn, in a sentence; what to see in it, in another.
        figure: drawn, with labelled axes; see `regard.plots`.
    """

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Grid:
    """A table of numbers or words.

    Attributes:
        caption: what stands in it.
        columns: their headings.
        rows: of each, one cell a column, as they are to be read.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Finding:
    """What an experiment found.

    Attributes:
        numbers: every number, as JSON; what the figures show can be drawn again from it.
        verdict: on the claim.
        drawings: the most telling one first.
        grids: tables.
        remarks: paragraphs on what else was seen, and why it may be so.
    """

    numbers: Mapping[str, Any]
    verdict: Verdict
    drawings: Sequence[Drawing] = ()
    grids: Sequence[Grid] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Experiment:
    """A claim of the lectures, and how to see whether it holds.

    Attributes:
        name: what is typed after ``regard lab``.
        title: a heading.
        claim: what the lectures say, in a sentence.
        source: where they say it.
        method: what is trained on what, and what is measured.
        decides: which numbers decide, against which bounds, and why these.
        run: does it.
        seconds: about how long that takes on one core; the longest are begun first.
        alone: whether it measures time, so that nothing may run beside it.
        text: what a text of the user's is to it, such as "a sentence to be read"; empty where it takes none.
    """

    name: str
    title: str
    claim: str
    source: str
    method: str
    decides: str
    run: Callable[[Bench], Finding]
    seconds: int
    alone: bool = False
    text: str = ""


RESULT = "result.json"
_ENDINGS = ("png", "svg")


@dataclass(frozen=True)
class Result:
    """What ``result.json`` says.

    Attributes:
        name: of the experiment.
        title: its heading.
        claim: of the lectures.
        source: where they claim it.
        method: how it was tried.
        decides: which numbers decide.
        verdict: the word, the reason and the checks.
        command: what to type to have it again.
        full: whether it was the longer run.
        seed: the first.
        seconds: how long it took.
        versions: of what it ran on.
        numbers: all that was measured.
        figures: name and caption of each; the files are ``NAME.png`` and ``NAME.svg``.
        grids: tables, each a caption, columns and rows.
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
    grids: Sequence[Mapping[str, Any]]
    remarks: Sequence[str]


def write_result(
    folder: Path,
    experiment: Experiment,
    finding: Finding,
    *,
    command: str,
    full: bool,
    seed: int,
    seconds: float,
) -> Result:
    """Write what was found, figures first, so that a ``result.json`` stands for a whole result.

    Returns:
        What `read_result` will give.

    Raises:
        DataError: the folder cannot be written.
    """
    make_folder(folder)
    for drawing in finding.drawings:
        for ending in _ENDINGS:
            save(drawing.figure, folder / f"{drawing.name}.{ending}")
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
        figures=[{"name": each.name, "caption": each.caption} for each in finding.drawings],
        grids=[asdict(each) for each in finding.grids],
        remarks=list(finding.remarks),
    )
    plain = _plain(asdict(result))
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole_text(folder / RESULT, text + "\n")
    return Result(**plain)


def read_result(folder: Path) -> Result:
    """Read a result back.

    Raises:
        DataError: there is none, or it is not whole.
    """
    path = folder / RESULT
    try:
        return Result(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            f"{path}: is no result of this lab ({error}); run the experiment again: regard lab {folder.name}"
        ) from error


def versions() -> dict[str, str]:
    """What the numbers hang on beside the seed."""
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


def _plain(value: Any) -> Any:
    """The same for JSON, which knows no arrays, no infinity ("∞") and no number for what is not one (null)."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays, and torch's
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "∞" if value > 0 else "−∞"
    return value
