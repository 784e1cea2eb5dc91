"""What the default command is worth: its plan on ten kinds of file, beside configurations made by hand.

``python -m benchmarks.defaults FOLDER --data SHARED`` makes the files of each kind in FOLDER and trains on them by
``regard train MODEL --train … --valid …`` and nothing else, and once with each configuration made by hand. The best
configuration by hand is chosen on the validation set, by the first of the kind's metrics. The default must be within
3 % of it on the test set, relative to its value, by the metric of that row: 3 % of an exact match of 80 % are 2.4
points, 3 % of a WER of 20 % are 0.6. So words are measured by both, and by the errors in their symbols.

Real data are read, compressed as they are, from SHARED and written to FOLDER only. ``FOLDER/results.jsonl`` has a line
per finished run, and what is in it is not done again; a run that was stopped goes on from its newest checkpoint.
``--table`` prints what is there. On a GPU: ``--workers 6 --set training.device=cuda``.
"""

import argparse
import gzip
import json
import lzma
import math
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import run_regard
from benchmarks.report import Table, markdown_table
from benchmarks.small import RELATIONS, make_strings
from regard.datasets import find_dataset
from regard.errors import DataError, RegardError
from regard.evaluation.metrics import METRICS, display_name, format_score
from regard.io import make_folder, write_whole_text

TOLERANCE = 0.03
DEFAULT = "default"
PARTS = ("train", "valid", "test")
RESULTS = "results.jsonl"
MISSING = "missing"

