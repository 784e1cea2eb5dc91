"""The command ``python -m benchmarks``; see its ``--help``.

Prints progress on standard error and tables on standard output; all results go into one folder.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from benchmarks import (
    ablation,
    breakdown,
    compare_search,
    compare_training,
    lower_bound,
    neighbours,
    scaling,
    versus,
)
from benchmarks.process import ROOT, run_in_subprocess
from benchmarks.report import Section, markdown_table, save_section, write_report
from benchmarks.settings import DECODERS, SETTINGS, Setting, build_run, get_setting
from regard.errors import RegardError
from regard.models import Seq2Seq

OUT = Path("benchmark-out")
THIS = versus.Checkout(ROOT)


@dataclass(frozen=True)
class Options:
    """The options of the command line.

    Attributes:
        settings: by name.
        rounds: the number of runs of each contender.
        threads: the number of threads of every process.
        peers: the folder of the peers' virtual environments.
        out: the folder of results.
        plan: the sizes that `scaling` varies.
        min_seconds: how long the matrix products of a lower bound are repeated.
        this: the checkout that ``versus`` judges.
        other: the checkout that ``versus`` compares with.
    """

    settings: dict[str, Setting]
    rounds: int
    threads: int
    peers: Path | None
    out: Path
    plan: scaling.Plan = scaling.DEFAULT_PLAN
    min_seconds: float = 0.5
    this: versus.Checkout = THIS
    other: versus.Checkout | None = None


def log(text: str) -> None:
    """Print progress on standard error."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def _measure_each_model(
    options: Options, function: str, arguments: Callable[[Setting, str], dict[str, Any]]
) -> dict[str, Any]:
    """Call a function of a setting and a decoder for every model, each in a subprocess."""
    results = {}
    for setting in options.settings.values():
        for decoder in DECODERS:
            log(f"{function.removeprefix('benchmarks.')}: {setting.name}, {decoder}")
            given = {"setting": setting.to_json(), "decoder": decoder, **arguments(setting, decoder)}
            results[f"{setting.name}, {decoder}"] = run_in_subprocess(
                function, given, threads=options.threads
            )
    return results


def measure_lower_bound(options: Options) -> list[Section]:
    """Operations, bytes and time of an update's matrix products alone."""

    def arguments(setting: Setting, decoder: str) -> dict[str, Any]:
        with torch.device("meta"):
            model = Seq2Seq(build_run(setting, decoder).model, setting.vocabulary, setting.vocabulary)
        return {"parameters": model.num_parameters, "min_seconds": options.min_seconds}

    results = _measure_each_model(options, "benchmarks.lower_bound:measure_training", arguments)
    return [lower_bound.lower_bound_section(results)]


def measure_training(options: Options) -> list[Section]:
    """Training throughput of Regard, a plain PyTorch loop and the peers, with the lower bound of the same run."""
    (bound,) = measure_lower_bound(options)
    trials = {
        name: compare_training.compare(
            setting,
            rounds=options.rounds,
            threads=options.threads,
            environments=options.peers,
            work=options.out / "peers",
            log=log,
        )
        for name, setting in options.settings.items()
    }
    return [compare_training.training_section(trials, options.settings, bound.numbers), bound]


