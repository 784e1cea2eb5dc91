"""Can 100 pairs be enough? Random strings doubled, reversed and in upper case, learned by the default command.

``python -m benchmarks.small --seeds 1 2 3`` makes, for each seed and relation, 100 training pairs, 100 validation pairs
and 100 test pairs, all different, runs ``regard train FOLDER --train train.tsv --valid valid.tsv`` and ``regard
evaluate`` in processes of their own, and prints the exact match beside the bound that must be reached, with the minutes
of the whole command. Lengths are Poisson(6), at least 1, or uniform (``--lengths 3-10``).
"""

import argparse
import json
import math
import random
import resource
import string
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import run_regard
from benchmarks.report import Table, markdown_table
from regard.errors import RegardError

NUM_PAIRS = 100
_MEAN_LENGTH = 6
POISSON = "poisson"


@dataclass(frozen=True)
class Relation:
    """What the target is, and the exact match that 100 pairs must be enough for."""

    write: Callable[[str], str]
    bound: float


RELATIONS = {
    "doubled": Relation(lambda word: word + word, 0.92),
    "reversed": Relation(lambda word: word[::-1], 0.98),
    "upper case": Relation(str.upper, 0.98),
}


@dataclass(frozen=True)
class Outcome:
    """One training.

    Attributes:
        relation: a key of `RELATIONS`.
        seed: of the strings.
        exact_match: on the test pairs.
        minutes: of the whole training command, by the clock.
        cpu_minutes: the same, of all threads together: what it would take one core that does nothing else.
    """

    relation: str
    seed: int
    exact_match: float
    minutes: float
    cpu_minutes: float


def make_strings(
    seed: str, count: int, lengths: str = POISSON, alphabet: str = string.ascii_lowercase
) -> list[str]:
    """Make different random strings.

    Args:
        seed: of the random choice.
        count: the number of strings.
        lengths: ``poisson``, or a range such as ``3-10``.
        alphabet: the symbols to choose from.
    """
    rng = random.Random(seed)
    first, _, last = lengths.partition("-")
    strings: dict[str, None] = {}
    while len(strings) < count:
        length = (
            max(1, _poisson(rng, _MEAN_LENGTH)) if lengths == POISSON else rng.randint(int(first), int(last))
        )
        strings["".join(rng.choices(alphabet, k=length))] = None
    return list(strings)


def _poisson(rng: random.Random, mean: float) -> int:
    """Sample a Poisson variable: how many uniform factors stay above exp(−mean) (Knuth 1969, §3.4.1)."""
    count, product = 0, rng.random()
    while product > math.exp(-mean):
        count, product = count + 1, product * rng.random()
    return count


def measure(
    relation: str, seed: int, lengths: str, alphabet: str, *, with_valid: bool, threads: int
) -> Outcome:
    """Train by the default command and score on the test pairs.

    Raises:
        RegardError: a command failed.
    """
    write = RELATIONS[relation].write
    strings = make_strings(f"{relation} {seed}", 3 * NUM_PAIRS, lengths, alphabet)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k, split in enumerate(("train", "valid", "test")):
            part = strings[k * NUM_PAIRS : (k + 1) * NUM_PAIRS]
            lines = "".join(f"{word}\t{write(word)}\n" for word in part)
            (folder / f"{split}.tsv").write_text(lines, encoding="utf-8")
        valid = ["--valid", f"{folder}/valid.tsv"] if with_valid else []
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        run_regard(["train", f"{folder}/model", "--train", f"{folder}/train.tsv", *valid], threads)
        seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        scores = json.loads(
            run_regard(["evaluate", f"{folder}/model", f"{folder}/test.tsv", "--json"], threads)
        )
    cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(relation, seed, scores["exact_match"], seconds / 60, cpu_seconds / 60)


def table(outcomes: Sequence[Outcome]) -> Table:
    """The outcomes, one per row."""
    return Table(
        f"{NUM_PAIRS} pairs, the default command",
        ("relation", "seed", "exact match", "bound", "reached", "minutes", "CPU minutes"),
        tuple(
            (
                each.relation,
                str(each.seed),
                f"{100 * each.exact_match:.0f} %",
                f"{100 * RELATIONS[each.relation].bound:.0f} %",
                "yes" if each.exact_match >= RELATIONS[each.relation].bound else "no",
                f"{each.minutes:.2f}",
                f"{each.cpu_minutes:.2f}",
            )
            for each in outcomes
        ),
    )


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser("python -m benchmarks.small", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of the strings")
    parser.add_argument("--lengths", default=POISSON, help="poisson (of mean 6), or a range: 3-10")
    parser.add_argument("--alphabet", default=string.ascii_lowercase, help="the symbols of the strings")
    parser.add_argument("--no-valid", action="store_true", help="give no validation pairs")
    parser.add_argument("--threads", type=int, default=2, help="threads of every process")
    args = parser.parse_args()
    outcomes = []
    try:
        for seed in args.seeds:
            for relation in RELATIONS:
                outcome = measure(
                    relation,
                    seed,
                    args.lengths,
                    args.alphabet,
                    with_valid=not args.no_valid,
                    threads=args.threads,
                )
                print(
                    f"{relation}, seed {seed}: {100 * outcome.exact_match:.0f} %", file=sys.stderr, flush=True
                )
                outcomes.append(outcome)
    except RegardError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    print("\n".join(markdown_table(table(outcomes))))


if __name__ == "__main__":
    main()
