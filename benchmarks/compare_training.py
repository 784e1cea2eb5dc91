"""Training throughput side by side: Regard, the plain PyTorch loop and, where they are installed, other toolkits.

In: a setting, the number of rounds, the folder of the peers' environments. Out: trials, and a `Section` with every
speed relative to Regard's in the same run. All contenders train on the same corpus with the same batch size, each run
in its own process.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import peers, plain, training
from benchmarks.interleave import REGARD, Measure, Trial, interleave, losses, peaks, ratios, speeds
from benchmarks.report import Section, Table
from benchmarks.settings import Setting

BF16 = f"{REGARD}, bf16"
BAHDANAU = f"{REGARD}, bahdanau"
WITH_BF16 = ("mt",)
"""Settings whose matrix products are large enough for half precision to matter."""


def contenders(
    setting: Setting, *, threads: int, environments: Path | None, work: Path
) -> dict[str, Measure]:
    """All contenders by name, except the reference: Regard's ``luong`` decoder in float32.

    Args:
        setting: the model and its corpus.
        threads: the number of threads of each process.
        environments: the folder of the peers' virtual environments, or None for no peers.
        work: where peers may write.
    """
    others: dict[str, Measure] = {plain.NAME: partial(plain.measure_training, setting, threads=threads)}
    if setting.name in WITH_BF16:
        others[BF16] = partial(training.measure, setting, "luong", "bf16", threads=threads)
    others[BAHDANAU] = partial(training.measure, setting, "bahdanau", threads=threads)
    if environments is not None:
        for name in peers.installed(environments):
            others[name] = partial(peers.measure_training, name, setting, environments, work, threads=threads)
    return others


def compare(
    setting: Setting,
    *,
    rounds: int,
    threads: int,
    environments: Path | None,
    work: Path,
    log: Callable[[str], None],
) -> list[Trial]:
    """Train with every contender, interleaved with Regard; see `interleave.interleave`."""
    regard = partial(training.measure, setting, "luong", threads=threads)
    others = contenders(setting, threads=threads, environments=environments, work=work)
    return interleave(regard, others, rounds, lambda name: log(f"{setting.name}: {name}"))


def training_section(
    trials: Mapping[str, list[Trial]], settings: Mapping[str, Setting], bounds: Mapping[str, Any]
) -> Section:
    """Tables of all settings.

    Args:
        trials: by setting.
        settings: by name.
        bounds: what `lower_bound.measure` returned in the same run, by ``setting, decoder``.
    """
    tables = []
    for name, runs in trials.items():
        tables.append(_speed_table(runs, settings[name], bounds))
        against = _peer_table(runs, name)
        tables += [against] if against.rows else []
    failures = [
        f"{name}: {trial.name} failed: {trial.error}"
        for name, runs in trials.items()
        for trial in runs
        if trial.error
    ]
    return Section(
        "training",
        "Training throughput",
        [
            "Target tokens per second: words and end-of-sentence symbols, no padding, counted where the loss is "
            "computed. Regard runs before and after every other contender, and a contender’s relative speed is its "
            "speed divided by the mean of the two runs of Regard next to it; each run is a new process, whose first "
            "sixth of updates is warm-up. In brackets: minimum and maximum over all runs. The loss is the mean over "
            "the last fifth of the updates.",
            "The bound is the speed at which torch computes the matrix products alone, those of Luong’s decoder in "
            "float32 unless a row has its own; a contender with faster matrix products can exceed it.",
            "Regard and the plain loop are the same model with the same initial weights and the same batches; only "
            "the dropout masks differ. Peers have their own initial weights and batches.",
            *failures,
        ],
        tables,
        numbers={name: [trial.to_json() for trial in runs] for name, runs in trials.items()},
    )


def _speed_table(trials: list[Trial], setting: Setting, bounds: Mapping[str, Any]) -> Table:
    bound = bounds[f"{setting.name}, luong"]["tokens_per_second"]
    own_bounds = {
        BF16: bound["stepwise, bf16"],
        BAHDANAU: bounds[f"{setting.name}, bahdanau"]["tokens_per_second"]["stepwise"],
    }
    speed, ratio, loss, peak = speeds(trials), ratios(trials), losses(trials), peaks(trials)
    rows = []
    for name in speed:
        rows.append(
            [
                name,
                speed[name].format(",.0f"),
                "1" if name == REGARD else ratio[name].format(".2f"),
                f"{speed[name].median / own_bounds.get(name, bound['stepwise']):.2f}",
                loss[name].format(".3f"),
                f"{peak[name].median / 2**20:,.0f}",
            ]
        )
    for way, tokens_per_second in bound.items():
        rows.append([f"matrix products alone, {way}", f"{tokens_per_second:,.0f}", "", "", "", ""])
    columns = ["", "tokens/s", f"× {REGARD}", "÷ bound", f"loss after {setting.updates}", "peak MiB"]
    return Table(f"{setting.name}: batches of {setting.batch}.", columns, rows)


def _peer_table(trials: list[Trial], name: str) -> Table:
    """How many times as fast as each peer, all within one run; the fastest peer comes first."""
    ratio, peak = ratios(trials), peaks(trials)
    measured = sorted((peer for peer in ratio if peer in peers.PEERS), key=lambda peer: -ratio[peer].median)
    variants = {
        REGARD: 1.0,
        **{name: ratio[name].median for name in (BF16, BAHDANAU, plain.NAME) if name in ratio},
    }
    rows = []
    for rank, peer in enumerate(measured):
        factors = [f"{speed / ratio[peer].median:.2f}" for speed in variants.values()]
        memory = f"{peak[REGARD].median / peak[peer].median:.2f}"
        rows.append([f"{peer} (the fastest)" if rank == 0 else peer, *factors, memory])
    columns = ["times as fast as", *variants, f"memory of {REGARD} ÷ its"]
    return Table(f"{name}: how many times as fast.", columns, rows)
