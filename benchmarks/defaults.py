"""What the default command is worth: its plan on ten kinds of file, beside configurations made by hand.

``python -m benchmarks.defaults FOLDER --data SHARED`` makes the files of each kind in FOLDER and trains on them by
``regard train MODEL --train … --valid …`` and nothing else, and once with each configuration made by hand. The best
configuration by hand is chosen on the validation set; the default must be within 3 % of it on the test set. Real data
are read from SHARED and written to FOLDER only. What is finished is not done again.
"""

import argparse
import gzip
import json
import lzma
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import run_regard
from benchmarks.report import Table, markdown_table
from benchmarks.small import RELATIONS, make_strings
from regard.datasets import find_dataset
from regard.errors import RegardError

TOLERANCE = 0.03
DEFAULT = "default"
PARTS = ("train", "valid", "test")

Splits = tuple[Sequence[str], Sequence[str], Sequence[str]]
"""The lines of training, validation and test."""


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        read: the folder of shared data → its lines.
        metric: the score that counts, a key of what ``regard evaluate --json`` prints.
        by_hand: configurations by name: the arguments of ``regard train`` beside the data.
        arguments: of the data, for ``regard train`` and ``regard evaluate``: what a user of such a file gives.
        lower_is_better: whether `metric` is an error or a perplexity.
    """

    read: Callable[[Path], Splits]
    metric: str
    by_hand: dict[str, Sequence[str]]
    arguments: Sequence[str] = ()
    lower_is_better: bool = False


def _options(*assignments: str) -> list[str]:
    return [argument for assignment in assignments for argument in ("--set", assignment)]


def _preset(name: str, *assignments: str) -> list[str]:
    return ["--preset", name, *_options(*assignments)]


def read_lines(path: Path) -> list[str]:
    """The lines of a compressed file."""
    opener = {".xz": lzma.open, ".gz": gzip.open}[path.suffix]
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def split(lines: Iterable[str], valid: int, test: int, train: int | None = None) -> Splits:
    """Shuffle different lines, and take the test lines first."""
    shuffled = sorted(set(lines))
    random.Random(1).shuffle(shuffled)
    end = valid + test + (len(shuffled) if train is None else train)
    return shuffled[valid + test : end], shuffled[test : valid + test], shuffled[:test]


def _parts(pattern: str) -> Callable[[Path], Splits]:
    def read(data: Path) -> Splits:
        train, valid, test = (read_lines(data / pattern.format(part)) for part in ("train", "dev", "test"))
        return train, valid, test

    return read


def _german(data: Path) -> Splits:
    train, valid, test = _parts("sigmorphon2016-inflection/german-task1-{}.xz")(data)
    return train, valid, test[:3000]


def _tatoeba(train: int) -> Callable[[Path], Splits]:
    """Pairs that share no English side between the parts."""

    def read(data: Path) -> Splits:
        pairs: dict[str, str] = {}
        for line in read_lines(data / "tatoeba-engfra" / "fra.txt.xz"):
            pairs.setdefault(line.split("\t")[0], line)
        everything = split(pairs.values(), 1000, 1000)
        if train <= len(everything[0]):
            return everything[0][:train], *everything[1:]
        held_out = {line.split("\t")[0] for part in everything[1:] for line in part}
        more = [
            line
            for line in read_lines(data / "tatoeba-engfra" / "fra.txt.xz")
            if line.split("\t")[0] not in held_out
        ]
        return split(more, 0, 0, train)[0], *everything[1:]

    return read


def _europarl(data: Path) -> Splits:
    sides = (read_lines(data / "europarl-enes-align" / f"corpus.{side}.xz") for side in ("es", "en"))
    return split(("\t".join(pair) for pair in zip(*sides, strict=True) if all(pair)), 200, 300)


def _trec(data: Path) -> Splits:
    def tabbed(part: str) -> list[str]:
        return [line.replace(" ", "\t", 1) for line in read_lines(data / "sentclass" / f"TREC.{part}.all.xz")]

    train, valid, _ = split(tabbed("train"), 500, 0)
    return train, valid, tabbed("test")


def _penn(data: Path) -> Splits:
    train, valid, test = (
        [line.strip() for line in read_lines(data / "ptb" / f"ptb.{part}.txt.xz")] for part in PARTS
    )
    return train, valid, test


def _dates(data: Path) -> Splits:
    del data
    made = find_dataset("dates")().splits(train=5000, valid=500, test=500, seed=1)
    train, valid, test = (
        [f"{pair.source}\t{pair.target}" for pair in part] for part in (made.train, made.valid, made.test)
    )
    return train, valid, test


def _tagged(data: Path) -> Splits:
    del data
    made = find_dataset("tagging")().splits(train=2000, valid=300, test=500, seed=1)

    train, valid, test = (
        [
            "".join(
                f"{word}\t{tag}\n" for word, tag in zip(pair.source.split(), pair.target.split(), strict=True)
            )
            for pair in part
        ]
        for part in (made.train, made.valid, made.test)
    )
    return train, valid, test


def _reversed(data: Path) -> Splits:
    del data
    strings = make_strings("defaults", 700)
    pairs = [f"{word}\t{RELATIONS['reversed'].write(word)}" for word in strings]
    return pairs[:100], pairs[100:200], pairs[200:]


_WIDE = _options(
    "model.encoder.state_size=256",
    "model.encoder.embedding_size=128",
    "model.decoder.state_size=512",
    "model.decoder.embedding_size=128",
    "model.decoder.readout_size=256",
    "model.encoder.dropout=0.4",
    "model.decoder.dropout=0.4",
)
_TRANSLATORS = {
    "rnnsearch-small": _preset("rnnsearch-small"),
    "luong-small": _preset("luong-small"),
    "rnnsearch-small, 2,000 subwords, dropout 0.5": _preset(
        "rnnsearch-small",
        "tokenizer.source_size=2000",
        "tokenizer.target_size=2000",
        "model.encoder.dropout=0.5",
        "model.decoder.dropout=0.5",
        "training.max_epochs=20",
    ),
}
KINDS = {
    "spelling to phones": Kind(
        _parts("sigmorphon2020-g2p/dut_{}.tsv.xz"),
        "exact_match",
        {
            "twice the width": _WIDE,
            "Bahdanau's": _options("model.decoder.kind=bahdanau", "model.decoder.attention.energy=additive"),
            "hard monotonic, LSTM": _options("model.encoder.cell=lstm", "model.decoder.cell=lstm"),
        },
    ),
    "lemma and features to form": Kind(
        _german,
        "exact_match",
        {
            "twice the width": _WIDE,
            "pointer-generator": _options("model.decoder.kind=bahdanau", "model.decoder.copy=true"),
        },
        ("--features", "2"),
    ),
    "dates": Kind(
        _dates,
        "exact_match",
        {
            "characters": _preset("characters"),
            "characters, 3,000 updates": _preset(
                "characters", "training.max_epochs=0", "training.max_updates=3000"
            ),
        },
    ),
    "short translations": Kind(_tatoeba(20_000), "bleu", _TRANSLATORS),
    "long translations": Kind(_europarl, "bleu", _TRANSLATORS),
    "labelled texts": Kind(
        _trec,
        "accuracy",
        {
            "classifier": _preset("classifier"),
            "classifier, dropout 0.5": _preset("classifier", "model.encoder.dropout=0.5"),
            "lstmn-classifier": _preset("lstmn-classifier"),
        },
    ),
    "tagged words": Kind(
        _tagged, "accuracy", {"tagger": _preset("tagger")}, ("--vertical", "--columns", "1", "2")
    ),
    "plain text": Kind(
        _penn,
        "perplexity",
        {
            "lstm-lm": _preset("lstm-lm"),
            "lstm-lm, 400 units, dropout 0.5": _preset(
                "lstm-lm", "model.embedding_size=400", "model.state_size=400", "model.dropout=0.5"
            ),
        },
        lower_is_better=True,
    ),
    "100 pairs": Kind(
        _reversed,
        "exact_match",
        {
            "characters": _preset("characters", "training.max_epochs=0", "training.max_updates=2000"),
            "without renaming": _options("data.rename_symbols=false"),
        },
    ),
    "100,000 pairs": Kind(
        _tatoeba(100_000), "bleu", {name: _TRANSLATORS[name] for name in ("rnnsearch-small", "luong-small")}
    ),
}


@dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
        kind: a key of `KINDS`.
        name: `DEFAULT`, or a key of the kind's `by_hand`.
        valid: the score on the validation set.
        test: the score on the test set.
        minutes: of the training, by the clock.
    """

    kind: str
    name: str
    valid: float
    test: float
    minutes: float


