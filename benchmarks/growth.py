"""How the cost of a training step grows: seconds against Tx, Ty, n, B and V, each alone, and memory against length.

In: sizes to vary. Out: medians of interleaved rounds, an exponent each (`lab.measures.exponent`), pictures. Memory is
what torch's allocator held at its highest during a step beyond what it held before, so that it is the same everywhere.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.section import Picture, Section, Table
from benchmarks.settings import DECODERS
from benchmarks.step import Sizes, reading, translating
from regard.io import make_folder
from regard.lab.measures.statistics import fitted_exponent
from regard.plots.figures.canvas import save
from regard.plots.figures.curves import Curve, Panel, draw_curves

LETTERS = {
    "Tx": "source positions",
    "Ty": "target positions",
    "n": "units",
    "B": "sentences",
    "V": "words a side",
}


@dataclass(frozen=True)
class Plan:
    """What is varied.

    Attributes:
        base: the sizes that stay while another one grows.
        smallest: of each size, where its five doublings begin.
        memory: sizes of the steps whose memory is taken; its lengths do not count.
        lengths: of those steps, source and target alike.
        rounds: of every timing.
        doublings: how many sizes each letter has.
    """

    base: Sizes
    smallest: Mapping[str, int]
    memory: Sizes
    lengths: Sequence[int]
    rounds: int = 3
    doublings: int = 5

    def grown(self, letter: str) -> list[int]:
        """The sizes of one letter."""
        return [self.smallest[letter] * 2**k for k in range(self.doublings)]


USUAL = Plan(
    Sizes(Tx=16, Ty=16, n=256, B=16, V=2000),
    {"Tx": 8, "Ty": 8, "n": 64, "B": 4, "V": 1000},
    Sizes(Tx=0, Ty=0, n=256, B=16, V=500),
    (16, 32, 64, 128, 256),
)
MODELS: dict[str, Callable[[Sizes], Callable[[], None]]] = {
    **{name: lambda sizes, name=name: translating(sizes, name) for name in DECODERS},  # type: ignore[misc]
    "lstmn": lambda sizes: reading(sizes, "lstmn"),
}
"""What memory is measured of; a reader's length is `Ty`. Time is taken of the decoders."""


def grow(plan: dict[str, Any]) -> dict[str, Any]:
    """Measure what a plan says, in this process."""
    chosen = Plan(**{**plan, "base": Sizes(**plan["base"]), "memory": Sizes(**plan["memory"])})
    return {"time": _times(chosen), "memory": _memories(chosen), "plan": asdict(chosen)}


def _times(plan: Plan) -> dict[str, Any]:
    """Seconds of every decoder at every size, median, least and greatest, and their exponents."""
    found: dict[str, Any] = {}
    for decoder in DECODERS:
        found[decoder] = {}
        for letter in plan.smallest:
            sizes = plan.grown(letter)
            steps = [translating(plan.base.but(letter, size), decoder) for size in sizes]
            rounds = [[_seconds(step) for step in steps] for _ in range(plan.rounds + 1)][1:]
            found[decoder][letter] = exponents(sizes, rounds)
    return found


