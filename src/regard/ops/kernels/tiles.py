"""The tile sizes of a recurrence's kernels, and the launch of its steps.

Knows sizes but no equations; does not import Triton.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

WIDTH = 64
"""Every width must be a multiple of this."""


@dataclass(frozen=True)
class Tiles:
    """Sizes of tiles, named as in the kernels.

    Attributes:
        programs: how many run at once; no more than the GPU can hold, since they wait for each other.
        split: into how many summands the backward pass from the gates is divided.
        BM: rows of a batch; BY the same, in the backward pass from the gates.
        BQ: columns of a query or key.
        BU: units of an LSTM, four columns each.
        BX: columns in the backward pass from the gates.
        BK: inner indices of a product taken at a time; BL the same, of a narrow one.
        BJ: slots taken at a time, each by all threads.
        BT: slots, a power of two that holds them all.
        BE: units taken at a time where all slots are.
        BA: alignment units, a power of two that holds them all; BD the same, for the units that are read; BN, for those
            of a state.
        stages: how many tiles of a product are on their way at once, backwards; forward_stages, forwards; row_stages,
            of a row's attention.
        warps: of a program.
        stream: how long the second cache should keep what is read: the caches' own policy, or "evict_first" where the
            weights and all that is attended to do not fit together.
        quick: how tanh is computed; see `parts.squash`.
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
    BN: int
    stages: int = 4
    forward_stages: int = 6
    row_stages: int = 4
    warps: int = 8
    stream: str = ""
    quick: int = 0


def tiles_of(like: Tensor, slots: int, n: int, a: int, d: int, back: int) -> Tiles:
    """Tiles that leave few programs idle.

    Args:
        like: a tensor (B, …) of the precision and on the device in question.
        slots: how many slots attention reads at most.
        n: the state's size.
        a: alignment units.
        d: the width of what is read.
        back: how many columns the backward pass from the gates has.
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
        BN=power_of(n),
        quick=quick_of(like),
    )


def quick_of(like: Tensor) -> int:
    """How kernels compute tanh for such tensors."""
    return int(like.is_cuda and like.dtype != torch.float32)


def power_of(width: int) -> int:
    """The smallest power of two that is at least `width`."""
    return 1 << (width - 1).bit_length()


def slots_of(count: int) -> int:
    """The height of a tile that holds `count` slots."""
    return max(16, power_of(count))


def programs_of(like: Tensor) -> int:
    """The number of programs of a launch: that of the GPU's multiprocessors; three for the interpreter."""
    return torch.cuda.get_device_properties(like.device).multi_processor_count if like.is_cuda else 3


def rows_of(batch: int) -> int:
    """The number of rows of a batch in a tile."""
    return 64 if batch > 32 else 32 if batch > 16 else 16


def units_of(programs: int, row_tiles: int, n: int, most: int) -> int:
    """How many of n units a tile of a recurrent product should have, `most` or fewer, so that few programs are idle."""
    choices = [units for units in (32, 16, 8) if units <= most]
    return next((units for units in choices if row_tiles * (n // units) >= 0.9 * programs), 4)


def narrow_columns(like: Tensor, batch: int, *parts: int) -> int:
    """The number of columns of a tile, for a product with these parts as columns, that minimises the loads."""
    programs, BM, wide = programs_of(like), rows_of(batch), sum(parts)
    choices = [columns for columns in (16, 32, 64) if all(part % columns == 0 for part in parts)]
    tall = -(-batch // BM)
    return min(choices, key=lambda columns: -(-tall * wide // columns // programs) * (BM + columns))


def stream_of(like: Tensor, units: int) -> str:
    """The L2 eviction policy of what is attended to: ``evict_first`` where they exceed the L2 cache."""
    cache = torch.cuda.get_device_properties(like.device).L2_cache_size if like.is_cuda else None
    return "evict_first" if cache is not None and units * like.element_size() > cache else ""


def launch(kernel: Any, like: Tensor, num_phases: int, count: int, *given: Any, **options: Any) -> None:
    """Run `count` steps of `num_phases` phases: one launch, or one per phase if programs cannot wait for each other.

    Args:
        kernel: takes what is given, a counter, the first step, how many, and which phase, 0 for all.
        like: a tensor on the device.
        num_phases: of a step.
        count: steps.
        given: arguments by position, before those.
        options: by name.

    The launch is cooperative: the GPU begins it when it can hold all programs at once. Otherwise two recurrences, on
    two streams or of two processes, could each hold some multiprocessors and wait for the others' for ever.
    """
    counter = torch.zeros(1, dtype=torch.int32, device=like.device)
    programs = programs_of(like)
    if counter.is_cuda:
        kernel[(programs,)](*given, counter, 0, count, PHASE=0, launch_cooperative_grid=True, **options)
        return
    for step in range(count):
        for phase in range(1, num_phases + 1):
            kernel[(programs,)](*given, counter, step, 1, PHASE=phase, **options)
