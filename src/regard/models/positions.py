"""Where real tokens stand in a batch, so that what comes after the recurrence is computed for them alone."""

from torch import Tensor


def real_positions(mask: Tensor) -> Tensor:
    """The numbers of the N real positions of a batch, row by row: (B, T) → (N,).

    How many there are is asked of the device. A GPU answers when its work is done, so ask before giving it any.
    """
    return mask.flatten().nonzero().squeeze(1)


def at_positions(values: Tensor, positions: Tensor) -> Tensor:
    """The values at some positions of a batch: (B, T, …) → (N, …).

    The same as by the mask, and sooner: the way back is a copy of rows.
    """
    return values.flatten(0, 1).index_select(0, positions)