Splits = tuple[Sequence[str], Sequence[str], Sequence[str]]
"""The lines of training, validation and test."""


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        read: the folder of shared data → its lines.
        metrics: keys of what ``regard evaluate --json`` prints; the first chooses the configuration by hand.
        by_hand: configurations by name: the arguments of ``regard train`` beside the data.
        arguments: of the data, for ``regard train`` and ``regard evaluate``: what a user of such a file gives.
    """

    read: Callable[[Path], Splits]
    metrics: Sequence[str]
    by_hand: dict[str, Sequence[str]]
    arguments: Sequence[str] = ()


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
_OF_WORDS = ("exact_match", "wer", "per")
KINDS = {
    "spelling to phones": Kind(
        _parts("sigmorphon2020-g2p/dut_{}.tsv.xz"),
        _OF_WORDS,
        {
            "twice the width": _WIDE,
            "Bahdanau's": _options("model.decoder.kind=bahdanau", "model.decoder.attention.energy=additive"),
            "hard monotonic, LSTM": _options("model.encoder.cell=lstm", "model.decoder.cell=lstm"),
        },
    ),
    "lemma and features to form": Kind(
        _german,
        _OF_WORDS,
        {
            "twice the width": _WIDE,
            "pointer-generator": _options("model.decoder.kind=bahdanau", "model.decoder.copy=true"),
        },
        ("--features", "2"),
    ),
    "dates": Kind(
        _dates,
        ("exact_match",),
        {
            "characters": _preset("characters"),
            "characters, 3,000 updates": _preset(
                "characters", "training.max_epochs=0", "training.max_updates=3000"
            ),
        },
    ),
    "short translations": Kind(_tatoeba(20_000), ("bleu",), _TRANSLATORS),
    "long translations": Kind(_europarl, ("bleu",), _TRANSLATORS),
    "labelled texts": Kind(
        _trec,
        ("accuracy",),
        {
            "classifier": _preset("classifier"),
            "classifier, dropout 0.5": _preset("classifier", "model.encoder.dropout=0.5"),
            "lstmn-classifier": _preset("lstmn-classifier"),
        },
    ),
    "tagged words": Kind(
        _tagged,
        ("accuracy",),
        {"tagger": _preset("tagger")},
    ),
    "plain text": Kind(
        _penn,
        ("perplexity",),
        {
            "lstm-lm": _preset("lstm-lm"),
            "lstm-lm, 400 units, dropout 0.5": _preset(
                "lstm-lm", "model.embedding_size=400", "model.state_size=400", "model.dropout=0.5"
            ),
        },
    ),
    "100 pairs": Kind(
        _reversed,
        ("exact_match",),
        {
            "characters": _preset("characters", "training.max_epochs=0", "training.max_updates=2000"),
            "without renaming": _options("data.rename_symbols=false"),
        },
    ),
    "100,000 pairs": Kind(
        _tatoeba(100_000),
        ("bleu",),
        {name: _TRANSLATORS[name] for name in ("rnnsearch-small", "luong-small")},
    ),
}


@dataclass(frozen=True)
class Run:
    """One training, a line of `RESULTS`.

    Attributes:
        kind: a key of `KINDS`.
        name: `DEFAULT`, or a key of the kind's `by_hand`.
        valid: the scores on the validation set, by the kind's metrics.
        test: the scores on the test set.
        minutes: of the training, over all its sessions.
    """

    kind: str
    name: str
    valid: Mapping[str, float]
    test: Mapping[str, float]
    minutes: float


def write_files(kind: str, folder: Path, data: Path) -> None:
    """Write a kind's three files.

    Raises:
        DataError: the shared data do not have them.
    """
    if all((folder / part).exists() for part in PARTS):
        return
    try:
        parts = KINDS[kind].read(data)
    except FileNotFoundError as error:
        raise DataError(
            f"{error.filename}: no such file, needed for {kind!r}; name the folder of data with --data, or leave that "
            "kind out of --kinds"
        ) from error
    make_folder(folder)
    for part, lines in zip(PARTS, parts, strict=True):
        write_whole_text(folder / part, "".join(f"{line}\n" for line in lines))


def read_results(folder: Path) -> list[Run]:
    """The finished runs of a folder.

    Raises:
        DataError: its file of results is damaged.
    """
    path = folder / RESULTS
    if not path.exists():
        return []
    try:
        return [Run(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: damaged ({error}); remove the line, to measure that run again") from error


def device_of(options: Sequence[str]) -> str:
    """The device that options of training name; the last one counts."""
    named = [option.partition("=")[2] for option in options if option.startswith("training.device=")]
    return named[-1] if named else "auto"


def measure(kind: str, name: str, folder: Path, options: Sequence[str], threads: int) -> Run:
    """Train and score one configuration; a training that was stopped goes on.

    Args:
        kind: a key of `KINDS`.
        name: `DEFAULT`, or a key of the kind's `by_hand`.
        folder: that holds the kind's files.
        options: of every training, such as ``training.device=cuda``: models are evaluated on that device too.
        threads: of the processes.

    Raises:
        RegardError: a command failed.
    """
    spec = KINDS[kind]
    model = str(folder / "".join(letter if letter.isalnum() else "-" for letter in name))
    files = ["--train", f"{folder}/train", "--valid", f"{folder}/valid"]
    chosen = () if name == DEFAULT else spec.by_hand[name]
    train = ["train", model, "--resume", "--json", *files, *spec.arguments, *chosen, *_options(*options)]
    report = json.loads(run_regard(train, threads))
    scores = []
    for part in ("valid", "test"):
        given = [*spec.arguments, "--device", device_of(options), "--json"]
        scored = json.loads(run_regard(["evaluate", model, f"{folder}/{part}", *given], threads))
        scores.append({metric: scored[metric] for metric in spec.metrics})
    return Run(kind, name, *scores, report["train_seconds"] / 60)


def shortfall(metric: str, default: float, by_hand: float) -> float:
    """How far the default falls short of the best configuration by hand, relative to it; below 0 it is ahead."""
    difference = default - by_hand if METRICS[metric].better == "lower" else by_hand - default
    if not by_hand:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / by_hand


def best_by_hand(kind: str, runs: Iterable[Run]) -> Run | None:
    """The run by hand with the best score on the validation set; None where there is none."""
    metric = KINDS[kind].metrics[0]
    by_hand = [run for run in runs if run.kind == kind and run.name != DEFAULT]
    choose = min if METRICS[metric].better == "lower" else max
    return choose(by_hand, key=lambda run: run.valid[metric], default=None)


def table(runs: Sequence[Run], kinds: Sequence[str]) -> Table:
    """One row per kind and metric; what is not measured yet is marked."""
    rows = []
    for kind in kinds:
        default = next((run for run in runs if (run.kind, run.name) == (kind, DEFAULT)), None)
        best = best_by_hand(kind, runs)
        measured = {run.name for run in runs if run.kind == kind}
        absent = [name for name in KINDS[kind].by_hand if name not in measured]
        for metric in KINDS[kind].metrics:
            cells = [MISSING] * 6
            if default is not None:
                cells[0], cells[4] = format_score(metric, default.test[metric]), f"{default.minutes:.1f}"
            if best is not None:
                cells[1], cells[5] = (
                    f"{format_score(metric, best.test[metric])} ({best.name})",
                    f"{best.minutes:.1f}",
                )
            if default is not None and best is not None:
                short = shortfall(metric, default.test[metric], best.test[metric])
                cells[2:4] = f"{100 * short:+.1f} %", "yes" if short <= TOLERANCE else "no"
            if best is not None and absent:
                cells[1] += f"; {MISSING}: {', '.join(absent)}"
            rows.append((kind, display_name(metric), *cells))
    heads = ("kind", "score", DEFAULT, "best by hand", "short by", "within 3 %", "minutes", "minutes by hand")
    caption = (
        "The default command beside configurations made by hand, on test sets. Short by: the difference relative to "
        "the value by hand, of a score or of an error; within 3 %: by that row's metric."
    )
    return Table(caption, heads, rows)


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
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="an option of every training; models are evaluated on the device of training.device=cuda, too",
    )
    parser.add_argument("--table", action="store_true", help="print the table of the finished runs, and exit")
    args = parser.parse_args()
    try:
        runs = read_results(args.folder)
        failed = 0 if args.table else _measure_missing(args, runs)
    except (RegardError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    made = table(runs, args.kinds)
    print("\n".join((made.caption, "", *markdown_table(made))))
    sys.exit(1 if failed else 0)


def _measure_missing(args: argparse.Namespace, runs: list[Run]) -> int:
    """Measure what `runs` lacks, add it there and to the file of results, and return how many runs failed."""
    done = {(run.kind, run.name) for run in runs}
    jobs = [(kind, name) for kind in args.kinds for name in (DEFAULT, *KINDS[kind].by_hand)]
    jobs = [job for job in jobs if job not in done]
    folders = {kind: args.folder / kind.replace(" ", "-") for kind, _ in jobs}
    for kind, folder in folders.items():
        write_files(kind, folder, args.data)
    # the largest files first: the last to end is then not the one that takes longest
    jobs.sort(key=lambda job: (folders[job[0]] / PARTS[0]).stat().st_size, reverse=True)
    failed = 0
    with ThreadPoolExecutor(args.workers) as pool:
        running = {
            pool.submit(measure, kind, name, folders[kind], args.set, args.threads): (kind, name)
            for kind, name in jobs
        }
        try:
            for future in as_completed(running):
                kind, name = running[future]
                try:
                    run = future.result()
                except RegardError as error:
                    failed += 1
                    print(f"{kind}, {name}: {error}", file=sys.stderr, flush=True)
                    continue
                runs.append(run)
                with (args.folder / RESULTS).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(vars(run)) + "\n")
                valid = ", ".join(
                    f"{display_name(key)} {format_score(key, value)}" for key, value in run.valid.items()
                )
                print(f"{kind}, {name}: {valid}, {run.minutes:.1f} min", file=sys.stderr, flush=True)
        finally:  # an interruption does not wait for the rest
            pool.shutdown(wait=False, cancel_futures=True)
    return failed


if __name__ == "__main__":
    main()
