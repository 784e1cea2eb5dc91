"""Two checkouts of Regard side by side: training and search of this one and of another one, alternating.

In: the root of the other checkout, a setting, the number of rounds. Out: a `Section` with the times of both and their
ratio. Each measurement runs `versus_worker` in its own process with the checkout's ``src`` on the path; who goes first
alternates from round to round. Options whose names differ between the checkouts are given for each separately. The
translations of both are compared: equal ones show that both did the same work.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import corpora
from benchmarks.interleave import Spread
from benchmarks.process import environment
from benchmarks.report import Section, Table
from benchmarks.settings import CLIP, SEED, Setting, model_config
from regard.errors import RegardError

BEAM, BATCH = 5, 32
_WORKER = Path(__file__).with_name("versus_worker.py")
QUANTITIES = {
    "update_seconds": "training, ms per update",
    "batch_seconds": f"beam {BEAM}, ms per batch of {BATCH}",
    "single_seconds": f"beam {BEAM}, ms per single sentence",
}
"""What is compared: the key of the worker's result → the name in the table."""


@dataclass(frozen=True)
class Checkout:
    """A working tree of Regard.

    Attributes:
        root: holds ``src/regard``.
        options: options of training for this checkout only, such as ``training.rate=0.001``.
    """

    root: Path
    options: Sequence[str] = ()


@dataclass
class Rounds:
    """The results of all rounds, one of each checkout per round."""

    this: list[dict[str, Any]] = field(default_factory=list)
    other: list[dict[str, Any]] = field(default_factory=list)


def compare(
    setting: Setting,
    this: Checkout,
    other: Checkout,
    *,
    rounds: int,
    threads: int,
    decoder: str = "luong",
    search_batches: int = 6,
    single: int = 20,
    log: Callable[[str], None],
) -> Rounds:
    """Measure both checkouts, `rounds` times each.

    Args:
        setting: the model, its corpus and the number of updates.
        this: the checkout that is judged.
        other: the reference.
        rounds: the number of measurements of each.
        threads: the number of threads of each process.
        decoder: ``luong`` or ``bahdanau``.
        search_batches: the number of batches searched.
        single: the number of sentences translated one at a time.
        log: called before each measurement.

    Raises:
        RegardError: a folder is not a checkout, or a measurement failed.
    """
    for checkout in (this, other):
        if not (checkout.root / "src" / "regard").is_dir():
            raise RegardError(f"{checkout.root}: not a checkout of Regard, because it has no src/regard")
    results = Rounds()
    with tempfile.TemporaryDirectory() as folder:
        corpora.write(setting.corpus, Path(folder))
        job = {
            "config": {
                "tokenizer": {
                    "source": "word",
                    "target": "word",
                    "source_size": setting.vocabulary,
                    "target_size": setting.vocabulary,
                },
                "model": model_config(decoder, setting.embedding_size, setting.encoder_size, setting.dropout),
                "training": {
                    "clip": CLIP,
                    "batch_sentences": setting.batch,
                    "batch_tokens": setting.batch * (setting.corpus.longest + 1),
                    "device": "cpu",
                    "max_updates": setting.updates,
                    "validate_every": setting.updates,
                    "seed": SEED,
                },
            },
            "corpus": folder,
            "warmup": setting.warmup,
            "search": {
                "beam": BEAM,
                "batch": BATCH,
                "batches": search_batches,
                "single": single,
                "min_length": setting.output_words,
            },
            "threads": threads,
        }
        for number in range(rounds):
            pairs = [("this", this, results.this), ("other", other, results.other)]
            for name, checkout, measured in pairs if number % 2 == 0 else reversed(pairs):
                log(f"{setting.name}, round {number + 1} of {rounds}: {name} ({checkout.root})")
                measured.append(_measure(checkout, job, threads))
    return results


def _measure(checkout: Checkout, job: Mapping[str, Any], threads: int) -> dict[str, Any]:
    root = checkout.root.resolve()
    done = subprocess.run(
        [sys.executable, str(_WORKER)],
        input=json.dumps({**job, "checkout": str(root), "options": list(checkout.options)}),
        capture_output=True,
        text=True,
        cwd=root,
        env={**environment(threads), "PYTHONPATH": str(root / "src"), "PYTHONSAFEPATH": "1"},
        check=False,
    )
    if done.returncode:
        raise RegardError(f"{root}: ended with status {done.returncode}: {done.stderr[-2000:].strip()}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def ratio(results: Rounds, quantity: str) -> Spread:
    """The time of this checkout divided by the other's in the same round; below 1, this one is faster.

    Both do the same work in the same order, and batches differ in size: each is compared with its own counterpart, and
    the median is that of the ratios.
    """
    return Spread.from_values(
        [
            float(median(one / two for one, two in zip(first[quantity], second[quantity], strict=True)))
            for first, second in zip(results.this, results.other, strict=True)
        ]
    )


def _milliseconds(result: Mapping[str, Any], quantity: str) -> float:
    """The median of one measurement; both checkouts train on the same batches and search the same sentences."""
    return 1000 * float(median(result[quantity]))


def versus_section(results: Mapping[str, Rounds], this: Checkout, other: Checkout) -> Section:
    """A table for each setting.

    Args:
        results: by setting.
        this: the checkout that is judged.
        other: the reference.
    """
    tables = []
    for name, rounds in results.items():
        rows = []
        for quantity, label in QUANTITIES.items():
            times = [
                Spread.from_values([_milliseconds(result, quantity) for result in measured]).format(",.1f")
                for measured in (rounds.this, rounds.other)
            ]
            rows.append([label, *times, ratio(rounds, quantity).format(".3f")])
        caption = f"{name}: {len(rounds.this)} rounds; {_agreement(rounds)}."
        tables.append(Table(caption, ["", "this", "other", "this ÷ other"], rows))
    return Section(
        "versus",
        "Two checkouts side by side",
        [
            "Each measurement is a new process that trains a model and translates with it through the public API; the "
            "checkouts alternate, and so does who goes first. Times are medians over rounds. A ratio is the median "
            "over updates, batches or sentences, each divided by the same one of the other checkout in that round, "
            "then the median over rounds, with minimum and maximum in brackets; below 1, this checkout is faster.",
            f"This: {_identify(this)}. Other: {_identify(other)}.",
        ],
        tables,
        numbers={
            name: {
                "this": rounds.this,
                "other": rounds.other,
                "ratio": {quantity: ratio(rounds, quantity).median for quantity in QUANTITIES},
            }
            for name, rounds in results.items()
        },
    )


def _agreement(results: Rounds) -> str:
    """How many translations of the two checkouts are equal."""
    pairs = [
        (first, second)
        for a, b in zip(results.this, results.other, strict=True)
        for first, second in zip(a["translations"], b["translations"], strict=True)
    ]
    equal = sum(first == second for first, second in pairs)
    return (
        "all translations are equal"
        if equal == len(pairs)
        else f"{equal} of {len(pairs)} translations are equal"
    )


def _identify(checkout: Checkout) -> str:
    """The folder and its commit."""
    done = subprocess.run(
        ["git", "-C", str(checkout.root), "log", "-1", "--format=%h %s"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{checkout.root.resolve()}, {done.stdout.strip() or 'not under version control'}"
