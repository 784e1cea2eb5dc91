"""Deep fusion: `naive` states the equations; `fused` has a hand-derived backward pass, for two families of energies."""

from dataclasses import replace

from torch import Tensor

from regard.ops.backends import NO_KERNEL, choose, without
from regard.ops.deep_fusion import fused, naive
from regard.ops.deep_fusion.naive import Alphas, Fusion, SourceTape, deep_fusion_step
from regard.ops.shapes import Float
from regard.ops.tape import AdditiveScoring, DotScoring, tape_question
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
    (p, n), slots = fusion.S.shape, max(initial[7].shape[1] + projected.shape[1], source.mask.shape[1])
    scorings = (fusion.scoring, fusion.source_scoring)
    own = next((each for each in scorings if not isinstance(each, AdditiveScoring | DotScoring)), scorings[0])
    tensors = (projected, *initial[:7])
    question = tape_question("deep fusion", fusion.U, tensors, slots, (2 * n, n, p), own, span, state_mask)
    lacks = without(NO_KERNEL, "C")
    if fusion.S_source.shape[0] != p:
        lacks |= without("its two queries differ in width", "Triton")
    if choose(replace(question, lacks={**question.lacks, **lacks})) != "naive":
        return fused.deep_fusion(projected, initial, source, fusion, output, span, state_mask)
    return naive.deep_fusion(projected, initial, source, fusion, output, span, state_mask)
