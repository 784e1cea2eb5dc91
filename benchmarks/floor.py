"""The floor under an update: how many operations and bytes it cannot do without, and how long the bare products take.

In: a setting and a decoder. Out: `Product`s, from which operations and bytes follow by formula, and seconds of nothing
but those matrix products on this machine: all positions at once, and one position after another where a recurrence
has to. No gate, no tanh, no softmax, no loss, no optimizer: nobody can be quicker, and nobody can come so near.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from benchmarks.section import Section, Table
from benchmarks.settings import Setting

_PASSES = 3  # of each product: forward, gradient of the input, gradient of the matrix
_FLOAT = 4  # bytes
_ADAM = 7  # floats a weight: weight, gradient and two moments read, weight and moments written
_CLIP = 1  # the gradient is read once for its norm
_ENERGIES = 4  # passes over (B, Tx, a) a step: read forwards, read backwards, its gradient read and written
_SOFTMAX = 2  # logits read, their gradient written
WAYS = {
    "at once": (False, torch.float32),
    "stepped": (True, torch.float32),
    "stepped, bf16": (True, torch.bfloat16),
}
"""How bare products are timed: whether a recurrence's go one position after another, and in which precision."""


@dataclass(frozen=True)
class Product:
    """Rows times a matrix, at every position.

    Attributes:
        name: whose.
        rows: at a position: sentences.
        positions: how many.
        inner: what a row has.
        columns: what the result's row has.
        stepwise: whether a position needs the result of the one before.
        shared: whether the matrix is one for all rows; else each sentence has its own, as attention's values are.
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
        """How many weights the matrix has; none where it is data."""
        return self.inner * self.columns if self.shared else 0

    @property
    def bytes(self) -> int:
        """Rows in and rows out and the matrix, once for each of the three passes."""
        matrices = self.inner * self.columns * (1 if self.shared else self.rows)
        rows = self.rows * self.positions * (self.inner + self.columns)
        return _FLOAT * _PASSES * (rows + matrices)


def mean_lengths(setting: Setting) -> tuple[int, int]:
    """Tx and Ty of an average pair, end marks counted."""
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
    """Bytes an update moves at least, were nothing to stay in a cache from one product to the next.

    Args:
        setting: B, n, V.
        decoder: which.
        Tx: source positions.
        Ty: target positions.
        parameters: all weights of the model.
    """
    B, n, V = setting.batch, setting.decoder_size, setting.vocabulary
    return {
        "products": sum(product.bytes for product in products(setting, decoder, Tx, Ty)),
        "energies": _FLOAT * _ENERGIES * B * Ty * Tx * n,
        "softmax": _FLOAT * _SOFTMAX * B * Ty * V,
        "clipping and Adam": _FLOAT * (_ADAM + _CLIP) * parameters,
    }


def product_seconds(each: Sequence[Product], *, stepped: bool, dtype: torch.dtype, least: float) -> float:
    """How long products take, forwards and backwards.

    Args:
        each: which.
        stepped: whether those of a recurrence go one position after another; weights' gradients are made at once.
        dtype: of all numbers.
        least: for how many seconds to repeat.
    """
    calls = [_calls(product, stepped and product.stepwise, dtype) for product in each]

    def once() -> None:
        for call in calls:
            call()

    return repeated(once, least)


def _calls(product: Product, stepped: bool, dtype: torch.dtype) -> Callable[[], None]:
    B, T, k, c = product.rows, product.positions, product.inner, product.columns
    if not product.shared:
        return _batched(B, T, k, c, stepped, dtype)
    inputs, matrix, gradient = (torch.randn(shape, dtype=dtype) for shape in ((T, B, k), (k, c), (T, B, c)))
    flat_inputs, flat_gradient = inputs.flatten(0, 1), gradient.flatten(0, 1)

    def call() -> None:
        if stepped:
            for t in range(T):
                torch.mm(inputs[t], matrix)
            for t in range(T):
                torch.mm(gradient[t], matrix.T)
        else:
            torch.mm(flat_inputs, matrix)
            torch.mm(flat_gradient, matrix.T)
        torch.mm(flat_inputs.T, flat_gradient)

    return call


def _batched(B: int, T: int, k: int, c: int, stepped: bool, dtype: torch.dtype) -> Callable[[], None]:
    """Each sentence with a matrix of its own."""
    inputs, matrix, gradient = (
        torch.randn(shape, dtype=dtype) for shape in ((B, T, k), (B, k, c), (B, T, c))
    )
    turned: Tensor = matrix.transpose(1, 2)

    def call() -> None:
        for part in range(T) if stepped else [slice(None)]:
            at = slice(part, part + 1) if isinstance(part, int) else part
            torch.bmm(inputs[:, at], matrix)
            torch.bmm(gradient[:, at], turned)
        torch.bmm(inputs.transpose(1, 2), gradient)

    return call


def repeated(work: Callable[[], None], least: float) -> float:
    """The seconds of the quickest of several times, at least three and for at least so many seconds."""
    work()
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < least:
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def copied_per_second(least: float, size: int = 2**24) -> float:
    """Bytes a second that a copy too large for caches reads and writes."""
    source, target = torch.zeros(size), torch.empty(size)

    def copy() -> None:
        target.copy_(source)

    return 2 * _FLOAT * size / repeated(copy, least)


def floor_of(setting: dict[str, Any], decoder: str, parameters: int, least: float) -> dict[str, Any]:
    """Formulas and seconds of one model, for a process of its own."""
    chosen = Setting.from_json(setting)
    Tx, Ty = mean_lengths(chosen)
    each = products(chosen, decoder, Tx, Ty)
    tokens = chosen.batch * Ty
    seconds = {
        name: product_seconds(each, stepped=stepped, dtype=dtype, least=least)
        for name, (stepped, dtype) in WAYS.items()
    }
    return {
        "lengths": [Tx, Ty],
        "tokens": tokens,
        "operations": {product.name: product.operations for product in each},
        "bytes": traffic(chosen, decoder, Tx, Ty, parameters),
        "seconds": seconds,
        "tokens_per_second": {name: tokens / taken for name, taken in seconds.items()},
        "copied_per_second": copied_per_second(least),
    }


def floor_section(found: dict[str, dict[str, Any]]) -> Section:
    """The floors of several models, each under ``setting, decoder``."""
    rows = []
    for name, floor in found.items():
        operations, moved = sum(floor["operations"].values()), sum(floor["bytes"].values())
        rows.append(
            [
                name,
                " × ".join(str(length) for length in floor["lengths"]),
                f"{operations / 1e9:.1f}",
                f"{moved / 1e6:,.0f}",
                *(f"{1000 * seconds:,.0f}" for seconds in floor["seconds"].values()),
                f"{1000 * moved / floor['copied_per_second']:,.0f}",
                *(
                    f"{floor['tokens_per_second'][way]:,.0f}"
                    for way in ("at once", "stepped", "stepped, bf16")
                ),
            ]
        )
    columns = ["model", "Tx × Ty", "GFLOP", "MB", *(f"ms {way}" for way in WAYS), "ms to move"]
    return Section(
        "floor",
        "The floor",
        [
            "Operations and bytes of one update by formula, at the mean lengths and without padding, and the "
            "milliseconds its bare matrix products take on this machine: all positions at once, one position after "
            "another where the recurrence has to, and likewise in bfloat16. “To move” is the bytes at the speed of a "
            "large copy; much of them never leaves the caches.",
        ],
        [Table("Floors of an update.", [*columns, *(f"tokens/s {way}" for way in WAYS)], rows)],
        numbers=found,
    )