def measure_search(options: Options) -> list[Section]:
    """Search speed of the same contenders; half the rounds, because search varies less."""
    results = {
        name: compare_search.compare(
            setting,
            rounds=max(1, options.rounds // 2),
            threads=options.threads,
            environments=options.peers,
            work=options.out / "peers",
            min_seconds=options.min_seconds,
            log=log,
        )
        for name, setting in options.settings.items()
    }
    return [compare_search.search_section(results, options.settings)]


def measure_breakdown(options: Options) -> list[Section]:
    """Where the time of an update goes, part by part, over half the updates."""

    def arguments(setting: Setting, decoder: str) -> dict[str, Any]:
        return {"setting": replace(setting, updates=max(5, setting.updates // 2)).to_json()}

    results = _measure_each_model(options, "benchmarks.breakdown:measure", arguments)
    return [breakdown.breakdown_section(results)]


def measure_scaling(options: Options) -> list[Section]:
    """How time and memory of a training step grow with each size."""
    log("scaling: a training step at each size")
    arguments = {"plan": asdict(options.plan)}
    results = run_in_subprocess("benchmarks.scaling:measure", arguments, threads=options.threads)
    return [scaling.scaling_section(results, options.out)]


def measure_ablation(options: Options) -> list[Section]:
    """What each optimization gains: training with one of them disabled."""
    trials = {
        f"{name}, {DECODERS[0]}": ablation.compare(
            setting, DECODERS[0], rounds=options.rounds, threads=options.threads, log=log
        )
        for name, setting in options.settings.items()
    }
    return [ablation.ablation_section(trials)]


def measure_versus(options: Options) -> list[Section]:
    """This checkout and another one (CHECKOUT) side by side: training and search, alternating."""
    if options.other is None:
        raise RegardError("versus compares with another checkout; name its folder: versus CHECKOUT")
    results = {
        name: versus.compare(
            setting, options.this, options.other, rounds=options.rounds, threads=options.threads, log=log
        )
        for name, setting in options.settings.items()
    }
    return [versus.versus_section(results, options.this, options.other)]


def measure_neighbours(options: Options) -> list[Section]:
    """Two trainings at once against one alone, with short and long spins of waiting threads."""
    results = {
        name: neighbours.compare(setting, rounds=options.rounds, threads=options.threads, log=log)
        for name, setting in options.settings.items()
    }
    return [neighbours.neighbours_section(results, options.threads)]


def rewrite_report(options: Options) -> list[Section]:
    """Measure nothing; write the report on the results in the folder."""
    return []


MEASUREMENTS: dict[str, Callable[[Options], list[Section]]] = {
    "training": measure_training,
    "search": measure_search,
    "breakdown": measure_breakdown,
    "ablation": measure_ablation,
    "scaling": measure_scaling,
    "lower-bound": measure_lower_bound,
    "versus": measure_versus,
    "neighbours": measure_neighbours,
    "report": rewrite_report,
}
"""By name on the command line."""
ALL = ("training", "search", "breakdown", "ablation", "scaling")
"""What ``all`` measures; training includes the lower bound."""


def run(measurement: str, options: Options) -> list[Section]:
    """Measure, save and print every section at once, and write the report on all results in the folder."""
    for name in ALL if measurement == "all" else (measurement,):
        for section in MEASUREMENTS[name](options):
            save_section(section, options.out)
            for table in section.tables:
                print("\n".join(["", table.caption, "", *markdown_table(table)]), flush=True)
    sections = write_report(options.out)
    log(f"report: {options.out / 'report.html'}")
    return sections


def build_parser() -> argparse.ArgumentParser:
    """The command line; the description lists every measurement."""
    lines = [f"  {name:<13}{(function.__doc__ or '').strip()}" for name, function in MEASUREMENTS.items()]
    parser = argparse.ArgumentParser(
        "python -m benchmarks",
        description="Measure how fast Regard trains and searches on this machine.\n\nmeasurements:\n"
        + "\n".join([f"  {'all':<13}{', '.join(ALL)}; the default.", *lines]),
        epilog="On a GPU: python -m benchmarks.gpu. Quality of precisions and shortlists: python -m "
        "benchmarks.quality.\nAttention of beam search against forced decoding: python -m "
        "benchmarks.beam_alignment. Learning from 100 pairs: python -m benchmarks.small.\n"
        "The default command beside configurations by hand: python -m benchmarks.defaults.\n"
        "Damaged and hostile files: python -m benchmarks.fuzz.\n"
        "Training that is killed and resumed: python -m benchmarks.kill.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "measurement", nargs="?", default="all", choices=["all", *MEASUREMENTS], metavar="MEASUREMENT"
    )
    parser.add_argument(
        "checkout", nargs="?", type=Path, metavar="CHECKOUT", help="the other checkout; for versus only"
    )
    parser.add_argument(
        "--setting",
        action="append",
        help="mt (V 8,004, n 512) or char (V 44, n 256); repeat it for both; default: both",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=0,
        help="runs of each contender, half as many of a search; default: 2, and 5 for versus",
    )
    parser.add_argument(
        "--updates", type=int, default=0, help="updates of each training run; default: 16 (mt), 80 (char)"
    )
    parser.add_argument("--threads", type=int, default=2, help="threads of every process; default: 2")
    parser.add_argument(
        "--peers",
        type=Path,
        help="folder of virtual environments venv-fairseq, venv-eole, …; default: no peers",
    )
    parser.add_argument("--out", type=Path, default=OUT, help="folder of results; default: benchmark-out")
    for name in ("this", "other"):
        parser.add_argument(
            f"--{name}-option",
            action="append",
            default=[],
            metavar="OPTION=VALUE",
            help=f"training option for {name} checkout only; for versus",
        )
    return parser


def read_options(args: argparse.Namespace) -> Options:
    """The options of parsed arguments.

    Raises:
        ConfigError: there is no setting of a name.
    """
    settings = {name: get_setting(name) for name in args.setting or SETTINGS}
    if args.updates:
        settings = {name: replace(setting, updates=args.updates) for name, setting in settings.items()}
    rounds = args.rounds or (5 if args.measurement == "versus" else 2)
    other = versus.Checkout(args.checkout, args.other_option) if args.checkout else None
    this = replace(THIS, options=args.this_option)
    return Options(settings, rounds, args.threads, args.peers, args.out, this=this, other=other)


def main() -> None:
    """Read the command line and measure."""
    args = build_parser().parse_args()
    try:
        run(args.measurement, read_options(args))
    except RegardError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
