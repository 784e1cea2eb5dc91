"""Word alignment beside eflomal and fast_align: the same pairs, the same gold links, one run.

``python -m benchmarks.align FOLDER --corpus OUT [--peers VENV]``: OUT has ``src``, ``tgt``, ``both`` (fast_align's
form) and ``gold.json`` (parts with ``start``, ``count``, ``sure`` and ``possible`` links), with the gold sentences'
text at the end of the corpus, as aligners need it that align only what they are trained on. Regard is trained by
``regard train --task align`` on the same lines, once per seed. VENV is a virtual environment with eflomal and
systran-align (fast_align). Every aligner's links are scored by ``regard align``. What is finished in FOLDER is not done
again.

``--ideas`` trains an aligner without each of `IDEAS` instead, or with another in its place, and prints what each is
worth; ``--pairs 50000`` trains on the first pairs of the corpus and those with gold links.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.process import run_regard
from benchmarks.report import Table, machine, markdown_table, today
from regard.errors import DataError, RegardError
from regard.io import make_folder, write_whole_text

_FAST_ALIGN = """
import sys
import systran_align
source, forward, backward, out = sys.argv[1:]
systran_align.generate_alignment_probabilities(
    source, forward, backward, favor_diagonal=True, optimize_tension=True, variational_bayes=True
)
aligner = systran_align.Aligner(forward, backward)
with open(source) as lines, open(out, "w") as links:
    for line in lines:
        sides = [side.split() for side in line.split(" ||| ")]
        links.write(" ".join(f"{j}-{i}" for j, i in aligner.align(*sides)["alignments"]) + "\\n")
