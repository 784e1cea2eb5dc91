"""An experiment's result on disk: ``result.json`` and the figures beside it.

In: an experiment and its finding. Out: a folder, and a `Result` that can be read back from it; pages are made
from that alone, so a page can be made again without another run.
"""

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.lab.bench.experiment import Experiment, Finding
from regard.output.pictures.canvas import save
from regard.version import __version__
from regard.whole_file import make_folder, write_whole_text

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