def write_files(kind: str, folder: Path, data: Path) -> None:
    """Write a kind's three files."""
    if all((folder / part).exists() for part in PARTS):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for part, lines in zip(PARTS, KINDS[kind].read(data), strict=True):
        (folder / part).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def measure(kind: str, name: str, folder: Path, extra: Sequence[str], threads: int) -> Run:
    """Train and score one configuration, unless it was done before.

    Args:
        kind: a key of `KINDS`.
        name: `DEFAULT`, or a key of the kind's `by_hand`.
        folder: that holds the kind's files.
        extra: arguments of ``regard train`` for every run, such as a device.
        threads: of the processes.

    Raises:
        RegardError: a command failed.
    """
    model = folder / "".join(letter if letter.isalnum() else "-" for letter in name)
    result = model / "result.json"
    if result.exists():
        return Run(**json.loads(result.read_text(encoding="utf-8")))
    spec = KINDS[kind]
    chosen = () if name == DEFAULT else spec.by_hand[name]
    start = time.perf_counter()
    files = ["--train", f"{folder}/train", "--valid", f"{folder}/valid"]
    run_regard(["train", str(model), *files, *spec.arguments, *chosen, *extra], threads)
    minutes = (time.perf_counter() - start) / 60
    valid, test = (
        json.loads(
            run_regard(["evaluate", str(model), f"{folder}/{part}", *spec.arguments, "--json"], threads)
        )[spec.metric]
        for part in ("valid", "test")
    )
    run = Run(kind, name, valid, test, minutes)
    result.write_text(json.dumps(vars(run)), encoding="utf-8")
    return run