"""


IDEAS: dict[str, Sequence[str]] = {
    "all of them": (),
    "the HMMs alone": ("model.hmm_share=1", "training.max_updates=1", "training.validate_every=1"),
    "the network alone, taught by the HMMs": ("model.hmm_share=0",),
    "no foresight: a query knows its word and those before": ("model.query=current",),
    "no foresight: a query knows the words before its own": ("model.query=previous",),
    "taught by the links on which both HMMs agree": ("losses.teacher=agreement",),
    "also translates (weight 1)": ("losses.translation=1", "model.output=true"),
    "translates, untaught, network alone": (
        "losses.guided=0",
        "losses.translation=1",
        "model.output=true",
        "model.hmm_share=0",
    ),
    "a penalty where directions differ (weight 0.1)": ("losses.agreement=0.1",),
    "a coverage penalty (weight 0.1)": ("losses.coverage=0.1",),
    "no affixes": ("model.affixes=0",),
    "no distance to the diagonal in the network": ("model.distance=0",),
    "HMMs that do not agree": ("model.hmm.agreement=0",),
    "HMMs whose jumps do not depend on the word": ("model.hmm.jump_prior=1e9",),
    "no links of one direction alone": ("model.hmm.regular=0",),
}
"""What is left out or exchanged → its options; the first is what `regard train --task align` does."""
RULES = ("mean", "probability", "intersection", "union", "grow-diag", "grow-diag-final-and")


@dataclass(frozen=True)
class Part:
    """Some pairs with gold links.

    Attributes:
        name: of the part.
        start: the line of the corpus where it begins, from 0.
        count: its pairs.
        pairs: its file of pairs.
        gold: its file of gold links.
    """

    name: str
    start: int
    count: int
    pairs: Path
    gold: Path


def write_parts(corpus: Path, folder: Path) -> list[Part]:
    """Write the pairs and the gold links of each part.

    Raises:
        DataError: the corpus is not there.
    """
    try:
        gold = json.loads((corpus / "gold.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(
            f"{corpus}: no gold.json; make the corpus first, and name it with --corpus"
        ) from error
    make_folder(folder)
    parts = []
    for name, of in gold.items():
        part = Part(name, of["start"], of["count"], folder / f"{name}.tsv", folder / f"{name}.links")
        sides = [_lines(corpus / side, part) for side in ("src", "tgt")]
        write_whole_text(part.pairs, "".join(f"{a}\t{b}\n" for a, b in zip(*sides, strict=True)))
        rows = []
        for k in range(part.count):
            sure, possible = (
                {tuple(link) for link in of[kind].get(str(k), [])} for kind in ("sure", "possible")
            )
            marked = sorted(possible | sure)
            rows.append(" ".join(f"{j}{'-' if (j, i) in sure else '?'}{i}" for j, i in marked))
        write_whole_text(part.gold, "".join(f"{row}\n" for row in rows))
        parts.append(part)
    return parts


def _lines(path: Path, part: Part) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in islice(lines, part.start, part.start + part.count)]


def shorten(corpus: Path, folder: Path, pairs: int, parts: Sequence[Part]) -> Path:
    """Write the first pairs of a corpus and those of its parts; the folder of the shorter corpus."""
    made = folder / f"first-{pairs}"
    make_folder(made)
    for side in ("src", "tgt"):
        with (corpus / side).open(encoding="utf-8") as lines:
            first = [line.rstrip("\n") for line in islice(lines, min(pairs, parts[0].start))]
        kept = first + [line for part in parts for line in _lines(corpus / side, part)]
        write_whole_text(made / side, "".join(f"{line}\n" for line in kept))
    return made


def _timed(command: Sequence[str], log: Path) -> float:
    """Run a command of another toolkit; its seconds."""
    started = time.monotonic()
    with log.open("w") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise RegardError(f"{command[0]} failed; see {log}")
    return time.monotonic() - started


def run_peers(corpus: Path, folder: Path, peers: Path) -> dict[str, tuple[list[Path], float]]:
    """The links of eflomal, both directions, and of fast_align, symmetrised by itself; and their seconds."""
    make_folder(folder)
    eflomal = [folder / "eflomal.forward", folder / "eflomal.reverse"]
    fast = folder / "fast_align.links"
    seconds = folder / "seconds.json"
    if not seconds.exists():
        sides = ["-s", str(corpus / "src"), "-t", str(corpus / "tgt"), "--model", "3"]
        command = [str(peers / "bin" / "eflomal-align"), *sides, "-f", str(eflomal[0]), "-r", str(eflomal[1])]
        took = {"eflomal": _timed(command, folder / "eflomal.log")}
        tables = [str(folder / f"fast_align.{way}") for way in ("forward", "backward")]
        python = str(peers / "bin" / "python")
        command = [python, "-c", _FAST_ALIGN, str(corpus / "both"), *tables, str(fast)]
        took["fast_align"] = _timed(command, folder / "fast_align.log")
        write_whole_text(seconds, json.dumps(took))
    took = json.loads(seconds.read_text())
    return {"eflomal": (eflomal, took["eflomal"]), "fast_align": ([fast], took["fast_align"])}


def train_aligner(
    corpus: Path, folder: Path, parts: Iterable[Part], seed: int, options: Sequence[str], threads: int
) -> float:
    """Train on the whole corpus, unless that is done; the minutes of the command."""
    dev = next(iter(parts))
    took = folder.with_suffix(".seconds")
    if not took.exists():
        files = ["--train", f"{corpus}/src", "--train", f"{corpus}/tgt", "--valid", str(dev.pairs)]
        given = ["--set", f"data.valid_links={dev.gold}", "--seed", str(seed), "--resume", "--json"]
        given += [argument for option in options for argument in ("--set", option)]
        started = time.monotonic()
        run_regard(["train", str(folder), "--task", "align", *files, *given], threads)
        write_whole_text(took, str(time.monotonic() - started))
    return float(took.read_text()) / 60


def score(aligned: Sequence[str], part: Part, *options: str) -> Mapping[str, Any]:
    """The scores of a model, or of files of links of the part's pairs, by direction."""
    model, *reverse = aligned
    given = ["--gold", str(part.gold), "--json", *options]
    given += ["--reverse", reverse[0], "--symmetrize", "grow-diag"] if reverse else []
    scores: Mapping[str, Any] = json.loads(run_regard(["align", model, str(part.pairs), *given], 1))["scores"]
    return scores


def cut(links: Path, part: Part) -> str:
    """The links of a part, from those of the whole corpus."""
    own = links.with_name(f"{links.name}.{part.name}")
    write_whole_text(own, "".join(f"{line}\n" for line in _lines(links, part)))
    return str(own)


def rows(systems: Mapping[str, tuple[Mapping[str, Mapping[str, Any]], float]]) -> list[tuple[str, ...]]:
    """A row per aligner and part: both directions, symmetrised, F1, minutes."""
    made = []
    for name, (by_part, minutes) in systems.items():
        for part, scores in by_part.items():
            last = scores[list(scores)[-1]]
            ways = [
                f"{100 * scores[way]['aer']:.2f}" if way in scores and len(scores) > 1 else "–"
                for way in ("forward", "reverse")
            ]
            made.append(
                (
                    name,
                    part,
                    *ways,
                    f"{100 * last['aer']:.2f}",
                    f"{100 * last['alignment_f1']:.1f}",
                    f"{minutes:.1f}",
                )
            )
    return made


