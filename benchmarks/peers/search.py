"""A peer's search, measured: with a model from a short training by its own command, kept for the next time.

In: a folder of virtual environments. Out: `Searched`, as for ours.
"""

from dataclasses import replace
from pathlib import Path

from benchmarks import demands
from benchmarks.demands import Demand
from benchmarks.peers.call import call
from benchmarks.peers.commands import COMMANDS
from benchmarks.peers.run import python_of
from benchmarks.peers.search_commands import LOG, SEARCHES
from benchmarks.searched import Searched, searched
from benchmarks.settings import Setting

UPDATES = 12
"""Of the training: the words do not matter, only that there is a checkpoint."""
SLOW = {("yoyodyne", "mt", demands.BEAM): (4, 2), ("yoyodyne", "mt", demands.ONE): (1, 4)}
"""Where a peer would take minutes: so many sentences at a time, so many times, in the place of what is demanded."""


def asked(name: str, setting: Setting, demand: Demand) -> Demand:
    """What a peer is asked for: the demand itself, but where that would take minutes."""
    batch, calls = SLOW.get((name, setting.name, demand.name), (demand.batch, demand.calls))
    return replace(demand, batch=batch, calls=calls)


def measure(
    name: str, setting: Setting, demand: Demand, folder: Path, work: Path, *, threads: int
) -> Searched:
    """Let a peer search; where it has no model yet it trains one first.

    Args:
        name: one of `SEARCHES`.
        setting: model and corpus.
        demand: what to search for.
        folder: of the virtual environments.
        work: for corpora, configurations and what the peer writes.
        threads: how many it computes with.

    Raises:
        RegardError: it failed, took too long, or did other work than was asked for.
    """
    python, own = python_of(name, folder), work.absolute() / f"{name}-{setting.name}-searching"
    data = corpus(setting, work)
    own.mkdir(parents=True, exist_ok=True)
    if not (own / "trained.json").exists():
        training = COMMANDS[name](setting, data, own, UPDATES)
        if training.before is not None:
            call(python, training.before, own, "prepared", threads=threads)
        call(python, training, own, "trained", threads=threads)
    wanted = asked(name, setting, demand)
    search = SEARCHES[name](setting, wanted, data, own)
    if search.command.before is not None and not (own / f"{wanted.part}.json").exists():
        call(python, search.command.before, own, wanted.part, threads=threads)
    search.output.unlink(missing_ok=True)
    seen = call(python, search.command, own, Path(LOG).stem, threads=threads, timed=search.timed)
    run = searched(seen, wanted, setting.output_words, search.outputs())
    return replace(run, reduced=wanted != demand)


def corpus(setting: Setting, work: Path) -> Path:
    """The folder of the setting's corpus with all demands' sentences, written where they are not yet there."""
    data = work.absolute() / f"{setting.name}-searching"
    slow = [Demand("", 1, batch, calls) for batch, calls in SLOW.values()]
    wanted = [*demands.demands(setting), *slow]
    if not all((data / f"{demand.part}.tsv").exists() for demand in wanted):
        demands.write(setting, wanted, data)
    return data
