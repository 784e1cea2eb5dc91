"""How the cost of a training step scales: seconds against Tx, Ty, n, B and V, one at a time, and memory against length.

In: sizes to vary. Out: medians of interleaved rounds with a fitted exponent each, and figures. A step trains on one
batch of random words with exactly these lengths and no padding. Memory is the peak of torch's allocator during a step
minus what it held before, so that it is the same on every machine.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.report import Figure, Section, Table
from benchmarks.settings import CLIP, DECODERS, LEARNING_RATE, SEED, model_config
from regard.batches import Batch, LineBatch, PairBatch
from regard.io import make_folder
from regard.lab.measures.statistics import fitted_exponent
from regard.models import LanguageModelConfig, LanguageModelNetwork, ModelConfig, Seq2Seq
from regard.plots.figures.canvas import save
from regard.plots.figures.curves import Curve, Panel, draw_curves
from regard.tasks.config import TrainingConfig
from regard.tasks.language_model.task import LanguageModelObjective
from regard.tasks.translate.objective import TranslationObjective
from regard.training.fabric import build_fabric
from regard.training.loop import update
from regard.training.optimizer import build_optimizer

_DROPOUT = 0.2
LETTERS = {
    "Tx": "source positions",
    "Ty": "target positions",
    "n": "units",
    "B": "sentences",
    "V": "words per side",
}


@dataclass(frozen=True)
class Sizes:
    """The sizes that a step's cost may depend on.

    Attributes:
        Tx: source positions.
        Ty: target positions.
        n: units of the decoder; the encoder has half of them per direction.
        B: sentences.
        V: words of either vocabulary.
        m: the width of embeddings, which does not vary.
    """

    Tx: int
    Ty: int
    n: int
    B: int
    V: int
    m: int = 128


def translation_step(sizes: Sizes, decoder: str) -> Callable[[], None]:
    """A training step of a translation model; `decoder` is one of `settings.DECODERS`."""
    config = ModelConfig.from_mapping(model_config(decoder, sizes.m, sizes.n // 2, _DROPOUT), "model")
    torch.manual_seed(SEED)
    objective = TranslationObjective(Seq2Seq(config, sizes.V, sizes.V), 0.0)
    source, previous, target = (torch.randint(sizes.V, (sizes.B, T)) for T in (sizes.Tx, sizes.Ty, sizes.Ty))
    batch = PairBatch(
        source, torch.ones_like(source).bool(), previous, target, torch.ones_like(target).bool()
    )
    return _step(objective, batch, lambda loss: loss)


def language_model_step(sizes: Sizes, cell: str) -> Callable[[], None]:
    """A training step of a language model with a cell such as ``lstmn``, on `Ty` words."""
    torch.manual_seed(SEED)
    config = LanguageModelConfig(cell=cell, embedding_size=sizes.m, state_size=sizes.n)
    objective = LanguageModelObjective(LanguageModelNetwork(config, sizes.V), 0.0)
    previous, target = (torch.randint(sizes.V, (sizes.B, sizes.Ty)) for _ in range(2))
    batch = LineBatch(previous, target, torch.ones_like(previous).bool())
    return _step(objective, batch, lambda result: result[0])


def _step(objective: nn.Module, batch: Batch, loss: Callable[[Any], Tensor]) -> Callable[[], None]:
    """An update on one batch; `loss` extracts the loss from the objective's result."""
    training = TrainingConfig(learning_rate=LEARNING_RATE, clip=CLIP, device="cpu", max_updates=1)
    fabric = build_fabric(training)
    model, optimizer = fabric.setup(objective, build_optimizer(objective, training))

    def step() -> None:
        update(fabric, model, optimizer, [batch], lambda given: loss(model(given)), clip=CLIP)

    return step


@dataclass(frozen=True)
class Plan:
    """What is varied.

    Attributes:
        base: the sizes that stay fixed while one of them varies.
        smallest: the smallest value of each size; the next ones are doubled.
        memory: the sizes of the steps whose memory is measured; its lengths are not used.
        lengths: the lengths of those steps, source and target.
        rounds: repetitions of every timing.
        doublings: the number of values of each size.
    """

    base: Sizes
    smallest: Mapping[str, int]
    memory: Sizes
    lengths: Sequence[int]
    rounds: int = 3
    doublings: int = 5

    def values(self, letter: str) -> list[int]:
        """The values of one size."""
        return [self.smallest[letter] * 2**k for k in range(self.doublings)]


DEFAULT_PLAN = Plan(
    Sizes(Tx=16, Ty=16, n=256, B=16, V=2000),
    {"Tx": 8, "Ty": 8, "n": 64, "B": 4, "V": 1000},
    Sizes(Tx=0, Ty=0, n=256, B=16, V=500),
    (16, 32, 64, 128, 256),
)
MODELS: dict[str, Callable[[Sizes], Callable[[], None]]] = {
    **{name: lambda sizes, name=name: translation_step(sizes, name) for name in DECODERS},  # type: ignore[misc]
    "lstmn": lambda sizes: language_model_step(sizes, "lstmn"),
}
"""The models whose memory is measured; the length of a language model is `Ty`. Time is measured for the decoders."""


def measure(plan: dict[str, Any]) -> dict[str, Any]:
    """Measure everything in a plan, in this process."""
    chosen = Plan(**{**plan, "base": Sizes(**plan["base"]), "memory": Sizes(**plan["memory"])})
    return {"time": _measure_time(chosen), "memory": _measure_memory(chosen), "plan": asdict(chosen)}