def measure_ideas(
    corpus: Path, folder: Path, parts: Sequence[Part], seeds: int, options: Sequence[str], workers: int
) -> list[tuple[str, ...]]:
    """A row per idea: the mean AER of its aligners on each part, symmetrised, and their deviation.

    The rules that make one set of links of two directions have rows too, of the aligners with all ideas.
    """

    def train(idea: str, seed: int) -> Path:
        name = "".join(letter if letter.isalnum() else "-" for letter in idea)
        model = folder / f"{name}-{seed}"
        train_aligner(corpus, model, parts, seed, (*options, *IDEAS[idea]), threads=1)
        return model

    def errors(model: Path, part: Part, *given: str) -> float:
        scores = score([str(model)], part, *given)
        return 100 * float(scores[list(scores)[-1]]["aer"])

    def spread(values: Sequence[float]) -> str:
        return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")

    with ThreadPoolExecutor(workers) as pool:
        jobs = {idea: [pool.submit(train, idea, seed) for seed in range(1, seeds + 1)] for idea in IDEAS}
        models = {idea: [job.result() for job in started] for idea, started in jobs.items()}
        cells = {
            (idea, ()): [[pool.submit(errors, model, part) for model in of] for part in parts]
            for idea, of in models.items()
        }
        for rule in RULES:
            given = ("--symmetrize", rule)
            of = models[next(iter(IDEAS))]
            cells[f"links by {rule}", given] = [
                [pool.submit(errors, model, part, *given) for model in of] for part in parts
            ]
        return [
            (name, *(spread([future.result() for future in column]) for column in columns))
            for (name, _), columns in cells.items()
        ]


def main() -> None:
    """Read the command line, measure, print."""
    about = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser("python -m benchmarks.align", description=about)
    parser.add_argument("folder", type=Path, help="of models, links and results")
    parser.add_argument(
        "--corpus", type=Path, required=True, help="the folder of src, tgt, both and gold.json"
    )
    parser.add_argument("--peers", type=Path, help="a virtual environment with eflomal and systran-align")
    parser.add_argument(
        "--seeds", type=int, default=1, help="aligners of Regard's, each with a seed of its own"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="OPTION=VALUE", help="of every training"
    )
    parser.add_argument("--ideas", action="store_true", help="aligners without each idea, in place of peers")
    parser.add_argument("--pairs", type=int, help="of the corpus, to train on; by default all")
    parser.add_argument("--workers", type=int, default=1, help="with --ideas: aligners trained at once")
    args = parser.parse_args()
    where = machine()
    try:
        parts = write_parts(args.corpus, args.folder)
        corpus = args.corpus if args.pairs is None else shorten(args.corpus, args.folder, args.pairs, parts)
        if args.ideas:
            made = measure_ideas(corpus, args.folder, parts, args.seeds, args.set, args.workers)
            caption = (
                f"AER in per cent, symmetrised, mean and deviation of {args.seeds} seeds; {today()}, "
                f"{where['processor']}; {args.pairs or 'all'} training pairs."
            )
            heads = ("aligner", *(part.name for part in parts))
            print("\n".join(markdown_table(Table(caption, heads, made))))
            return
        systems: dict[str, tuple[dict[str, Mapping[str, Any]], float]] = {}
        if args.peers is not None:
            for name, (links, seconds) in run_peers(args.corpus, args.folder / "peers", args.peers).items():
                by_part = {part.name: score([cut(path, part) for path in links], part) for part in parts}
                systems[name] = by_part, seconds / 60
        for seed in range(1, args.seeds + 1):
            model = args.folder / f"regard-{seed}"
            minutes = train_aligner(corpus, model, parts, seed, args.set, len(os.sched_getaffinity(0)))
            systems[f"Regard, seed {seed}"] = (
                {part.name: score([str(model)], part) for part in parts},
                minutes,
            )
    except (RegardError, OSError) as error:
        sys.exit(f"error: {error}")
    heads = ("aligner", "pairs", "forward", "reverse", "symmetrised", "F1", "minutes")
    caption = (
        f"Alignment error rates in per cent, F1 of the symmetrised links; {today()}, {where['processor']}, "
        f"{where['cores']} cores. eflomal is symmetrised by grow-diag, fast_align by itself, Regard by the mean."
    )
    print("\n".join(markdown_table(Table(caption, heads, rows(systems)))))


if __name__ == "__main__":
    main()
