"""A fixed vector costs O(l₁ + l₂), attention O(l₁ l₂).

Two small translators that differ only in attention do a forward and a backward pass over sentences of growing lengths,
by the naive paths and by the fused ones; so do two language models, a GRU and an LSTMN. Operations and bytes are
counted, which is the same on every machine, and processor time is measured, which is not. What decides: the exponents
of the counts, and the share of the time that attention adds.
"""

import gc
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from regard.batches import PairBatch
from regard.config import Config
from regard.lab.measures.statistics import Parts, fit_parts, fitted_exponent
from regard.lab.runner import (
    Bench,
    CaptionedFigure,
    Check,
    Experiment,
    Finding,
    Table,
    Verdict,
    read_registration,
)
from regard.models import LanguageModelConfig, LanguageModelNetwork, ModelConfig, Seq2Seq
from regard.ops.native import native_off
from regard.ops.paths import naive_only
from regard.plots.figures.curves import Curve, Panel, draw_curves
from regard.tasks.base import sequence_loss

FIXED, ATTENTION, GRU, LSTMN = "fixed vector", "attention", "GRU", "LSTMN"
"""Two translators and two language models."""
NAIVE, FUSED = "naive", "fused"
VOCABULARY = 50
QUANTITIES = ("operations", "bytes", "seconds")
_AXES = {
    "operations": ("Operations, counted", "operations"),
    "seconds": ("Time, one thread", "seconds"),
    "bytes": ("Memory kept, counted", "bytes"),
}


@dataclass(frozen=True)
class ModelPath:
    """A model and the path, naive or fused, by which it computes."""

    model: str
    path: str

    @property
    def name(self) -> str:
        """The key in the numbers."""
        return f"{self.model}, {self.path}"


TRANSLATORS = [ModelPath(model, path) for path in (FUSED, NAIVE) for model in (FIXED, ATTENTION)]
READERS = [ModelPath(GRU, FUSED), ModelPath(LSTMN, FUSED)]
"""The LSTMN, and a cell without attention; torch's LSTM would count as a single operation."""


@dataclass(frozen=True)
class CostSizes(Config):
    """The size of the experiment.

    Attributes:
        lengths: l₁ = l₂ of the fused paths, doubling.
        naive_lengths: of the naive paths, which make a call for every pair of words.
        grid: lengths that are combined, l₁ with l₂, for the parts of the cost.
        repeats: of every timing; the median counts.
        size: units of embeddings, of encoder states per direction, of the energies and of the readout.
        rows: pairs in a batch.
    """

    lengths: tuple[int, ...]
    naive_lengths: tuple[int, ...]
    grid: tuple[int, ...]
    repeats: int
    size: int
    rows: int


REGISTERED = read_registration(__file__, CostSizes.from_mapping)
BOUNDS = REGISTERED.bounds


