"""The pointer-generator: what a decoder's readout says of the vocabulary, mixed with copies of what it attends to."""

import torch
from torch import Tensor, nn

from regard.ops.pointer_generator import generation_logits, pointer_generator
from regard.ops.shapes import Float, Int


class PointerGenerator(nn.Module):
    """P(w) = p_gen P_vocab(w) + (1 − p_gen) Σ_{j: x_j = w} α_j (See et al. 2017, §2.2).

        log_probs = PointerGenerator(n, m, d)(logits, state, embedded, context, alpha, copy_ids)

    Args:
        state_size: n.
        embedding_size: m.
        context_size: d.

    Attributes:
        w_c: of the context, in p_gen.
        w_s: of the state.
        w_x: of the previous word.
        b: the bias.
    """

    def __init__(self, state_size: int, embedding_size: int, context_size: int) -> None:
        super().__init__()
        self.w_c, self.w_s, self.w_x = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, size))[0])
            for size in (context_size, state_size, embedding_size)
        )
        self.b = nn.Parameter(torch.zeros(()))

    def forward(
        self,
        logits: Float[Tensor, "*rows Vy"],
        state: Float[Tensor, "*rows n"],
        embedded: Float[Tensor, "*rows m"],
        context: Float[Tensor, "*rows d"],
        alpha: Float[Tensor, "*rows Tx"],
        copy_ids: Int[Tensor, "B Tx"],
        num_unknowns: int = 0,
    ) -> Float[Tensor, "*rows extended"]:
        """Log P(w) of each row, (…, Vy + K).

        Args:
            logits: of P_vocab, (…, Vy).
            state: s_i, (…, n).
            embedded: E y_{i−1}, (…, m).
            context: c_i, (…, d).
            alpha: α_i, (…, Tx).
            copy_ids: (B, Tx), the target word that each source word is copied as, negative where there is none; the
                rows of a sentence are consecutive.
            num_unknowns: K, by which the vocabulary is extended; see `ops.pointer_generator`.
        """
        generation = generation_logits(context, state, embedded, self.w_c, self.w_s, self.w_x, self.b)
        rows = alpha.flatten(0, -2)  # (N, Tx)
        repeated = copy_ids.repeat_interleave(len(rows) // len(copy_ids), dim=0)  # (N, Tx)
        log_probs = pointer_generator(
            logits.flatten(0, -2), generation.flatten(), rows, repeated, num_unknowns
        )
        return log_probs.view(*logits.shape[:-1], -1)