def _measure_time(plan: Plan) -> dict[str, Any]:
    """Seconds of every decoder at every size: median, minimum, maximum and exponent."""
    results: dict[str, Any] = {}
    for decoder in DECODERS:
        results[decoder] = {}
        for letter in plan.smallest:
            sizes = plan.values(letter)
            steps = [translation_step(replace(plan.base, **{letter: size}), decoder) for size in sizes]
            rounds = [[_seconds(step) for step in steps] for _ in range(plan.rounds + 1)][1:]
            results[decoder][letter] = exponents(sizes, rounds)
    return results


def exponents(sizes: Sequence[int], rounds: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Median, minimum and maximum over rounds, and the exponent of the medians.

    Args:
        sizes: ascending.
        rounds: for each round, the seconds at every size.
    """
    columns = list(zip(*rounds, strict=True))
    medians = [median(column) for column in columns]
    return {
        "sizes": list(sizes),
        "seconds": medians,
        "low": [min(column) for column in columns],
        "high": [max(column) for column in columns],
        "exponent": fitted_exponent(sizes, medians),
    }


def _seconds(step: Callable[[], None]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def _measure_memory(plan: Plan) -> dict[str, Any]:
    """Peak bytes of a step by model, against the length of both sides."""
    results: dict[str, Any] = {}
    for name, make_step in MODELS.items():
        peaks = []
        for length in plan.lengths:
            step = make_step(replace(plan.memory, Tx=length, Ty=length))
            step()  # allocates Adam's moments
            peaks.append(peak_allocated(step))
        results[name] = {
            "lengths": list(plan.lengths),
            "bytes": peaks,
            "exponent": fitted_exponent(plan.lengths, peaks),
        }
    return results


def peak_allocated(work: Callable[[], None]) -> int:
    """The peak bytes that torch allocates during some work, minus what it held before."""
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
    held, peak = 0, 0
    for event in memory:
        held += event["args"]["Bytes"]
        peak = max(peak, held)
    return peak


def scaling_section(results: dict[str, Any], folder: Path) -> Section:
    """Tables of exponents, and the two figures, saved into the folder."""
    figures = _draw_figures(results, folder)
    letters = list(LETTERS)
    rows = [
        [name, *(f"{by_letter[letter]['exponent']:.2f}" for letter in letters)]
        for name, by_letter in results["time"].items()
    ]
    memory = [
        [name, *(f"{peak / 1e6:,.1f}" for peak in row["bytes"]), f"{row['exponent']:.2f}"]
        for name, row in results["memory"].items()
    ]
    base, plan = results["plan"]["base"], results["plan"]
    spans = [f"{letter} {plan['smallest'][letter]}–{max(_sizes(results, letter))}" for letter in letters]
    return Section(
        "scaling",
        "How the cost scales",
        [
            "One size doubles at a time while the others stay at "
            + ", ".join(f"{letter} = {base[letter]}" for letter in letters)
            + f" (embeddings {base['m']}). Seconds are medians of interleaved rounds; the exponent p of seconds ∝ "
            "size^p is the slope of log against log over the larger half of the sizes. A constant cost besides the "
            "one that grows keeps p below its limit.",
            "Memory is the peak of torch’s allocator during a step, without weights and the optimizer’s moments, "
            "against the length of both sentences (of the line, for the LSTMN); buffers that the C kernels allocate "
            "themselves are not included.",
        ],
        [
            Table(f"Exponent of a training step’s time: {'; '.join(spans)}.", ["decoder", *letters], rows),
            Table(
                "Megabytes of a training step at each length, and the exponent.",
                ["model", *(str(length) for length in plan["lengths"]), "exponent"],
                memory,
            ),
        ],
        figures,
        results,
    )


def _sizes(results: Mapping[str, Any], letter: str) -> list[int]:
    sizes: list[int] = next(iter(results["time"].values()))[letter]["sizes"]
    return sizes


def _draw_figures(results: Mapping[str, Any], folder: Path) -> list[Figure]:
    make_folder(folder)
    panels = []
    for letter, label in LETTERS.items():
        rows = {name: by_letter[letter] for name, by_letter in results["time"].items()}
        curves = [
            Curve(name, row["sizes"], *([1000 * s for s in row[part]] for part in ("seconds", "low", "high")))
            for name, row in rows.items()
        ]
        panels.append(
            Panel(
                curves, f"{letter}, {label}", "milliseconds per step", letter, x_scale="log2", y_scale="log2"
            )
        )
    curves = [
        Curve(name, row["lengths"], [peak / 1e6 for peak in row["bytes"]])
        for name, row in results["memory"].items()
    ]
    memory = Panel(curves, "positions on either side", "megabytes per step", x_scale="log2", y_scale="log2")
    figures = {
        "scaling-time": (panels, "Milliseconds of a training step against each size, both axes logarithmic."),
        "scaling-memory": ([memory], "Peak memory of a training step against length."),
    }
    for name, (figure_panels, _) in figures.items():
        drawn = draw_curves(figure_panels)
        for ending in ("png", "svg"):
            save(drawn, folder / f"{name}.{ending}")
    return [Figure(name, caption) for name, (_, caption) in figures.items()]
