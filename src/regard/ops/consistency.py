"""Agreement of two predictions of the same words under different dropout (R-Drop, Liang et al. 2021, Eq. 2)."""

import torch
from torch import Tensor

from regard.ops.shapes import Float


def consistency(first: Float[Tensor, "N Vy"], second: Float[Tensor, "N Vy"]) -> Float[Tensor, ""]:
    """Σ_n ½ (KL(p ‖ q) + KL(q ‖ p)) = Σ_n ½ Σ_y (p(y) − q(y)) (log p(y) − log q(y)), in float32 at least.

    Args:
        first: logits or log-probabilities of p, a row for each word.
        second: those of q.
    """
    wide = torch.promote_types(first.dtype, torch.float32)
    log_p = torch.log_softmax(first, dim=-1, dtype=wide)  # (N, Vy)
    log_q = torch.log_softmax(second, dim=-1, dtype=wide)  # (N, Vy)
    return 0.5 * ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum()