def measure(bench: Bench, sizes: CostSizes) -> Finding:
    """Count, time and fit."""
    numbers: dict[str, Any] = {
        "seed": bench.seed,
        "repeats": sizes.repeats,
        "size": sizes.size,
        "squares": _equal_lengths(bench, sizes),
        "parts": _grid_of_lengths(bench, sizes),
    }
    return Finding(
        numbers, verdict(numbers), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def _equal_lengths(bench: Bench, sizes: CostSizes) -> dict[str, Any]:
    """Every model and path at l₁ = l₂."""
    lengths = {
        each: sizes.naive_lengths if each.path == NAIVE else sizes.lengths
        for each in (*TRANSLATORS, *READERS)
    }
    costs = _measure_costs(bench, sizes, {each: [(n, n) for n in lengths[each]] for each in lengths})
    for each, row in costs.items():
        row["lengths"] = list(lengths[each])
        row["exponents"] = {what: fitted_exponent(row["lengths"], row[what]) for what in QUANTITIES}
    return {each.name: row for each, row in costs.items()}


def _grid_of_lengths(bench: Bench, sizes: CostSizes) -> dict[str, Any]:
    """Both fused translators at lengths that differ: the cost per source word, target word and pair of them."""
    pairs = [(l1, l2) for l1 in sizes.grid for l2 in sizes.grid]
    costs = _measure_costs(bench, sizes, {ModelPath(name, FUSED): pairs for name in (FIXED, ATTENTION)})
    for row in costs.values():
        row["lengths"] = [list(pair) for pair in pairs]
        row["parts"] = {what: asdict(fit_parts(pairs, row[what])) for what in QUANTITIES}
    return {each.model: row for each, row in costs.items()}


def _measure_costs(
    bench: Bench, sizes: CostSizes, lengths: Mapping[ModelPath, Sequence[tuple[int, int]]]
) -> dict[ModelPath, dict[str, Any]]:
    """Operations and bytes, counted once; seconds, the median of several rounds through all models and lengths."""
    costs: dict[ModelPath, dict[str, Any]] = {}
    points: dict[tuple[ModelPath, tuple[int, int]], Callable[[], Tensor]] = {}
    for each, pairs in lengths.items():
        bench.report(f"counting: {each.name}")
        model, loss = build_loss(each, size=sizes.size, rows=sizes.rows, seed=bench.seed)
        computes = [partial(loss, *pair) for pair in pairs]
        counts = [count_work(compute, model.parameters()) for compute in computes]
        costs[each] = {
            "operations": [count.operations for count in counts],
            "bytes": [count.bytes for count in counts],
        }
        points |= {(each, pair): compute for pair, compute in zip(pairs, computes, strict=True)}
    gc.collect()
    rounds = []
    for k in range(sizes.repeats):
        bench.report(f"timing, round {k + 1} of {sizes.repeats}")
        rounds.append({point: processor_seconds(compute) for point, compute in points.items()})
    for each, pairs in lengths.items():
        costs[each]["seconds"] = [median(seconds[each, pair] for seconds in rounds) for pair in pairs]
    return costs


def build_loss(
    model_path: ModelPath, *, size: int, rows: int, seed: int
) -> tuple[nn.Module, Callable[[int, int], Tensor]]:
    """A model, and its loss on a random batch of source length l₁ and target length l₂, without padding.

    Args:
        model_path: which model, by which path; a language model ignores l₁.
        size: units of embeddings, of encoder states per direction, of the energies and of the readout.
        rows: pairs in a batch.
        seed: of the weights and the words.
    """
    model = _build_model(model_path.model, size, seed)

    def loss(l1: int, l2: int) -> Tensor:
        batch = _random_batch(rows, l1, l2, seed)
        with naive_only() if model_path.path == NAIVE else nullcontext():
            if isinstance(model, LanguageModelNetwork):
                logits = model(batch.previous_ids, batch.target_mask).logits
            else:
                logits = model(batch).logits
            return sequence_loss(logits, batch.target_ids.flatten())

    return model, loss


def _build_model(name: str, n: int, seed: int) -> Seq2Seq | LanguageModelNetwork:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if name in (GRU, LSTMN):
            config = LanguageModelConfig(cell=name.lower(), embedding_size=n, state_size=n)
            return LanguageModelNetwork(config, VOCABULARY)
        part = {"cell": "gru", "embedding_size": n}
        decoder: dict[str, Any] = {**part, "state_size": 2 * n, "readout_size": n}
        if name == ATTENTION:
            decoder |= {"kind": "bahdanau", "attention": {"energy": "additive", "size": n}}
        else:
            decoder |= {"kind": "cho"}
        mapping = {"encoder": {**part, "state_size": n}, "decoder": decoder}
        return Seq2Seq(ModelConfig.from_mapping(mapping, "model"), VOCABULARY, VOCABULARY)


def _random_batch(rows: int, l1: int, l2: int, seed: int) -> PairBatch:
    generator = torch.Generator().manual_seed(seed)
    source, previous, target = (
        torch.randint(VOCABULARY, (rows, length), generator=generator) for length in (l1, l2, l2)
    )
    return PairBatch(
        source, torch.ones(source.shape).bool(), previous, target, torch.ones(target.shape).bool()
    )


_LEFT_FACTOR = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}
"""Products, by name: which argument is the left factor; each element of the result is a sum over its last axis."""
_FREE = ("empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "lift_fresh")


class _OperationCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds up multiply-adds of products, and elements written by everything else; views are free."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__.removesuffix("_")
        if name in _FREE or func.is_view:
            return result
        outputs = result if isinstance(result, list | tuple) else [result]
        written = sum(output.numel() for output in outputs if isinstance(output, Tensor))
        self.operations += written * (args[_LEFT_FACTOR[name]].shape[-1] if name in _LEFT_FACTOR else 1)
        return result


@dataclass(frozen=True)
class Work:
    """The cost of a forward and a backward pass, counted; it does not depend on the machine.

    Attributes:
        operations: multiply-adds of products, and elements written by everything else.
        bytes: what the forward pass saves for the backward pass, each storage once, without parameters, whose size does
            not depend on the length of the sentences.
    """

    operations: int
    bytes: int


def count_work(compute: Callable[[], Tensor], parameters: Iterable[Tensor]) -> Work:
    """Count a forward and a backward pass.

    torch's own kernels for whole recurrences would count as one operation, so the C kernels are off.

    Args:
        compute: returns the loss.
        parameters: of the model; their gradients are cleared first, since adding to one is work.
    """
    known = set()
    for parameter in parameters:
        parameter.grad = None
        known.add(parameter.untyped_storage().data_ptr())
    saved: dict[int, torch.UntypedStorage] = {}  # kept alive, so that no address is used twice

    def save(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = storage
        return tensor

    with native_off(), _OperationCounter() as counter:
        with torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor):
            loss = compute()
        loss.backward()  # type: ignore[no-untyped-call]
    num_bytes = sum(storage.nbytes() for address, storage in saved.items() if address not in known)
    return Work(counter.operations, num_bytes)


def processor_seconds(compute: Callable[[], Tensor]) -> float:
    """Processor seconds of a forward and a backward pass; waiting is not counted."""
    started = time.process_time()
    compute().backward()  # type: ignore[no-untyped-call]
    return time.process_time() - started


def added_exponent(squares: Mapping[str, Any], larger: ModelPath, smaller: ModelPath, what: str) -> float:
    """The exponent of the difference between two costs."""
    more, less = squares[larger.name], squares[smaller.name]
    return fitted_exponent(more["lengths"], [a - b for a, b in zip(more[what], less[what], strict=True)])


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Exponents and a share of the time against their bounds; see `EXPERIMENT.decides`."""
    squares = numbers["squares"]
    fixed, attention = (squares[ModelPath(name, FUSED).name] for name in (FIXED, ATTENTION))
    longest = max(fixed["lengths"])
    share = 1 - fixed["seconds"][-1] / attention["seconds"][-1]
    added = added_exponent(squares, ModelPath(ATTENTION, FUSED), ModelPath(FIXED, FUSED), "operations")
    added_bytes = added_exponent(squares, ModelPath(ATTENTION, NAIVE), ModelPath(FIXED, NAIVE), "bytes")
    added_by_lstmn = added_exponent(squares, READERS[1], READERS[0], "operations")
    checks = [
        # controls: a loop over words is linear, whatever attention costs
        Check(
            "exponent of operations, fixed vector",
            fixed["exponents"]["operations"],
            "at most",
            BOUNDS["linear"],
            control=True,
        ),
        Check(
            "exponent of bytes kept, fixed vector",
            fixed["exponents"]["bytes"],
            "at most",
            BOUNDS["linear"],
            control=True,
        ),
        Check("exponent of the operations attention adds", added, "at least", BOUNDS["quadratic"]),
        Check(
            "exponent of the bytes attention adds, as the equation is written",
            added_bytes,
            "at least",
            BOUNDS["quadratic"],
        ),
        Check(
            "exponent of the operations the LSTMN adds to a GRU’s",
            added_by_lstmn,
            "at least",
            BOUNDS["quadratic"],
        ),
        Check(
            f"share of the time at {longest} × {longest} words that attention adds",
            100 * share,
            "at least",
            BOUNDS["share"],
            " %",
        ),
    ]
    middle, slope = fixed["lengths"][len(fixed["lengths"]) // 2], attention["exponents"]["seconds"]
    because = (
        f"Counted, the fixed vector’s work grows with the length to the power {fixed['exponents']['operations']:.2f}, "
        f"and what attention adds to it to the power {added:.2f}. In time the whole model grows between {middle} and "
        f"{longest} words with the power {slope:.2f} with attention and {fixed['exponents']['seconds']:.2f} without; "
        f"at {longest} words on both sides attention adds {100 * share:.0f} % of the time."
    )
    return Verdict(checks, because)


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """Cost against length, of the translators and of the language models."""
    squares = numbers["squares"]
    readers = [reader.name for reader in READERS]
    translators = [name for name in squares if name not in readers]
    return [
        CaptionedFigure(
            "translators",
            "A training step of two translators against the length of both sentences, both axes logarithmic; the "
            "exponents are in the table. A line of slope 1 doubles with the length, one of slope 2 goes up fourfold; "
            "where attention bends upwards, it is going from the one to the other.",
            draw_curves(
                [_panel(squares, translators, what, "words in source and in target") for what in _AXES]
            ),
        ),
        CaptionedFigure(
            "readers",
            "The same for a language model with a GRU and with an LSTMN, which attends to all it has read, against "
            "the length of the line.",
            draw_curves([_panel(squares, readers, what, "words in the line") for what in _AXES]),
        ),
    ]


def _panel(squares: Mapping[str, Any], names: list[str], what: str, x_label: str) -> Panel:
    title, y_label = _AXES[what]
    curves = [Curve(name, squares[name]["lengths"], squares[name][what]) for name in names]
    return Panel(curves, x_label, y_label, title=title, x_scale="log2", y_scale="log")


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """Exponents, and the cost per word and per pair of words."""
    exponents = [
        [name, f"{row['lengths'][len(row['lengths']) // 2]} to {row['lengths'][-1]}"]
        + [f"{row['exponents'][what]:.2f}" for what in _AXES]
        for name, row in numbers["squares"].items()
    ]
    parts = []
    for name, row in numbers["parts"].items():
        for what, form in (("operations", "{:,.0f}"), ("bytes", "{:,.0f}"), ("seconds", "{:.1e}")):
            fitted = row["parts"][what]
            parts.append(
                [f"{name}: {what}", *(form.format(fitted[key]) for key in ("source", "target", "pair"))]
            )
    return [
        Table(
            "The exponent p of cost ∝ length^p, fitted over the lengths in the second column.",
            ["model and path", "lengths", "operations", "time", "bytes"],
            exponents,
        ),
        Table(
            "The cost per source word, per target word and per pair of them, fused paths, fitted over lengths "
            "that differ.",
            ["model", "source word", "target word", "pair"],
            parts,
        ),
    ]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """From which lengths on pairs outweigh words, and what the paths themselves cost."""
    squares, fitted = numbers["squares"], numbers["parts"][ATTENTION]["parts"]
    even = {what: _break_even(Parts(**fitted[what])) for what in _AXES}
    fused, naive, loop = (
        squares[ModelPath(*each).name] for each in ((ATTENTION, FUSED), (ATTENTION, NAIVE), (FIXED, NAIVE))
    )
    slopes = fused["exponents"]
    below = max(slopes["operations"], slopes["seconds"]) < 2
    remarks = [
        f"The whole model’s exponent is {slopes['operations']:.2f} in operations and {slopes['seconds']:.2f} in time"
        + (", below 2, since single words have a cost besides pairs of them" if below else "")
        + f". By the fit in the table, pairs take as many operations as single words {even['operations']}, and as much "
        f"time {even['seconds']}. A step of a recurrence is many small calls, each with its own fixed cost, which is "
        "why words may weigh more in time than in counts.",
        "Written as the equation is, one energy at a time, every pair has that fixed cost too: the exponent of the "
        f"time is {naive['exponents']['seconds']:.2f} at no more than {naive['lengths'][-1]} words. The fused path "
        "computes all energies of a step in one call, and recomputes the tanh of the energies instead of keeping it; "
        f"by the fit, pairs then take as much memory as words {even['bytes']}.",
    ]
    if loop["exponents"]["operations"] > 1.05:
        remarks.append(
            f"The naive fixed vector’s operations grow with the power {loop['exponents']['operations']:.2f}, a little "
            "above 1: each step takes its slice of the inputs, and the gradient of a slice comes back as a whole "
            "sequence of zeros around it. That is a cost of the loop, not of the model."
        )
    return [
        *remarks,
        "The lectures’ O(l₁ l₂) is the whole model’s only in the limit; O(l₁ + l₂ + l₁ l₂) says what happens before.",
        "The share of the time that attention adds depends on the batch, since calls have a fixed cost. A first trial "
        "had two pairs in a batch; eight were chosen after it, closer to usual training, which makes that check easier "
        "to pass.",
    ]


def _break_even(parts: Parts) -> str:
    """The length from which on pairs of words cost as much as single words."""
    length = (parts.source + parts.target) / parts.pair if parts.pair else math.inf
    return f"from {length:,.0f} words on each side" if math.isfinite(length) else "at no length"


EXPERIMENT = Experiment(
    name="cost",
    title="What attention costs",
    claim="Standard seq2seq takes time O(l₁ + l₂) for a source of l₁ and a target of l₂ words; with attention it takes "
    "O(l₁ l₂).",
    source="“Seq2Seq Model with Attention”: “Downside: higher time complexity”",
    method="RNNencdec and RNNsearch of 16 units, the same except for attention, do a training step’s forward and "
    "backward pass on batches of eight pairs without padding, l₁ = l₂ doubling, by the naive and the fused paths; a "
    "GRU and an LSTMN read lines in the same way. Operations (multiply-adds of products, elements written by anything "
    "else) and the bytes kept for the backward pass are counted; processor time on one thread is the median of "
    "interleaved rounds. Exponents are slopes of log against log over the longer half of the lengths. On a grid of l₁ "
    "and l₂ the cost is split into a constant and the costs per source word, per target word and per pair of words, "
    "none below 0.",
    decides="Counts decide, because they are the same on every machine and for every seed: an exponent of "
    f"{BOUNDS['linear']:g} at most is linear, one of {BOUNDS['quadratic']:g} at least is quadratic with some linear "
    "work; that the fixed vector is linear is a control. Of the time only this: at the longest lengths attention must "
    f"add at least {BOUNDS['share']:.0f} % of the time measured, so that attention costs as much as everything else. "
    "This check depends on the machine.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=60,
    alone=True,
)
