"""The floor under a search: how long nothing but its matrix products take on this machine.

In: a setting and a demand. Out: sentences a second of the bare products: sources read once a sentence, every step of
the decoder once for each of its hypotheses, the output layer for all words. No gate, no tanh, no softmax, no choosing.
The products are torch's own: whoever has quicker ones, or computes with fewer bits or fewer words, can pass it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from benchmarks.demands import Demand
from benchmarks.floor import Product, products, repeated
from benchmarks.settings import Setting

PRECISIONS = {"float32": torch.float32, "bf16": torch.bfloat16}


def search_products(setting: Setting, demand: Demand) -> tuple[list[Product], list[Product]]:
    """The products of reading a batch, and those of its decoder, where every position waits for the one before.

    The end mark counts on both sides. A sentence's hypotheses attend to one and the same source.
    """
    sizes = replace(setting, batch=demand.batch)
    T = setting.output_words + 1
    each = products(sizes, "luong", T, T)
    reading = [product for product in each if product.name.startswith(("encoder", "keys"))]
    deciding = [
        replace(product, rows=demand.batch * demand.beam, stepwise=True)
        if product.shared
        else replace(product, stepwise=True)
        for product in each
        if product not in reading
    ]
    return reading, deciding


def _forward(product: Product, beam: int, dtype: torch.dtype) -> Callable[[], None]:
    """The product's results, position by position where it has to be; of a sentence's own matrix, for its beam."""
    rows, T, k, c = product.rows, product.positions, product.inner, product.columns
    times = T if product.stepwise else 1
    if product.shared:
        inputs, matrix = torch.randn(rows * T // times, k, dtype=dtype), torch.randn(k, c, dtype=dtype)
    else:
        inputs, matrix = torch.randn(rows, beam, k, dtype=dtype), torch.randn(rows, k, c, dtype=dtype)

    def call() -> None:
        for _ in range(times):
            torch.matmul(inputs, matrix)

    return call


def _seconds(setting: Setting, demand: Demand, dtype: torch.dtype, least: float) -> float:
    """Of a batch."""
    each = [product for part in search_products(setting, demand) for product in part]
    calls = [_forward(product, demand.beam, dtype) for product in each]

    def once() -> None:
        for call in calls:
            call()

    return repeated(once, least)


def floor_of(setting: dict[str, Any], demand: dict[str, Any], least: float) -> dict[str, Any]:
    """Sentences a second by precision, for a process of its own."""
    chosen, wanted = Setting.from_json(setting), Demand(**demand)
    speeds = {
        name: wanted.batch / _seconds(chosen, wanted, dtype, least) for name, dtype in PRECISIONS.items()
    }
    return {"sentences_per_second": speeds}
