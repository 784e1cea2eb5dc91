"""Regard's search, measured as the peers' is: a model from a short training, a process of its own, one stopwatch.

In: a setting, a demand, a variant. Out: `Searched`. The model learns as `regard train` lets it and is kept for the next
time; `regard translate` translates, and `Translator.search` is its search of a batch.
"""

import sys
from pathlib import Path
from typing import Any

from benchmarks.contest import OURS
from benchmarks.demands import Demand
from benchmarks.peers.call import call
from benchmarks.peers.commands import Command
from benchmarks.process import in_own_process
from benchmarks.searched import Searched, searched
from benchmarks.settings import Setting, run_of
from benchmarks.shortlists import write_shortlist
from regard.inference.shortlist import FILE as SHORTLIST
from regard.search.options import DEFAULT_SEARCH
from regard.training.run import run_training

VARIANTS: dict[str, list[str]] = {
    OURS: [],
    f"{OURS}, int8": ["--precision", "int8"],
    f"{OURS}, bf16": ["--precision", "bfloat16"],
    f"{OURS}, int8 and shortlist": ["--precision", "int8", "--shortlist"],
}
"""What `regard translate` is told beside the demand; the first is what all others are held against."""
_LARGE = 1000  # words: below, a shortlist would save nothing
UPDATES = 12


def variants(setting: Setting) -> list[str]:
    """Those of `VARIANTS` that make sense for a setting."""
    large = setting.vocabulary > _LARGE
    return [name for name, told in VARIANTS.items() if large or "--shortlist" not in told]


def model_of(setting: Setting, work: Path, *, threads: int) -> Path:
    """The folder of the setting's model and its shortlist, made where it is not yet there.

    Raises:
        RegardError: the training failed.
    """
    folder = work.absolute() / f"{OURS}-{setting.name}-searching"
    if not (folder / "report.json").exists():
        given = {"setting": setting.to_json(), "folder": str(folder)}
        in_own_process("benchmarks.translating:train", given, threads=threads)
    if not (folder / SHORTLIST).exists():
        write_shortlist(setting, folder)
    return folder


def train(setting: dict[str, Any], folder: str) -> dict[str, Any]:
    """Train in this process; what `model_of` calls in its child."""
    chosen = Setting.from_json({**setting, "updates": UPDATES})
    learnt, valid = chosen.corpus.pairs()
    return dict(run_training(folder, run_of(chosen, "luong"), train=learnt, valid=valid).report)


def measure(
    variant: str, setting: Setting, demand: Demand, model: Path, data: Path, *, threads: int
) -> Searched:
    """Let Regard search.

    Args:
        variant: one of `VARIANTS`.
        setting: how long outputs are.
        demand: what to search for.
        model: the folder.
        data: the folder of the demand's sentences.
        threads: how many it computes with.

    Raises:
        RegardError: it failed, or did other work than was asked for.
    """
    output, words = model / "output.txt", setting.output_words
    told = {
        "output": output,
        "weights": "last",
        "device": "cpu",
        "threads": threads,
        "beam": demand.beam,
        "batch": demand.batch,
        "min-length": words,
        "max-ratio": _ratio(words),
    }
    files = [str(model), str(data / f"{demand.part}.source")]
    options = [part for name, value in told.items() for part in (f"--{name}", str(value))]
    command = Command("regard.cli:main", ["translate", *files, *options, *VARIANTS[variant]])
    output.unlink(missing_ok=True)
    python, search = Path(sys.executable), "regard.tasks.translate.predictor:Translator.search"
    seen = call(python, command, model, "searched", threads=threads, timed=search)
    return searched(seen, demand, words, output.read_text(encoding="utf-8").splitlines())


def _ratio(words: int) -> float:
    """The greatest ratio to a source of as many words that leaves room for them and the end mark, and no more.

    A limit has ten tokens beside the ratio's share; half a token more than is needed keeps clear of rounding.
    """
    return (words + 1 - DEFAULT_SEARCH.max_extra + 0.5) / words
