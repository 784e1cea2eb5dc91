"""Training throughput side by side: Regard, the plain loop and, where they are installed, the peers.

In: a setting, how many rounds, where peers' environments are. Out: numbers, and a `Section` with every speed as a share
of Regard's in the same run. All contenders learn from the same corpus with the same batch size, and each run is a
process of its own.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import peers, plain, training
from benchmarks.contest import OURS, Run, Turn, in_turn, losses, peaks, shares, speeds
from benchmarks.section import Section, Table
from benchmarks.settings import Setting

PLAIN = "plain PyTorch loop"
BF16 = f"{OURS}, bf16"
BAHDANAU = f"{OURS}, bahdanau"
WITH_BF16 = ("mt",)
"""Settings whose products are large enough for half precision to matter."""


def contenders(setting: Setting, *, threads: int, environments: Path | None, work: Path) -> dict[str, Run]:
    """Everyone but Regard's ``luong`` in float32, which the others are held against, by name.

    Args:
        setting: what is trained.
        threads: how many each computes with.
        environments: the folder of the peers' virtual environments, or None for no peers.
        work: where peers may write.
    """
    others: dict[str, Run] = {PLAIN: partial(plain.measure, setting, threads=threads)}
    if setting.name in WITH_BF16:
        others[BF16] = partial(training.measure, setting, "luong", "bf16", threads=threads)
    others[BAHDANAU] = partial(training.measure, setting, "bahdanau", threads=threads)
    if environments is not None:
        for name in peers.found(environments):
            others[name] = partial(peers.measure, name, setting, environments, work, threads=threads)
    return others


def compare(
    setting: Setting,
    *,
    rounds: int,
    threads: int,
    environments: Path | None,
    work: Path,
    tell: Callable[[str], None],
) -> list[Turn]:
    """Let everyone train in turn; see `contest.in_turn`."""
    ours = partial(training.measure, setting, "luong", threads=threads)
    others = contenders(setting, threads=threads, environments=environments, work=work)
    return in_turn(ours, others, rounds, lambda name: tell(f"{setting.name}: {name}"))


def comparison_section(
    turns: Mapping[str, list[Turn]], settings: Mapping[str, Setting], floors: Mapping[str, Any]
) -> Section:
    """Tables of all settings.

    Args:
        turns: by setting.
        settings: by name.
        floors: what `floor.floor_of` found in the same run, by ``setting, decoder``.
    """
    tables = []
    for name, taken in turns.items():
        tables.append(_speeds(taken, settings[name], floors))
        against = _against_peers(taken, name)
        tables += [against] if against.rows else []
    failed = [
        f"{name}: {turn.name} failed: {turn.failed}"
        for name, taken in turns.items()
        for turn in taken
        if turn.failed
    ]
    return Section(
        "training",
        "Training throughput",
        [
            "Target tokens a second: words and end marks, no padding, counted where the loss is taken. Regard runs "
            "before and after every other contender, and a share is one’s speed over the mean of the two runs of "
            "Regard beside it; each run is a fresh process, whose first sixth of updates is left out. In brackets "
            "the least and the greatest of all runs. The loss is the mean over the last fifth of the updates.",
            "A floor is the time that torch’s own products take, those of Luong’s decoder in float32 but for the rows "
            "that have others; whoever has quicker products may pass it.",
            "Regard and the plain loop are the same model with the same first weights and the same batches; only "
            "dropout’s draws differ. Peers have their own first weights and their own batches.",
            *failed,
        ],
        tables,
        numbers={name: [turn.to_json() for turn in taken] for name, taken in turns.items()},
    )


def _speeds(turns: list[Turn], setting: Setting, floors: Mapping[str, Any]) -> Table:
    floor = floors[f"{setting.name}, luong"]["tokens_per_second"]
    own = {
        BF16: floor["stepped, bf16"],
        BAHDANAU: floors[f"{setting.name}, bahdanau"]["tokens_per_second"]["stepped"],
    }
    speed, share, loss, peak = speeds(turns), shares(turns), losses(turns), peaks(turns)
    rows = []
    for name in speed:
        rows.append(
            [
                name,
                speed[name].written(",.0f"),
                "1" if name == OURS else share[name].written(".2f"),
                f"{speed[name].middle / own.get(name, floor['stepped']):.2f}",
                loss[name].written(".3f"),
                f"{peak[name].middle / 2**20:,.0f}",
            ]
        )
    for way, reached in floor.items():
        rows.append([f"bare products, {way}", f"{reached:,.0f}", "", "", "", ""])
    columns = [
        "",
        "tokens/s",
        f"share of {OURS}",
        "share of its floor",
        f"loss after {setting.updates}",
        "peak MiB",
    ]
    return Table(f"{setting.name}: batches of {setting.batch}.", columns, rows)


def _against_peers(turns: list[Turn], name: str) -> Table:
    """How many times as fast as each peer, and as the fastest of them, all within one run."""
    share, peak = shares(turns), peaks(turns)
    there = sorted((peer for peer in share if peer in peers.PEERS), key=lambda peer: -share[peer].middle)
    ways = {OURS: 1.0, **{way: share[way].middle for way in (BF16, BAHDANAU, PLAIN) if way in share}}
    rows = []
    for place, peer in enumerate(there):
        times = [f"{speed / share[peer].middle:.2f}" for speed in ways.values()]
        memory = f"{peak[OURS].middle / peak[peer].middle:.2f}"
        rows.append([f"{peer} (the fastest)" if place == 0 else peer, *times, memory])
    columns = ["times as fast as", *ways, f"memory of {OURS} ÷ its"]
    return Table(f"{name}: how many times as fast.", columns, rows)
