"""Searching side by side: Regard in its precisions, the plain loop and, where they are installed, the peers.

In: a setting, how many rounds, where peers' environments are. Out: for each demand turns and a floor, and a `Section`
with every speed as a share of Regard's in the same run. All contenders translate the same sentences with models of the
same sizes into the same number of words, and each run is a process of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import peers, plain_search, translating
from benchmarks.comparison import PLAIN
from benchmarks.contest import OURS, Run, Spread, Turn, in_turn, shares, spreads
from benchmarks.demands import ONE, demands
from benchmarks.peers import search
from benchmarks.process import in_own_process
from benchmarks.section import Section, Table
from benchmarks.settings import Setting


@dataclass(frozen=True)
class Contest:
    """What a demand came to.

    Attributes:
        turns: everyone's runs.
        floor: sentences a second of the bare products, by precision.
    """

    turns: list[Turn]
    floor: Mapping[str, float]


def compare(
    setting: Setting,
    *,
    rounds: int,
    threads: int,
    environments: Path | None,
    work: Path,
    least: float,
    tell: Callable[[str], None],
) -> dict[str, Contest]:
    """Let everyone search in turn, demand by demand; see `contest.in_turn`.

    Args:
        setting: model and corpus.
        rounds: how often each has its turn.
        threads: how many each computes with.
        environments: the folder of the peers' virtual environments, or None for no peers.
        work: for models and corpora; what is there is used again.
        least: for how many seconds the floor's products are repeated.
        tell: hears what is being run.
    """
    tell(f"{setting.name}: models, where there are none yet")
    data, model = search.corpus(setting, work), translating.model_of(setting, work, threads=threads)
    found = {}
    for demand in demands(setting):
        given = {"setting": setting.to_json(), "demand": demand.to_json(), "least": least}
        floor = in_own_process("benchmarks.search_floor:floor_of", given, threads=threads)
        lines = data / f"{demand.part}.source"
        regard: dict[str, Run] = {
            variant: partial(translating.measure, variant, setting, demand, model, data, threads=threads)
            for variant in translating.variants(setting)
        }
        ours = regard.pop(OURS)
        others: dict[str, Run] = {
            **regard,
            PLAIN: partial(plain_search.measure, setting, demand, model, lines, threads=threads),
        }
        if environments is not None:
            for name in peers.found(environments):
                others[name] = partial(
                    search.measure, name, setting, demand, environments, work, threads=threads
                )
        told = partial(_told, tell, f"{setting.name}, {demand.name}")
        found[demand.name] = Contest(in_turn(ours, others, rounds, told), floor["sentences_per_second"])
    return found


def _told(tell: Callable[[str], None], where: str, name: str) -> None:
    tell(f"{where}: {name}")


def decoding_section(found: Mapping[str, Mapping[str, Contest]], settings: Mapping[str, Setting]) -> Section:
    """Tables of all settings.

    Args:
        found: by setting, then by demand.
        settings: by name.
    """
    tables = []
    for name, contests in found.items():
        tables.append(_speeds(contests, settings[name]))
        against = _against_fastest(contests, name)
        tables += [against] if against.rows else []
        tables.append(_whole(contests, name))
    failed = [
        f"{name}, {demand}: {turn.name} failed: {turn.failed}"
        for name, contests in found.items()
        for demand, contest in contests.items()
        for turn in contest.turns
        if turn.failed
    ]
    slow = [
        f"{peer} ({name}, {demand}: {b} at a time)" for (peer, name, demand), (b, _) in search.SLOW.items()
    ]
    return Section(
        "decoding",
        "Searching",
        [
            "Sentences a second, or milliseconds a sentence, of the search alone: from a padded batch of ids to "
            "hypotheses, the encoder counted, reading and writing text not. All sources and all outputs have the "
            "same number of words, least length = greatest, so that every batch is the same work; the first is left "
            "out, and the median of the others counts. Regard, and the plain loop, also decide on the end mark "
            "behind those words; so does fairseq, the other peers stop before it. Regard runs before and after "
            "every other contender, and a share is one’s speed over the mean of the two runs of Regard beside it.",
            "Regard and the plain loop have the same weights; peers have models of the same sizes from a short "
            "training by their own commands. The whole command is the time from a process’s start to its last line. "
            "Bare products are torch’s own, for all words; whoever has quicker ones, or fewer words, may pass them. "
            f"A peer that would take minutes is asked for fewer sentences: {', '.join(slow)}.",
            *failed,
        ],
        tables,
        numbers={
            name: {
                demand: {"floor": contest.floor, "turns": [turn.to_json() for turn in contest.turns]}
                for demand, contest in contests.items()
            }
            for name, contests in found.items()
        },
    )


def _names(contests: Mapping[str, Contest]) -> list[str]:
    """Everyone who has been measured at least once, in the order of their turns."""
    turns = [turn for contest in contests.values() for turn in contest.turns if turn.measured is not None]
    return list(dict.fromkeys(turn.name for turn in turns))


def _speeds(contests: Mapping[str, Contest], setting: Setting) -> Table:
    """Speeds and shares, two columns a demand."""
    columns, cells = [""], {name: [name] for name in _names(contests)}
    floors: dict[str, list[str]] = {}
    for demand, contest in contests.items():
        columns += [f"{demand}, {'ms' if demand == ONE else 'sentences/s'}", f"share of {OURS}"]
        speed = spreads(contest.turns, lambda seen: float(seen.sentences_per_second))
        share = {OURS: Spread(1, 1, 1), **shares(contest.turns)}
        for name, row in cells.items():
            row += [_shown(demand, speed[name]), share[name].written(".2f")] if name in speed else ["", ""]
        for precision, reached in contest.floor.items():
            row = floors.setdefault(precision, [f"bare products, {precision}"])
            row += [_shown(demand, Spread.of([reached])), f"{reached / speed[OURS].middle:.2f}"]
    caption = f"{setting.name}: searching for {setting.output_words} words."
    return Table(caption, columns, [*cells.values(), *floors.values()])


def _shown(demand: str, speed: Spread) -> str:
    """Sentences a second, or where single sentences are searched for, milliseconds."""
    if demand != ONE:
        return speed.written(",.0f" if speed.middle > 10 else ".1f")
    return Spread(1000 / speed.middle, 1000 / speed.high, 1000 / speed.low).written(",.1f")


def _against_fastest(contests: Mapping[str, Contest], name: str) -> Table:
    """How many times as fast as the fastest peer of each demand, all within one run."""
    ours = [each for each in _names(contests) if each not in peers.PEERS]
    columns, cells = ["times as fast as the fastest peer"], {each: [each] for each in ours}
    for demand, contest in contests.items():
        share = {OURS: Spread(1, 1, 1), **shares(contest.turns)}
        there = {peer: share[peer].middle for peer in peers.PEERS if peer in share}
        if there:
            fastest = max(there, key=lambda peer: there[peer])
            columns.append(f"{demand} ({fastest})")
            for each, row in cells.items():
                row.append(f"{share[each].middle / there[fastest]:.2f}" if each in share else "")
    rows = list(cells.values()) if len(columns) > 1 else []
    return Table(f"{name}: against the fastest peer.", columns, rows)


def _whole(contests: Mapping[str, Contest], name: str) -> Table:
    """Seconds of whole commands on all sentences, and peak memory."""
    columns, cells = [""], {each: [each] for each in _names(contests) if each != PLAIN}
    for demand, contest in contests.items():
        turns = [turn for turn in contest.turns if _complete(turn)]
        columns += [f"{demand}, s", "MiB"]
        seconds = spreads(turns, lambda seen: float(seen.whole))
        memory = spreads(turns, lambda seen: seen.peak_bytes / 2**20)
        for each, row in cells.items():
            there = each in seconds
            row += [seconds[each].written(".1f"), f"{memory[each].middle:,.0f}"] if there else ["", ""]
    return Table(f"{name}: the whole command, start and loading counted.", columns, list(cells.values()))


def _complete(turn: Turn) -> bool:
    """Whether a run was a command of its own that translated all sentences."""
    seen: Any = turn.measured
    return seen is not None and turn.name != PLAIN and not seen.reduced