def shortfall(kind: str, default: float, by_hand: float) -> float:
    """How far the default falls short of the best configuration by hand, relative to it; below 0 it is ahead."""
    difference = default - by_hand if KINDS[kind].lower_is_better else by_hand - default
    return difference / by_hand if by_hand else 0.0


def compare(kind: str, runs: Sequence[Run]) -> tuple[Run, Run]:
    """The default run, and the run by hand with the best score on the validation set."""
    default = next(run for run in runs if run.name == DEFAULT)
    choose = min if KINDS[kind].lower_is_better else max
    return default, choose((run for run in runs if run.name != DEFAULT), key=lambda run: run.valid)


def table(runs: Sequence[Run]) -> Table:
    """One kind per row."""
    rows = []
    for kind in dict.fromkeys(run.kind for run in runs):
        default, best = compare(kind, [run for run in runs if run.kind == kind])
        short = shortfall(kind, default.test, best.test)
        rows.append(
            (
                kind,
                KINDS[kind].metric,
                f"{default.test:.4g}",
                f"{best.test:.4g} ({best.name})",
                f"{100 * short:+.1f} %",
                "yes" if short <= TOLERANCE else "no",
                f"{default.minutes:.1f}",
                f"{best.minutes:.1f}",
            )
        )
    heads = ("kind", "score", DEFAULT, "best by hand", "short by", "within 3 %", "minutes", "minutes by hand")
    return Table("The default command beside configurations made by hand, test sets", heads, tuple(rows))


def main() -> None:
    """Read the command line, measure, print."""
    about = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser("python -m benchmarks.defaults", description=about)
    parser.add_argument("folder", type=Path, help="of files, models and results")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of real data")
    parser.add_argument(
        "--kinds", nargs="+", default=list(KINDS), choices=KINDS, metavar="KIND", help="to measure"
    )
    parser.add_argument("--workers", type=int, default=1, help="trainings at once")
    parser.add_argument("--threads", type=int, default=2, help="threads of every training")
    parser.add_argument("--set", action="append", default=[], help="an option of every training")
    args = parser.parse_args()
    try:
        for kind in args.kinds:
            write_files(kind, args.folder / kind.replace(" ", "-"), args.data)
        jobs = [(kind, name) for kind in args.kinds for name in (DEFAULT, *KINDS[kind].by_hand)]

        def run(job: tuple[str, str]) -> Run:
            kind, name = job
            measured = measure(
                kind, name, args.folder / kind.replace(" ", "-"), _options(*args.set), args.threads
            )
            print(
                f"{kind}, {name}: {measured.valid:.4g}, {measured.minutes:.1f} min",
                file=sys.stderr,
                flush=True,
            )
            return measured

        with ThreadPoolExecutor(args.workers) as pool:
            runs = list(pool.map(run, jobs))
    except (RegardError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    print("\n".join(markdown_table(table(runs))))


if __name__ == "__main__":
    main()
