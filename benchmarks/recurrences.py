"""The recurrences in C beside their torch path on the CPU: ``python -m benchmarks.recurrences --threads 1``.

Each cell reads a padded batch and derives the loss with respect to its parameters and inputs. Agreement is checked
first; then both paths alternate, and the table has the median CPU time of each and the median of their ratios. CPU time
on one thread hardly depends on what else the machine does.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from benchmarks.report import Table, markdown_table
from regard.errors import RegardError
from regard.layers.cells import CELLS
from regard.ops.native import native_off

TIMED = ("rnn", "rnn-sigmoid", "lstm", "gru", "rnn-read", "rnn-sum", "rnn-sum-keep", "lstmn")
SIZES = ((32, 22, 200), (32, 50, 512), (64, 25, 64))
"""(B, T, n): those of lstmn-lm, of a large model, and of a small one."""
_TOLERANCE = 1e-4
"""Of the norm of each gradient: float32 leaves about 1e-6."""


@dataclass(frozen=True)
class Timing:
    """Median milliseconds of a forward and a backward pass by both paths, and the median ratio."""

    cell: str
    size: tuple[int, int, int]
    torch: float
    native: float
    ratio: float


def passes(cell: str, size: tuple[int, int, int]) -> Callable[[], list[Tensor]]:
    """A forward and a backward pass of a cell over rows of half to all of T words: the gradients."""
    batch, num_steps, n = size
    torch.manual_seed(1)
    layer, inputs = CELLS[cell](n, n), torch.randn(batch, num_steps, n, requires_grad=True)
    lengths = torch.linspace(num_steps / 2, num_steps, batch).round().unsqueeze(1)
    mask = torch.arange(num_steps) < lengths
    weights = torch.randn(batch, num_steps, n)

    def run() -> list[Tensor]:
        states, *_ = layer(inputs, mask)
        return list(torch.autograd.grad((states * weights).sum(), [inputs, *layer.parameters()]))

    return run


def measure(cell: str, size: tuple[int, int, int], rounds: int) -> Timing:
    """Time both paths of one cell.

    Raises:
        RegardError: they do not agree.
    """
    run = passes(cell, size)
    found: dict[str, list[float]] = {"torch": [], "native": []}
    with native_off():
        expected = run()
    if any(
        (one - other).norm() > _TOLERANCE * other.norm() for one, other in zip(run(), expected, strict=True)
    ):
        raise RegardError(f"{cell} at {size}: the gradients in C are not those of torch")
    for _ in range(rounds):
        for name, seconds in found.items():
            with native_off() if name == "torch" else nullcontext():
                started = time.process_time()
                run()
                seconds.append(time.process_time() - started)
    ratios = [one / other for one, other in zip(*found.values(), strict=True)]
    return Timing(cell, size, *(1e3 * median(each) for each in found.values()), median(ratios))


def table(timings: Sequence[Timing]) -> Table:
    """The report."""
    columns = ["cell", "B", "T", "n", "torch, ms", "C, ms", "ratio"]
    rows = [
        [each.cell, *map(str, each.size), f"{each.torch:.1f}", f"{each.native:.1f}", f"{each.ratio:.2f}"]
        for each in timings
    ]
    return Table("forward and backward pass of a cell, CPU time", columns, rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--cells", nargs="+", choices=TIMED, default=TIMED)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    timings = [measure(cell, size, given.rounds) for size in SIZES for cell in given.cells]
    print("\n".join(markdown_table(table(timings))))


if __name__ == "__main__":
    main()
