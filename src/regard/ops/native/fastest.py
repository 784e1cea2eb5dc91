"""Which kernel multiplies large matrices fastest here: measured once, and kept beside the compiled kernels.

Processors differ: one multiplies bfloat16 twice as fast as float32 by our kernel, one does so only in its matrix unit,
which torch reaches through oneDNN, and one not at all. So nothing is decided by a processor's name. Our kernel computes
a row of a product alike whatever stands beside it; a product that needs that is `product`. `large_product` is for the
others, those of training, and takes whichever is fastest.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from regard.errors import RegardError
from regard.io import parse_json, read_whole, write_whole_text
from regard.ops.native.call import empty, kernels
from regard.ops.native.library import load
from regard.ops.native.packed import Packed
from regard.ops.native.product import product
from regard.ops.shapes import Float

Kernel = Literal["C", "torch"]
Times = Mapping[str, float]
"""Seconds of one product, by a name such as ``torch bfloat16``; ``C steps bfloat16`` is that of a step of a recurrence.
What this processor does not have is left out."""

_LARGE = 1 << 20  # multiplications; with fewer, the choice does not matter
_CLEARLY = 0.8  # of our kernel's time
_ROUNDS = 7
_MAX_BYTES = 1 << 16


@dataclass(frozen=True)
class Fastest:
    """What is fastest here.

    Attributes:
        float32: the kernel of products in float32.
        bfloat16: that of products whose factors may be rounded to bfloat16.
        rounds: whether rounding them is faster than not to.
        rounds_steps: the same in the steps of a recurrence, which are always our kernel's.
    """

    float32: Kernel = "C"
    bfloat16: Kernel = "C"
    rounds: bool = True
    rounds_steps: bool = True


def choose(times: Times) -> Fastest:
    """Another kernel than ours has to be clearly faster; bfloat16 has to be faster than float32."""

    def kernel(name: str) -> Kernel:
        ours = times.get(f"C {name}", float("inf"))
        return "torch" if times[f"torch {name}"] < _CLEARLY * ours else "C"

    wide, narrow = kernel("float32"), kernel("bfloat16")
    rounds = times[f"{narrow} bfloat16"] < times[f"{wide} float32"]
    steps = times.get("C steps bfloat16", float("inf")) < times["C steps float32"]
    return Fastest(wide, narrow if rounds else wide, rounds, steps)


def fastest() -> Fastest:
    """What is fastest with the threads that this process uses.

    ``REGARD_PRODUCTS=C`` in the environment says to take our kernel without measuring.
    """
    if os.environ.get("REGARD_PRODUCTS") == "C":
        narrow = bool(kernels().regard_narrow())
        return Fastest(rounds=narrow, rounds_steps=narrow)
    return _with_threads(torch.get_num_threads())


@cache
def _with_threads(threads: int) -> Fastest:
    return choose(times_of(threads))


def describe_products() -> str:
    """What computes the large products of training on the CPU, in words."""
    if load().library is None:
        return "torch"
    if os.environ.get("REGARD_PRODUCTS") == "C":
        return "C (REGARD_PRODUCTS=C)"
    threads = torch.get_num_threads()
    times = times_of(threads)
    best = choose(times)
    kinds = {"float32": best.float32, "bfloat16": best.bfloat16 if best.rounds else "the one for float32"}

    def milliseconds(name: str) -> str:
        both = (
            f"{each} {1000 * times[key]:.2g}" for each in ("C", "torch") if (key := f"{each} {name}") in times
        )
        return ", ".join(both)

    said = (f"{name} by {kernel} ({milliseconds(name)} ms)" for name, kernel in kinds.items())
    return f"{'; '.join(said)}; {threads} thread{'s'[: threads > 1]}"


@cache
def times_of(threads: int) -> Times:
    """The times with a number of threads: those stored, or measured now, which takes a tenth of a second."""
    library = load().path
    assert library is not None, "no kernels: call native_applies first"
    path = library.with_name(f"{library.stem}-{torch.__version__}-{threads}.json")
    if stored := _read(path):
        return stored
    measured = measure()
    with suppress(OSError, RegardError):  # the next process measures again
        write_whole_text(path, json.dumps(measured) + "\n")
    return measured


def measure() -> Times:
    """Time every kernel, in turns, so that a neighbour of this process slows all of them alike; the least of each."""
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(size, 512, generator=generator) for size in (256, 1024))
    states, U = (torch.randn(size, 512, generator=generator) for size in (16, 1024))
    contenders: dict[str, Callable[[], object]] = {
        "C float32": lambda: product(left, right.T),
        "torch float32": lambda: _by_torch(left, right.T, False),
        "torch bfloat16": lambda: _by_torch(left, right.T, True),
    }
    precisions: list[Literal["float32", "bfloat16"]] = ["float32"]
    if kernels().regard_narrow():
        contenders["C bfloat16"] = lambda: product(left, right.T, narrow=True)
        precisions.append("bfloat16")
    packed = {f"C steps {precision}": Packed(U, precision) for precision in precisions}
    contenders |= {name: lambda each=each: each.product(states) for name, each in packed.items()}  # type: ignore[misc]
    least = dict.fromkeys(contenders, float("inf"))
    for _ in range(_ROUNDS):
        for name, run in contenders.items():
            started = time.perf_counter()
            run()
            least[name] = min(least[name], time.perf_counter() - started)
    return least


def large_product(
    left: Float[Tensor, "M K"],
    right: Float[Tensor, "K N"],
    bias: Float[Tensor, "N"] | None = None,
    *,
    narrow: bool = False,
    into: Float[Tensor, "M N"] | None = None,
    add: bool = False,
) -> Float[Tensor, "M N"]:
    """As `product`, by the fastest kernel; `narrow` allows to round the factors, and the product with them."""
    (rows, inner), columns = left.shape, right.shape[1]
    if rows * inner * columns < _LARGE:
        return product(left, right, bias, narrow=narrow, into=into, add=add)
    best = fastest()
    narrow = narrow and best.rounds
    if (best.bfloat16 if narrow else best.float32) == "C":
        return product(left, right, bias, narrow=narrow, into=into, add=add)
    out = empty(rows, columns) if into is None else into
    made = _by_torch(left, right, narrow)
    if bias is not None:
        made += bias
    return out.add_(made) if add else out.copy_(made)


def _by_torch(left: Tensor, right: Tensor, narrow: bool) -> Tensor:
    with torch.autocast("cpu", enabled=False):
        return (left.bfloat16() @ right.bfloat16()).float() if narrow else left @ right


def _read(path: Path) -> Times | None:
    """What was stored; None where there is nothing, or nothing that makes sense."""
    with suppress(OSError, ValueError, RegardError, AttributeError, TypeError):
        times = {
            str(name): float(seconds) for name, seconds in parse_json(read_whole(path, _MAX_BYTES)).items()
        }
        needed = {"C float32", "torch float32", "torch bfloat16", "C steps float32"}
        if needed <= times.keys() and all(0 < seconds < 60 for seconds in times.values()):
            return times
    return None
