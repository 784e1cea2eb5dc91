"""Whether memory grows with a corpus: ``python -m benchmarks.memory``; see its ``--help``.

Pairs are generated as text, prepared as a store, and trained from: each step in a process of its own, whose peak memory
is measured. With ``--repeat``, the parts of the largest store are linked several times into another, which takes no
time and no disk. Prints progress on standard error, a table on standard output.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.process import run_in_subprocess
from benchmarks.report import Table, markdown_table
from regard.batches.store import MANIFEST, Part, write_manifest
from regard.training.configure import plan_run
from regard.training.prepare import prepare_store
from regard.training.progress import Event, Progress
from regard.training.run import run_training

SIZES = (10_000, 100_000, 1_000_000)
OPTIONS = {
    "tokenizer": {"source": "bpe", "target": "bpe", "source_size": 2000, "target_size": 2000},
    "model": {
        "encoder": {"embedding_size": 16, "state_size": 16},
        "decoder": {"embedding_size": 16, "state_size": 16, "attention": {"size": 16}},
    },
    "training": {"device": "cpu", "validation_sentences": 1, "batch_sentences": 64},
}


def write_pairs(path: Path, count: int) -> None:
    """Write pairs of 5 to 30 words of a vocabulary of 20,000; the target is the source reversed."""
    rng = random.Random(0)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(20_000)]
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            sentence = rng.choices(words, k=rng.randint(5, 30))
            file.write(f"{' '.join(sentence)}\t{' '.join(reversed(sentence))}\n")


def prepare(folder: str, jobs: int) -> dict[str, Any]:
    """Prepare the pairs in a folder; called in a subprocess."""
    started = time.perf_counter()
    report = prepare_store(Path(folder) / "store", [str(Path(folder) / "pairs.tsv")], OPTIONS, jobs=jobs)
    return {"seconds": time.perf_counter() - started, "read": report["read"]}


def train(folder: str, source: str, updates: int) -> dict[str, Any]:
    """Train from the store, or from the text itself; called in a subprocess."""
    started = time.perf_counter()
    first: list[float] = []

    def listen(event: Event) -> None:
        if isinstance(event, Progress) and not first:
            first.append(time.perf_counter() - started)

    training = {"max_updates": updates, "validate_every": updates}
    planned = plan_run(OPTIONS, {"data": {"train": [str(Path(folder) / source)]}, "training": training})
    run_training(Path(folder) / f"model-{source}", planned.config, listener=listen, page=False)
    return {"first_update": first[0]}


def repeat_store(store: Path, target: Path, times: int) -> None:
    """Make a store of the parts of another, each several times."""
    manifest = json.loads((store / MANIFEST).read_text(encoding="utf-8"))
    target.mkdir()
    parts = []
    for k in range(times):
        for part in manifest["parts"]:
            repeated = Part(**{**part, "file": f"{k:03d}-{part['file']}"})
            os.link(store / part["file"], target / repeated.file)
            parts.append(repeated)
    files = [name for name in manifest["files"] if not name.endswith(".arrow")]
    for name in files:
        os.link(store / name, target / name)
    for corpus in manifest["facts"]["corpora"]:
        corpus["examples"] *= times
    write_manifest(target, parts, manifest["vocabularies"], manifest["facts"], files)


def measure(count: int, updates: int, jobs: int, text_up_to: int, repeat: int) -> Iterator[list[str]]:
    """The rows of the table for a number of pairs, and for the same pairs several times over."""
    with tempfile.TemporaryDirectory() as folder:
        write_pairs(Path(folder) / "pairs.tsv", count)
        prepared = run_in_subprocess("benchmarks.memory:prepare", {"folder": folder, "jobs": jobs}, threads=1)

        def trained(source: str) -> list[str]:
            arguments = {"folder": folder, "updates": updates, "source": source}
            measured = run_in_subprocess("benchmarks.memory:train", arguments, threads=1)
            return [_mb(measured), f"{measured['first_update']:.1f}"]

        rate = f"{prepared['read'] / prepared['seconds']:,.0f}"
        text = ["–", "–"] if count > text_up_to else trained("pairs.tsv")
        yield [f"{count:,}", rate, _mb(prepared), *trained("store"), *text]
        if repeat > 1:
            repeat_store(Path(folder) / "store", Path(folder) / "repeated", repeat)
            yield [f"{count * repeat:,}, linked", "–", "–", *trained("repeated"), "–", "–"]


def _mb(measured: dict[str, Any]) -> str:
    return f"{measured['peak_bytes'] / 1e6:,.0f}"


def main() -> None:
    """Measure all sizes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of pairs")
    parser.add_argument("--updates", type=int, default=300, help="updates of each training")
    parser.add_argument("--jobs", type=int, default=1, help="processes that prepare")
    parser.add_argument(
        "--text-up-to", type=int, default=1_000_000, help="most pairs to train on from the text, too"
    )
    parser.add_argument(
        "--repeat", type=int, default=1, help="how often to link the parts of the largest store"
    )
    options = parser.parse_args()
    columns = (
        "pairs",
        "prepare: pairs/s",
        "MB",
        "train from the store: MB",
        "s to the first update",
        "from the text: MB",
        "s",
    )
    rows = []
    for count in options.sizes:
        print(f"{count:,} pairs", file=sys.stderr)
        repeat = options.repeat if count == max(options.sizes) else 1
        rows += measure(count, options.updates, options.jobs, options.text_up_to, repeat)
    print("\n".join(markdown_table(Table("", columns, rows))))


if __name__ == "__main__":
    main()