def exponents(sizes: Sequence[int], rounds: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Medians over rounds, what they spread over, and the exponent of the medians.

    Args:
        sizes: ascending.
        rounds: of each, the seconds at every size.
    """
    columns = list(zip(*rounds, strict=True))
    middle = [median(column) for column in columns]
    return {
        "sizes": list(sizes),
        "seconds": middle,
        "low": [min(column) for column in columns],
        "high": [max(column) for column in columns],
        "exponent": fitted_exponent(sizes, middle),
    }


def _seconds(step: Callable[[], None]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def _memories(plan: Plan) -> dict[str, Any]:
    """Bytes a step holds at its highest, by model, against the length of both sides."""
    found: dict[str, Any] = {}
    for name, make in MODELS.items():
        held = []
        for length in plan.lengths:
            step = make(plan.memory.but("Tx", length).but("Ty", length))
            step()  # Adam's moments are there from now on
            held.append(allocated_at_most(step))
        found[name] = {
            "lengths": list(plan.lengths),
            "bytes": held,
            "exponent": fitted_exponent(plan.lengths, held),
        }
    return found


def allocated_at_most(work: Callable[[], None]) -> int:
    """The most bytes torch holds while it does something, beyond what it held before."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        work()
    with TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profiled.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    memory = sorted(
        (event for event in events if event.get("name") == "[memory]"), key=lambda event: event["ts"]
    )
    held, most = 0, 0
    for event in memory:
        held += event["args"]["Bytes"]
        most = max(most, held)
    return most


def growth_section(found: dict[str, Any], folder: Path) -> Section:
    """Tables of exponents, and the two pictures, drawn into the folder."""
    pictures = _draw(found, folder)
    letters = list(LETTERS)
    rows = [
        [name, *(f"{by_letter[letter]['exponent']:.2f}" for letter in letters)]
        for name, by_letter in found["time"].items()
    ]
    memory = [
        [name, *(f"{held / 1e6:,.1f}" for held in row["bytes"]), f"{row['exponent']:.2f}"]
        for name, row in found["memory"].items()
    ]
    base, plan = found["plan"]["base"], found["plan"]
    spans = [f"{letter} {plan['smallest'][letter]}–{max(_sizes(found, letter))}" for letter in letters]
    return Section(
        "growth",
        "How the cost grows",
        [
            "One size doubles at a time while the others stay at "
            + ", ".join(f"{letter} = {base[letter]}" for letter in letters)
            + f" (embeddings {base['m']}). Seconds are medians of interleaved rounds; the exponent p of seconds ∝ "
            "size^p is the slope of log against log over the longer half of the sizes. A fixed price beside what "
            "grows keeps p below what it is in the limit.",
            "Memory is the most that torch’s allocator held during a step, beyond weights and the optimizer’s "
            "moments, against the length of both sentences (of the line, for the LSTMN); what the C kernels lay out "
            "for themselves is not in it.",
        ],
        [
            Table(f"Exponent of a training step’s time: {'; '.join(spans)}.", ["decoder", *letters], rows),
            Table(
                "Megabytes of a training step at each length, and the exponent.",
                ["model", *(str(length) for length in plan["lengths"]), "exponent"],
                memory,
            ),
        ],
        pictures,
        found,
    )


def _sizes(found: Mapping[str, Any], letter: str) -> list[int]:
    sizes: list[int] = next(iter(found["time"].values()))[letter]["sizes"]
    return sizes


def _draw(found: Mapping[str, Any], folder: Path) -> list[Picture]:
    make_folder(folder)
    panels = []
    for letter, words in LETTERS.items():
        rows = {name: by_letter[letter] for name, by_letter in found["time"].items()}
        curves = [
            Curve(name, row["sizes"], *([1000 * s for s in row[part]] for part in ("seconds", "low", "high")))
            for name, row in rows.items()
        ]
        panels.append(
            Panel(curves, f"{letter}, {words}", "milliseconds a step", letter, x_scale="log2", y_scale="log2")
        )
    curves = [
        Curve(name, row["lengths"], [held / 1e6 for held in row["bytes"]])
        for name, row in found["memory"].items()
    ]
    memory = Panel(curves, "positions on either side", "megabytes a step", x_scale="log2", y_scale="log2")
    drawn = {
        "growth-time": (panels, "A training step’s milliseconds against each size, both axes logarithmic."),
        "growth-memory": ([memory], "The most memory a training step holds, against length."),
    }
    for name, (each, _) in drawn.items():
        figure = draw_curves(each)
        for ending in ("png", "svg"):
            save(figure, folder / f"{name}.{ending}")
    return [Picture(name, caption) for name, (_, caption) in drawn.items()]
