"""Deep fusion: `naive` states the equations; `fused` has a hand-derived backward pass, for two families of energies."""

from torch import Tensor

from regard.ops.deep_fusion import fused, naive
from regard.ops.deep_fusion.naive import Alphas, Fusion, SourceTape, deep_fusion_step
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float
from regard.ops.tape import AdditiveScoring, DotScoring
from regard.ops.unroll import State

__all__ = ["Alphas", "Fusion", "SourceTape", "deep_fusion", "deep_fusion_step"]


def deep_fusion(
    projected: Float[Tensor, "B Ty gnpq"],
    initial: State,
    source: SourceTape,
    fusion: Fusion,
    output: str = "tanh",
    span: int = 0,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B Ty n"], Alphas]:
    """All steps of the decoder's recurrence, by the fastest path that applies; see `naive`."""
    derived = (AdditiveScoring, DotScoring)
    if fused_wanted() and isinstance(fusion.scoring, derived) and isinstance(fusion.source_scoring, derived):
        return fused.deep_fusion(projected, initial, source, fusion, output, span, state_mask)
    return naive.deep_fusion(projected, initial, source, fusion, output, span, state_mask)
