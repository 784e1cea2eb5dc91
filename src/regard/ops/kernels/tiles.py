"""How the work of a recurrence's kernels is cut into tiles, and how its steps are launched.

Knows sizes and nothing of equations; does not import Triton.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

WIDTH = 64
"""What every width has to be a multiple of."""


@dataclass(frozen=True)
class Tiles:
    """Sizes of tiles, named as in the kernels.

    Attributes:
        programs: how many run at once; no more than the GPU holds, for they wait for each other.
        split: into how many summands the way back from the gates is cut.
        BM: rows of a batch; BY likewise, on the way back from the gates.
        BQ: columns of a query or key.
        BU: units of an LSTM, four columns each.
        BX: columns on the way back from the gates.
        BK: inner indices of a product taken at a time; BL likewise, of a narrow one.
        BJ: slots taken at a time, each by all threads.
        BT: slots, a power of two that holds them all.
        BE: units taken at a time where all slots are.
        BA: alignment units, a power of two that holds them all; BD likewise, units of what is read.
        stages: how many tiles of a product are on their way at once, backwards; forward_stages, forwards; row_stages,
            of a row's attention.
        warps: of a program.
        stream: how long the second cache should keep what is read: the caches' own policy, or "evict_first" where the
            weights and all that is attended to do not fit together.
    """

    programs: int
    split: int
    BM: int
    BQ: int
    BU: int
    BY: int
    BX: int
    BK: int
    BL: int
    BJ: int
    BT: int
    BE: int
    BA: int
    BD: int
    stages: int = 4
    forward_stages: int = 6
    row_stages: int = 4
    warps: int = 8
    stream: str = ""

    def shared(self) -> dict[str, int | str]:
        """What every kernel of steps takes."""
        sizes: dict[str, int | str] = {
            "BM": self.BM,
            "BU": self.BU,
            "BK": self.BK,
            "BL": self.BL,
            "BJ": self.BJ,
        }
        sizes |= {"BT": self.BT, "BE": self.BE, "BA": self.BA, "BD": self.BD}
        sizes |= {"STREAM": self.stream}
        return sizes | {"ROW_STAGES": self.row_stages, "num_warps": self.warps}


def tiles_of(like: Tensor, slots: int, n: int, a: int, d: int, back: int) -> Tiles:
    """Tiles that leave few programs idle.

    Args:
        like: a tensor (B, …) of the precision and on the device in question.
        slots: how many slots attention reads at most.
        n: the state's size.
        a: alignment units.
        d: the width of what is read.
        back: how many columns the way back from the gates has.
    """
    batch, size, programs = like.shape[0], like.element_size(), programs_of(like)
    BM = rows_of(batch)
    tall = -(-batch // BM)
    BY, BX = (128 if batch > 64 else BM), (128 if back % 128 == 0 and back > 1024 else 64)
    BT, BA, BD = slots_of(slots), power_of(a), power_of(d)
    return Tiles(
        programs=programs,
        split=max(1, min(8, programs // (-(-batch // BY) * (back // BX)))),
        BM=BM,
        BQ=32 if tall * (a // 32) >= programs else 16,
        BU=units_of(programs, tall, n, 16),
        BY=BY,
        BX=BX,
        BK=128 // size,
        BL=(256 if n % 128 == 0 and a % 128 == 0 else 128) // size,
        BJ=16,
        BT=BT,
        BE=max(16, min(128, 2 * 8192 // size // BT)),
        BA=BA,
        BD=BD,
    )


def power_of(width: int) -> int:
    """The least power of two that holds so many."""
    return 1 << (width - 1).bit_length()


def slots_of(count: int) -> int:
    """How high a tile is that holds so many slots."""
    return max(16, power_of(count))


def programs_of(like: Tensor) -> int:
    """How many programs a launch has: as many as the GPU has processors; three for an interpreter."""
    return torch.cuda.get_device_properties(like.device).multi_processor_count if like.is_cuda else 3


def rows_of(batch: int) -> int:
    """How many rows of a batch a tile has."""
    return 64 if batch > 32 else 32 if batch > 16 else 16


def units_of(programs: int, row_tiles: int, n: int, most: int) -> int:
    """How many of n units a tile of a recurrent product should have, `most` or fewer, so that few programs are idle."""
    choices = [units for units in (32, 16, 8) if units <= most]
    return next((units for units in choices if row_tiles * (n // units) >= 0.9 * programs), 4)


def narrow_columns(like: Tensor, batch: int, *parts: int) -> int:
    """How many columns a tile of a product should have whose columns are these parts': the least to load in all."""
    programs, BM, wide = programs_of(like), rows_of(batch), sum(parts)
    choices = [columns for columns in (16, 32, 64) if all(part % columns == 0 for part in parts)]
    tall = -(-batch // BM)
    return min(choices, key=lambda columns: -(-tall * wide // columns // programs) * (BM + columns))


def run_steps(kernel: Any, tiles: Tiles, count: int, *given: Any, **options: Any) -> None:
    """Run `count` steps of three phases: one launch on a GPU, a phase at a time where programs cannot wait."""
    launch(kernel, tiles.programs, 3, count, *given, **tiles.shared(), **options)


def launch(kernel: Any, programs: int, num_phases: int, count: int, *given: Any, **options: Any) -> None:
    """As `run_steps`, for a kernel that names its own tiles and has so many phases."""
    counter = torch.zeros(1, dtype=torch.int32, device=given[0].device)
    if counter.is_cuda:
        kernel[(programs,)](*given, counter, 0, count, PHASE=0, **options)
        return
    for step in range(count):
        for phase in range(1, num_phases + 1):
            kernel[(programs,)](*given, counter, step, 1, PHASE=phase, **options)


def taken_of(gradients: tuple[Tensor | None, ...], nothing: Tensor) -> list[Any]:
    """Each gradient (T, B, ·) with its strides of time and batch; where there is none, what no kernel will read."""
    taken: list[Any] = []
    for gradient in gradients:
        if gradient is None:
            taken += [nothing, 0, 0]
            continue
        gradient = gradient if gradient.stride(2) == 1 else gradient.contiguous()
        taken += [gradient, gradient.stride(0), gradient.stride(1)]
    return taken
