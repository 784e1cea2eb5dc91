"""Search side by side: Regard in its precisions, the plain PyTorch loop and, where they are installed, other toolkits.

In: a setting, the number of rounds, the folder of the peers' environments. Out: for each case its trials and a lower
bound, and a `Section` with every speed relative to Regard's in the same run. All contenders translate the same
sentences with models of the same sizes into the same number of words, each run in its own process.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import decoding, peers, plain
from benchmarks.interleave import REGARD, Measure, Spread, Trial, interleave, ratios, summarize
from benchmarks.process import run_in_subprocess
from benchmarks.report import Section, Table
from benchmarks.search_cases import SINGLE, search_cases
from benchmarks.settings import Setting


@dataclass(frozen=True)
class CaseResult:
    """The results of one case.

    Attributes:
        trials: all runs.
        bound: sentences per second of the matrix products alone, by precision.
    """

    trials: list[Trial]
    bound: Mapping[str, float]


def compare(
    setting: Setting,
    *,
    rounds: int,
    threads: int,
    environments: Path | None,
    work: Path,
    min_seconds: float,
    log: Callable[[str], None],
) -> dict[str, CaseResult]:
    """Search with every contender, case by case, interleaved with Regard; see `interleave.interleave`.

    Args:
        setting: the model and its corpus.
        rounds: the number of runs of each contender.
        threads: the number of threads of each process.
        environments: the folder of the peers' virtual environments, or None for no peers.
        work: for models and corpora; those already there are used again.
        min_seconds: how long the matrix products of the lower bound are repeated.
        log: called with the name of each run before it starts.
    """
    log(f"{setting.name}: training the models that are missing")
    data, model = peers.search_corpus(setting, work), decoding.trained_model(setting, work, threads=threads)
    results = {}
    for case in search_cases(setting):
        arguments = {"setting": setting.to_json(), "case": case.to_json(), "min_seconds": min_seconds}
        bound = run_in_subprocess("benchmarks.lower_bound:measure_search", arguments, threads=threads)
        lines = data / f"{case.file_stem}.source"
        others: dict[str, Measure] = {
            variant: partial(decoding.measure, variant, setting, case, model, data, threads=threads)
            for variant in decoding.variants(setting)
        }
        regard = others.pop(REGARD)
        others[plain.NAME] = partial(plain.measure_search, setting, case, model, lines, threads=threads)
        if environments is not None:
            for name in peers.searchers(setting, environments):
                others[name] = partial(
                    peers.measure_search, name, setting, case, environments, work, threads=threads
                )
        log_case = partial(_log_case, log, f"{setting.name}, {case.name}")
        results[case.name] = CaseResult(
            interleave(regard, others, rounds, log_case), bound["sentences_per_second"]
        )
    return results


def _log_case(log: Callable[[str], None], case: str, name: str) -> None:
    log(f"{case}: {name}")


def search_section(
    results: Mapping[str, Mapping[str, CaseResult]], settings: Mapping[str, Setting]
) -> Section:
    """Tables of all settings.

    Args:
        results: by setting, then by case.
        settings: by name.
    """
    tables = []
    for name, cases in results.items():
        tables.append(_speed_table(cases, settings[name]))
        against = _peer_table(cases, name)
        tables += [against] if against.rows else []
        tables.append(_command_table(cases, name))
    failures = [
        f"{name}, {case}: {trial.name} failed: {trial.error}"
        for name, cases in results.items()
        for case, result in cases.items()
        for trial in result.trials
        if trial.error
    ]
    slow = [
        f"{peer} ({name}, {case}: batches of {batch})"
        for (peer, name, case), (batch, _) in peers.SLOW.items()
    ]
    return Section(
        "search",
        "Search",
        [
            "Sentences per second, or milliseconds per sentence, of the search alone: from a padded batch of ids to "
            "hypotheses, with the encoder and without reading and writing text. All sources and all outputs have the "
            "same number of words (minimum length = maximum length), so that every batch is the same work; the first "
            "batch is warm-up, and the median of the others counts. Regard and the plain loop also predict the "
            "end-of-sentence symbol after those words; so does fairseq, while the other peers stop before it. Regard "
            "runs before and after every other contender, and a contender’s relative speed is its speed divided by "
            "the mean of the two runs of Regard next to it.",
            "Regard and the plain loop have the same weights; peers have models of the same sizes from a short "
            "training by their own commands; Marian’s has other parts, the same number of multiplications, one thread "
            "for one sentence, and its own int8 and shortlist. The whole command is the time from the start of the "
            "process to its end. "
            "The bound is torch’s matrix products alone, for all words; a contender with faster matrix products, or "
            "with fewer words in its output layer, can exceed it. A peer that would take minutes translates fewer "
            f"sentences: {', '.join(slow)}.",
            *failures,
        ],
        tables,
        numbers={
            name: {
                case: {"bound": result.bound, "trials": [trial.to_json() for trial in result.trials]}
                for case, result in cases.items()
            }
            for name, cases in results.items()
        },
    )


def _names(cases: Mapping[str, CaseResult]) -> list[str]:
    """All contenders with at least one result, in the order of their trials."""
    trials = [trial for result in cases.values() for trial in result.trials if trial.result is not None]
    return list(dict.fromkeys(trial.name for trial in trials))


def _speed_table(cases: Mapping[str, CaseResult], setting: Setting) -> Table:
    """Speeds and ratios, two columns per case."""
    columns, rows = [""], {name: [name] for name in _names(cases)}
    bounds: dict[str, list[str]] = {}
    for case, result in cases.items():
        columns += [f"{case}, {'ms' if case == SINGLE else 'sentences/s'}", f"× {REGARD}"]
        speed = summarize(result.trials, lambda timing: float(timing.sentences_per_second))
        ratio = {REGARD: Spread(1, 1, 1), **ratios(result.trials)}
        for name, row in rows.items():
            row += (
                [_format_speed(case, speed[name]), ratio[name].format(".2f")] if name in speed else ["", ""]
            )
        for precision, bound in result.bound.items():
            row = bounds.setdefault(precision, [f"matrix products alone, {precision}"])
            row += [_format_speed(case, Spread.from_values([bound])), f"{bound / speed[REGARD].median:.2f}"]
    caption = f"{setting.name}: outputs of {setting.output_words} words."
    return Table(caption, columns, [*rows.values(), *bounds.values()])


def _format_speed(case: str, speed: Spread) -> str:
    """Sentences per second, or milliseconds where sentences are translated one at a time."""
    if case != SINGLE:
        return speed.format(",.0f" if speed.median > 10 else ".1f")
    return Spread(1000 / speed.median, 1000 / speed.maximum, 1000 / speed.minimum).format(",.1f")


def _peer_table(cases: Mapping[str, CaseResult], name: str) -> Table:
    """How many times as fast as the fastest peer of each case, all within one run."""
    rows = {name: [name] for name in _names(cases) if name.partition(",")[0] not in peers.PEERS}
    columns = ["times as fast as the fastest peer"]
    for case, result in cases.items():
        ratio = {REGARD: Spread(1, 1, 1), **ratios(result.trials)}
        measured = {peer: ratio[peer].median for peer in peers.PEERS if peer in ratio}
        if measured:
            fastest = max(measured, key=lambda peer: measured[peer])
            columns.append(f"{case} ({fastest})")
            for contender, row in rows.items():
                row.append(f"{ratio[contender].median / measured[fastest]:.2f}" if contender in ratio else "")
    return Table(
        f"{name}: against the fastest peer.", columns, list(rows.values()) if len(columns) > 1 else []
    )


def _command_table(cases: Mapping[str, CaseResult], name: str) -> Table:
    """Seconds of whole commands on all sentences, and peak memory."""
    columns, rows = [""], {name: [name] for name in _names(cases) if name != plain.NAME}
    for case, result in cases.items():
        trials = [trial for trial in result.trials if _is_complete(trial)]
        columns += [f"{case}, s", "MiB"]
        seconds = summarize(trials, lambda timing: float(timing.total_seconds))
        memory = summarize(trials, lambda timing: timing.peak_bytes / 2**20)
        for contender, row in rows.items():
            if contender in seconds:
                row += [seconds[contender].format(".1f"), f"{memory[contender].median:,.0f}"]
            else:
                row += ["", ""]
    return Table(f"{name}: the whole command, with start-up and loading.", columns, list(rows.values()))


def _is_complete(trial: Trial) -> bool:
    """Whether a run was a command that translated all sentences."""
    timing: Any = trial.result
    return timing is not None and trial.name != plain.NAME and not timing.reduced
