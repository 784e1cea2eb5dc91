"""The command: ``python -m benchmarks [WHAT]`` from the repository's root; WHAT is ``all`` or one of `MEASURES`.

Prints what is being measured and the tables; everything else is in the folder of results.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from benchmarks import changes, comparison, decoding, floor, growth, stages
from benchmarks.process import in_own_process
from benchmarks.report import markdown_table, write_report
from benchmarks.section import Section, keep
from benchmarks.settings import DECODERS, SETTINGS, Setting, run_of, setting_of
from regard.errors import RegardError
from regard.models import Seq2Seq

OUT = Path("benchmark-out")


@dataclass(frozen=True)
class Wanted:
    """What the command line asked for.

    Attributes:
        settings: by name.
        rounds: how often each contender has its turn.
        threads: how many every process computes with.
        peers: the folder of the peers' virtual environments.
        out: where results go.
        plan: what grows.
        least: for how many seconds each of the floor's products is repeated.
    """

    settings: dict[str, Setting]
    rounds: int
    threads: int
    peers: Path | None
    out: Path
    plan: growth.Plan = growth.USUAL
    least: float = 0.5


def say(text: str) -> None:
    """Tell what is going on, beside the results."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def _each_model(
    wanted: Wanted, function: str, arguments: Callable[[Setting, str], dict[str, Any]]
) -> dict[str, Any]:
    """What a function of a setting and a decoder finds for every model, each in a process of its own."""
    found = {}
    for setting in wanted.settings.values():
        for decoder in DECODERS:
            say(f"{function.partition(':')[2]}: {setting.name}, {decoder}")
            given = {"setting": setting.to_json(), "decoder": decoder, **arguments(setting, decoder)}
            found[f"{setting.name}, {decoder}"] = in_own_process(function, given, threads=wanted.threads)
    return found


def measure_floor(wanted: Wanted) -> Section:
    """Operations, bytes, and the bare products' seconds."""

    def arguments(setting: Setting, decoder: str) -> dict[str, Any]:
        with torch.device("meta"):
            model = Seq2Seq(run_of(setting, decoder).model, setting.vocabulary, setting.vocabulary)
        return {"parameters": model.num_parameters, "least": wanted.least}

    return floor.floor_section(_each_model(wanted, "benchmarks.floor:floor_of", arguments))


def measure_training(wanted: Wanted) -> list[Section]:
    """Throughput of everyone, between a floor taken in the same run."""
    bottom = measure_floor(wanted)
    turns = {
        name: comparison.compare(
            setting,
            rounds=wanted.rounds,
            threads=wanted.threads,
            environments=wanted.peers,
            work=wanted.out / "peers",
            tell=say,
        )
        for name, setting in wanted.settings.items()
    }
    return [comparison.comparison_section(turns, wanted.settings, bottom.numbers), bottom]


def measure_decoding(wanted: Wanted) -> Section:
    """Searches of everyone; half the rounds of a training, for a search is steadier."""
    found = {
        name: decoding.compare(
            setting,
            rounds=max(1, wanted.rounds // 2),
            threads=wanted.threads,
            environments=wanted.peers,
            work=wanted.out / "peers",
            least=wanted.least,
            tell=say,
        )
        for name, setting in wanted.settings.items()
    }
    return decoding.decoding_section(found, wanted.settings)


def measure_stages(wanted: Wanted) -> Section:
    """Where an update's time goes, in half the updates that throughput takes."""

    def arguments(setting: Setting, decoder: str) -> dict[str, Any]:
        return {"setting": replace(setting, updates=max(5, setting.updates // 2)).to_json()}

    return stages.stages_section(_each_model(wanted, "benchmarks.stages:stages_of", arguments))


def measure_growth(wanted: Wanted) -> Section:
    """How a step's cost grows."""
    say("growth: a step at each size")
    found = in_own_process("benchmarks.growth:grow", {"plan": asdict(wanted.plan)}, threads=wanted.threads)
    return growth.growth_section(found, wanted.out)


def measure_changes(wanted: Wanted) -> Section:
    """What each change brought, for the decoder that peers have too."""
    turns = {
        f"{name}, {DECODERS[0]}": changes.take_back(
            setting, DECODERS[0], rounds=wanted.rounds, threads=wanted.threads, tell=say
        )
        for name, setting in wanted.settings.items()
    }
    return changes.changes_section(turns)


MEASURES: dict[str, Callable[[Wanted], list[Section]]] = {
    "training": measure_training,
    "decoding": lambda wanted: [measure_decoding(wanted)],
    "floor": lambda wanted: [measure_floor(wanted)],
    "stages": lambda wanted: [measure_stages(wanted)],
    "changes": lambda wanted: [measure_changes(wanted)],
    "growth": lambda wanted: [measure_growth(wanted)],
    "report": lambda wanted: [],
}
"""By the command's first word; ``all`` is every one but the floor, which training brings, and the report."""


def run(what: str, wanted: Wanted) -> list[Section]:
    """Measure, keep every section as soon as it is there, and write the report on all that the folder holds."""
    for name in ("training", "decoding", "stages", "changes", "growth") if what == "all" else (what,):
        for section in MEASURES[name](wanted):
            keep(section, wanted.out)
            for table in section.tables:
                print("\n".join(["", table.caption, "", *markdown_table(table)]), flush=True)
    sections = write_report(wanted.out)
    say(f"the whole report: {wanted.out / 'report.html'}")
    return sections


def _wanted(arguments: argparse.Namespace) -> Wanted:
    chosen = {name: setting_of(name) for name in arguments.setting or SETTINGS}
    if arguments.updates:
        chosen = {name: replace(setting, updates=arguments.updates) for name, setting in chosen.items()}
    return Wanted(chosen, arguments.rounds, arguments.threads, arguments.peers, arguments.out)


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=["all", *MEASURES])
    parser.add_argument("--setting", action="append", help="mt or char; may be given twice; both by default")
    parser.add_argument(
        "--rounds", type=int, default=2, help="turns of each contender; of a search half as many"
    )
    parser.add_argument("--updates", type=int, default=0, help="of each run; a setting's own by default")
    parser.add_argument("--threads", type=int, default=2, help="of every process")
    parser.add_argument(
        "--peers", type=Path, help="folder of virtual environments venv-fairseq, venv-eole, …"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="where results go")
    try:
        run((arguments := parser.parse_args()).what, _wanted(arguments))
    except RegardError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
