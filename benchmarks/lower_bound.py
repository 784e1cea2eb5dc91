"""Lower bounds on the time of an update and of a search: their matrix products alone.

In: a setting with a decoder, or with a search case. Out: `Product`s, from which operations and bytes follow by formula,
and the time that torch takes for those products on this machine: all positions at once, or one position after another
where a recurrence requires it. Gates, tanh, softmax, loss, optimizer and the choice of words are left out, so that only
an implementation with faster matrix products, fewer bits or a smaller output layer can be faster.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from benchmarks.report import Section, Table
from benchmarks.search_cases import SearchCase
from benchmarks.settings import Setting

_PASSES = 3  # of each product: forward, gradient of the input, gradient of the matrix
_FLOAT = 4  # bytes
_ADAM = 7  # floats per weight: weight, gradient and two moments read, weight and moments written
_CLIP = 1  # the gradient is read once for its norm
_ENERGIES = 4  # passes over (B, Tx, a) per step: read forwards, read backwards, its gradient read and written
_SOFTMAX = 2  # logits read, their gradient written
WAYS = {
    "at once": (False, torch.float32),
    "stepwise": (True, torch.float32),
    "stepwise, bf16": (True, torch.bfloat16),
}
"""How products are timed: whether those of a recurrence run one position after another, and the precision."""


@dataclass(frozen=True)
class Product:
    """Rows times a matrix, at every position.

    Attributes:
        name: of the part of the model.
        rows: per position: sentences.
        positions: the number of positions.
        inner: the size of a row.
        columns: the size of a row of the result.
        stepwise: whether a position needs the result of the previous one.
        shared: whether all rows have one matrix; otherwise each sentence has its own, as the values of attention.
    """

    name: str
    rows: int
    positions: int
    inner: int
    columns: int
    stepwise: bool = False
    shared: bool = True

    @property
    def operations(self) -> int:
        """Multiplications and additions, forwards and backwards."""
        return 2 * _PASSES * self.rows * self.positions * self.inner * self.columns

    @property
    def weights(self) -> int:
        """The number of weights of the matrix; 0 where it is data."""
        return self.inner * self.columns if self.shared else 0

    @property
    def bytes(self) -> int:
        """Input rows, output rows and the matrix, for each of the three passes."""
        matrices = self.inner * self.columns * (1 if self.shared else self.rows)
        rows = self.rows * self.positions * (self.inner + self.columns)
        return _FLOAT * _PASSES * (rows + matrices)


def mean_lengths(setting: Setting) -> tuple[int, int]:
    """Tx and Ty of an average pair, with end symbols."""
    train, _ = setting.corpus.pairs()
    means = (sum(len(pair[side].split()) for pair in train) / len(train) for side in (0, 1))
    source, target = (round(mean) + 1 for mean in means)
    return source, target


def products(setting: Setting, decoder: str, Tx: int, Ty: int) -> list[Product]:
    """All matrix products of an update.

    Args:
        setting: B, m, n, V.
        decoder: ``luong`` or ``bahdanau``.
        Tx: source positions.
        Ty: target positions.
    """
    B, m, V = setting.batch, setting.embedding_size, setting.vocabulary
    h, n = setting.encoder_size, setting.decoder_size
    reading = [
        Product("encoder, input", B, Tx, m, 8 * h),
        Product("encoder, recurrence forwards", B, Tx, h, 4 * h, stepwise=True),
        Product("encoder, recurrence backwards", B, Tx, h, 4 * h, stepwise=True),
        Product("keys", B, Tx, n, n),
    ]
    attending = [
        Product("decoder, input", B, Ty, m, 4 * n),
        Product("decoder, recurrence", B, Ty, 2 * n, 4 * n, stepwise=True),  # the state, and h̃ or the context
        Product("query", B, Ty, n, n, stepwise=True),
        Product("context", B, Ty, Tx, n, stepwise=True, shared=False),
    ]
    if decoder == "luong":
        readout = [Product("attentional state", B, Ty, 2 * n, n, stepwise=True)]
    else:
        readout = [Product("first state", B, 1, h, n), Product("readout", B, Ty, 2 * n + m, 2 * n)]
    return [*reading, *attending, *readout, Product("output", B, Ty, n, V)]


def traffic(setting: Setting, decoder: str, Tx: int, Ty: int, parameters: int) -> dict[str, int]:
    """The bytes that an update moves if nothing stays in a cache from one product to the next.

    Args:
        setting: B, n, V.
        decoder: ``luong`` or ``bahdanau``.
        Tx: source positions.
        Ty: target positions.
        parameters: the number of the model's weights.
    """
    B, n, V = setting.batch, setting.decoder_size, setting.vocabulary
    return {
        "products": sum(product.bytes for product in products(setting, decoder, Tx, Ty)),
        "energies": _FLOAT * _ENERGIES * B * Ty * Tx * n,
        "softmax": _FLOAT * _SOFTMAX * B * Ty * V,
        "clipping and Adam": _FLOAT * (_ADAM + _CLIP) * parameters,
    }


def product_seconds(
    parts: Sequence[Product], *, stepwise: bool, dtype: torch.dtype, min_seconds: float
) -> float:
    """The time of products, forward and backward.

    Args:
        parts: the products.
        stepwise: whether those of a recurrence run one position after another; the gradients of weights do not.
        dtype: of all numbers.
        min_seconds: how long to repeat.
    """
    calls = [_training_call(product, stepwise and product.stepwise, dtype) for product in parts]

    def once() -> None:
        for call in calls:
            call()

    return fastest_time(once, min_seconds)


def _training_call(product: Product, stepwise: bool, dtype: torch.dtype) -> Callable[[], None]:
    B, T, k, c = product.rows, product.positions, product.inner, product.columns
    if not product.shared:
        return _batched_call(B, T, k, c, stepwise, dtype)
    inputs, matrix, gradient = (torch.randn(shape, dtype=dtype) for shape in ((T, B, k), (k, c), (T, B, c)))
    flat_inputs, flat_gradient = inputs.flatten(0, 1), gradient.flatten(0, 1)

    def call() -> None:
        if stepwise:
            for t in range(T):
                torch.mm(inputs[t], matrix)
            for t in range(T):
                torch.mm(gradient[t], matrix.T)
        else:
            torch.mm(flat_inputs, matrix)
            torch.mm(flat_gradient, matrix.T)
        torch.mm(flat_inputs.T, flat_gradient)

    return call


def _batched_call(B: int, T: int, k: int, c: int, stepwise: bool, dtype: torch.dtype) -> Callable[[], None]:
    """The product where each sentence has its own matrix."""
    inputs, matrix, gradient = (
        torch.randn(shape, dtype=dtype) for shape in ((B, T, k), (B, k, c), (B, T, c))
    )
    transposed: Tensor = matrix.transpose(1, 2)

    def call() -> None:
        for positions in [slice(t, t + 1) for t in range(T)] if stepwise else [slice(None)]:
            torch.bmm(inputs[:, positions], matrix)
            torch.bmm(gradient[:, positions], transposed)
        torch.bmm(inputs.transpose(1, 2), gradient)

    return call


def fastest_time(work: Callable[[], None], min_seconds: float) -> float:
    """The minimum time of several repetitions: at least three, and for at least `min_seconds`."""
    work()
    times: list[float] = []
    while len(times) < 3 or sum(times) < min_seconds:
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def copied_per_second(min_seconds: float, size: int = 2**24) -> float:
    """Bytes per second that a copy too large for caches reads and writes."""
    source, target = torch.zeros(size), torch.empty(size)

    def copy() -> None:
        target.copy_(source)

    return 2 * _FLOAT * size / fastest_time(copy, min_seconds)


def measure_training(
    setting: dict[str, Any], decoder: str, parameters: int, min_seconds: float
) -> dict[str, Any]:
    """Operations, bytes and seconds of an update of one model, in this process."""
    chosen = Setting.from_json(setting)
    Tx, Ty = mean_lengths(chosen)
    parts = products(chosen, decoder, Tx, Ty)
    tokens = chosen.batch * Ty
    seconds = {
        name: product_seconds(parts, stepwise=stepwise, dtype=dtype, min_seconds=min_seconds)
        for name, (stepwise, dtype) in WAYS.items()
    }
    return {
        "lengths": [Tx, Ty],
        "tokens": tokens,
        "operations": {product.name: product.operations for product in parts},
        "bytes": traffic(chosen, decoder, Tx, Ty, parameters),
        "seconds": seconds,
        "tokens_per_second": {name: tokens / duration for name, duration in seconds.items()},
        "copied_per_second": copied_per_second(min_seconds),
    }


def lower_bound_section(bounds: dict[str, dict[str, Any]]) -> Section:
    """The bounds of several models, each under ``setting, decoder``."""
    rows = []
    for name, bound in bounds.items():
        operations, moved = sum(bound["operations"].values()), sum(bound["bytes"].values())
        rows.append(
            [
                name,
                " × ".join(str(length) for length in bound["lengths"]),
                f"{operations / 1e9:.1f}",
                f"{moved / 1e6:,.0f}",
                *(f"{1000 * seconds:,.0f}" for seconds in bound["seconds"].values()),
                f"{1000 * moved / bound['copied_per_second']:,.0f}",
                *(f"{bound['tokens_per_second'][way]:,.0f}" for way in WAYS),
            ]
        )
    columns = ["model", "Tx × Ty", "GFLOP", "MB", *(f"ms {way}" for way in WAYS), "ms to move"]
    return Section(
        "lower-bound",
        "Lower bound",
        [
            "Operations and bytes of one update by formula, at the mean lengths and without padding, and the "
            "milliseconds that its matrix products alone take on this machine: all positions at once, one position "
            "after another where the recurrence requires it, and the same in bfloat16. “To move” is the time of moving "
            "the bytes at the speed of a large copy; many of them never leave the caches.",
        ],
        [Table("Lower bounds of an update.", [*columns, *(f"tokens/s {way}" for way in WAYS)], rows)],
        numbers=bounds,
    )


PRECISIONS = {"float32": torch.float32, "bf16": torch.bfloat16}


def search_products(setting: Setting, case: SearchCase) -> tuple[list[Product], list[Product]]:
    """The products of encoding a batch, and those of decoding it, position by position.

    Both sides have an end symbol. The hypotheses of a sentence share its annotations.
    """
    sizes = replace(setting, batch=case.batch)
    T = setting.output_words + 1
    parts = products(sizes, "luong", T, T)
    encoding = [product for product in parts if product.name.startswith(("encoder", "keys"))]
    decoding = [
        replace(product, rows=case.batch * case.beam, stepwise=True)
        if product.shared
        else replace(product, stepwise=True)
        for product in parts
        if product not in encoding
    ]
    return encoding, decoding


def _search_call(product: Product, beam: int, dtype: torch.dtype) -> Callable[[], None]:
    """The forward product, position by position where required; with a matrix per sentence, for its whole beam."""
    rows, T, k, c = product.rows, product.positions, product.inner, product.columns
    steps = T if product.stepwise else 1
    if product.shared:
        inputs, matrix = torch.randn(rows * T // steps, k, dtype=dtype), torch.randn(k, c, dtype=dtype)
    else:
        inputs, matrix = torch.randn(rows, beam, k, dtype=dtype), torch.randn(rows, k, c, dtype=dtype)

    def call() -> None:
        for _ in range(steps):
            torch.matmul(inputs, matrix)

    return call


def _search_seconds(setting: Setting, case: SearchCase, dtype: torch.dtype, min_seconds: float) -> float:
    """The time of the products of one batch."""
    encoding, decoding = search_products(setting, case)
    calls = [_search_call(product, case.beam, dtype) for product in (*encoding, *decoding)]

    def once() -> None:
        for call in calls:
            call()

    return fastest_time(once, min_seconds)


def measure_search(setting: dict[str, Any], case: dict[str, Any], min_seconds: float) -> dict[str, Any]:
    """Sentences per second by precision, in this process."""
    chosen, search_case = Setting.from_json(setting), SearchCase(**case)
    speeds = {
        name: search_case.batch / _search_seconds(chosen, search_case, dtype, min_seconds)
        for name, dtype in PRECISIONS.items()
    }
    return {"sentences_per_second": speeds}
