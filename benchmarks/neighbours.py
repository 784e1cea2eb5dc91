"""Trainings that share the processors: how much longer two at once take than one alone.

In: a setting, the number of rounds. Out: a `Section` with the seconds of one training alone and of two at once, and
their ratio: 2 if they share the processors perfectly. Measured with Regard's short spin of waiting threads and, next to
it, with libgomp's default: a thread that spins keeps the one it waits for from running. All runs alternate, each in its
own process with the same number of threads; so this is the worst case, without the choice of threads by load that
``regard train`` makes.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from benchmarks.interleave import Spread
from benchmarks.process import run_in_subprocess
from benchmarks.report import Section, Table
from benchmarks.settings import DECODERS, Setting
from regard.openmp import SPIN_COUNT

SPINS = {f"Regard's spin ({SPIN_COUNT:,})": SPIN_COUNT, "libgomp's default spin (300,000)": 300_000}
"""The name in the table → ``GOMP_SPINCOUNT``; the first is judged."""
LIMIT = 2.3
"""Two at once should take at most this many times as long as one alone."""

Seconds = dict[str, dict[int, list[float]]]
"""The name of a spin → the number of trainings at once → seconds, round by round."""


def train_together(setting: Setting, number: int, *, spin_count: int, threads: int) -> float:
    """Seconds until the last of some equal trainings, started together, has done its updates.

    The start of a process (imports, data, warm-up) is not counted: a training times its own updates.
    """
    arguments = {"setting": setting.to_json(), "decoder": DECODERS[0], "precision": "32"}
    variables = {"GOMP_SPINCOUNT": str(spin_count)}

    def train(_: int) -> float:
        result = run_in_subprocess(
            "benchmarks.training:train", arguments, threads=threads, variables=variables
        )
        return float(sum(result["seconds"][setting.warmup :]))

    with ThreadPoolExecutor(number) as pool:
        return max(pool.map(train, range(number)))


def compare(setting: Setting, *, rounds: int, threads: int, log: Callable[[str], None]) -> Seconds:
    """One training alone and two at once with each spin; the order is reversed from round to round."""
    seconds: Seconds = {name: {1: [], 2: []} for name in SPINS}
    runs = [(name, number) for number in (1, 2) for name in SPINS]
    for k in range(rounds):
        for name, number in runs if k % 2 == 0 else reversed(runs):
            taken = train_together(setting, number, spin_count=SPINS[name], threads=threads)
            log(f"{setting.name}, round {k + 1} of {rounds}: {name}, {number} at once: {taken:.1f} s")
            seconds[name][number].append(taken)
    return seconds


def ratio(seconds: Mapping[int, list[float]]) -> Spread:
    """Two at once divided by one alone in the same round."""
    return Spread.from_values([two / one for one, two in zip(seconds[1], seconds[2], strict=True)])


def neighbours_section(results: Mapping[str, Seconds], threads: int) -> Section:
    """A table for each setting.

    Args:
        results: by setting.
        threads: of each training.
    """
    tables = []
    for name, seconds in results.items():
        judged, default = seconds.values()
        verdict = "PASS" if ratio(judged).median <= LIMIT else "FAIL"
        alone = Spread.from_values([a / b for a, b in zip(judged[1], default[1], strict=True)])
        rows = [
            [
                spin,
                *(Spread.from_values(each[number]).format(".1f") for number in (1, 2)),
                ratio(each).format(".2f"),
            ]
            for spin, each in seconds.items()
        ]
        caption = (
            f"{name}: {verdict}, two at once take {ratio(judged).median:.2f} times as long as one alone (at most "
            f"{LIMIT}); one alone takes {alone.format('.3f')} times as long as with the default spin."
        )
        tables.append(Table(caption, ["", "one alone, s", "two at once, s", "two ÷ one"], rows))
    return Section(
        "neighbours",
        "Two trainings at once",
        [
            f"Seconds of one training alone, and until both of two equal ones are done, with {threads} threads each; "
            "every training is a new process. Medians over rounds, with minimum and maximum in brackets; a ratio is "
            "the median of the ratios within a round."
        ],
        tables,
        numbers={
            name: {spin: {str(number): each[number] for number in each} for spin, each in seconds.items()}
            for name, seconds in results.items()
        },
    )
