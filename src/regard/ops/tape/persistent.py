"""What the recurrences with a tape share around their kernels: which scorings they know, and gradients after the steps.

Knows nothing of gates. The kernels themselves are in `kernels`, which is imported only where Triton is.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.ops.kernels.tiles import WIDTH, Tiles


class Energies(NamedTuple):
    """How a tape is compared with, as kernels take it.

    Attributes:
        v_a: (p,) for additive energies; for dot products what no kernel will read.
        scale: of dot products.
        dot: whether energies are dot products.
        quick: how kernels compute tanh; see `ops/kernels/parts.squash`.
    """

    v_a: Tensor
    scale: float
    dot: bool
    quick: int


def tape_lacks(span: int, dropout: bool, *widths: int) -> str:
    """Why the kernels of tapes do not compute a recurrence of such widths, whatever the device; empty if they do."""
    if span:
        return "it has no span"
    if dropout:
        return "it has no dropout of states"
    odd = next((width for width in widths if width % WIDTH), 0)
    return f"a width of {odd} is not a multiple of {WIDTH}" if odd else ""


def energies_of(v_a: Tensor | None, scale: float, like: Tensor) -> Energies:
    """What kernels take of a scoring, for tapes like the one given."""
    quick = int(like.is_cuda and like.dtype != torch.float32)
    return Energies(like if v_a is None else v_a.contiguous(), scale, v_a is None, quick)


def key_gradients(
    keys: Tensor, queries: Tensor, d_energy: Tensor, energies: Energies, tiles: Tiles, count: int
) -> tuple[Tensor, Tensor | None]:
    """After all backward steps: ∂/∂(the first `count` keys) (B, count, p), and ∂/∂v_a (p,) of additive energies.

    Args:
        keys: (B, slots, p).
        queries: of all steps, (T, B, p).
        d_energy: ∂/∂energies before their scale, (T, B, slots), 0 where a step could not look.
        energies: how they were compared.
        tiles: of the recurrence.
        count: how many slots were given, and not written by the steps.
    """
    if energies.dot:
        weights = (energies.scale * d_energy[:, :, :count]).permute(1, 2, 0).to(keys.dtype)
        return torch.bmm(weights, queries.transpose(0, 1)), None
    from regard.ops.kernels import parts

    (batch, slots, p), steps = keys.shape, queries.shape[0]
    d_keys, d_v = torch.empty_like(keys), d_energy.new_empty(batch, p)
    wide = max(16, min(64, 4096 // tiles.BT))
    parts.gather_keys[(batch, p // wide)](
        keys, queries, d_energy, energies.v_a, d_keys, d_v, steps, batch, slots, p, tiles.BT, wide, energies.quick, 2,
        num_warps=4,
    )  # fmt: skip
    return d_keys[:, :count], d_v.sum(dim=0).to(energies.v_a.dtype)


def summands(tiles: Tiles, gates: int, query: int, others: int = 0) -> tuple[int, int]:
    """Into how many summands ∂/∂s is cut: of the backward pass from the gates, and from the query, by their widths.

    `others` programs of each tile have something else to do.
    """
    split = tiles.split - others
    share = max(1, round(split * query / (gates + query)))
    return max(1, split - share), share


def held(summaries: Tensor, real: Tensor) -> Tensor:
    """s_0 … s_T (T + 1, B, n), over padding (real: (T, B, 1)) as they were before it."""
    return summaries.gather(0, last_words(real).unsqueeze(-1).expand_as(summaries))


def last_words(real: Tensor) -> Tensor:
    """Before each step and after the last, (T + 1, B): how many steps there were up to the last real word."""
    steps = torch.arange(1, real.shape[0] + 1, device=real.device).unsqueeze(1)
    return torch.nn.functional.pad((steps * real.squeeze(-1)).cummax(dim=0).values, (0, 0, 1, 0))


def last_real(states: Tensor, initial: Tensor, real: Tensor) -> Tensor:
    """The state (B, n) after the last real word: of states (T, B, n), real (T, B, 1); the first if there is none."""
    rows = torch.arange(real.shape[1], device=real.device)
    return torch.cat([initial.unsqueeze(0), states])[last_words(real)[-1], rows]
