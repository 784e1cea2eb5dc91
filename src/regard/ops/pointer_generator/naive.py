"""The pointer-generator (See, Liu & Manning 2017, §2.2): a word is generated from the vocabulary, or copied.

p_gen = σ(w_cᵀ c + w_sᵀ s + w_xᵀ x + b),  P(w) = p_gen P_vocab(w) + (1 − p_gen) Σ_{j: x_j = w} α_j. The extended
vocabulary has, after the Vy target words, the K words of the sentences that the source's vocabulary does not have: they
are copied as themselves and never generated. A word that the source's vocabulary has and the target's has not, such as
a letter where the target consists of phones, cannot be copied: its share of (1 − p_gen) is taken away, and P is divided
by what is left, so that it sums to 1.
"""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from regard.ops.record import Equation, record
from regard.ops.shapes import Float, Int

EQUATIONS = {
    "generation": Equation("p_gen = σ(w_cᵀ c_t + w_sᵀ s_t + w_xᵀ E y_{t−1} + b)", axis="number"),
    "probabilities": Equation("P(w) = p_gen P_vocab(w) + (1 − p_gen) Σ_{j: x_j = w} α_tj", axis="words"),
}

_ALWAYS = 1e4
"""A logit of p_gen = 1."""


def generation_logits(
    context: Float[Tensor, "*rows d"],
    state: Float[Tensor, "*rows n"],
    embedded: Float[Tensor, "*rows m"],
    w_c: Float[Tensor, "d"],
    w_s: Float[Tensor, "n"],
    w_x: Float[Tensor, "m"],
    b: Float[Tensor, ""],
) -> Float[Tensor, "*rows"]:
    """See et al. 2017, Eq. 8, without the sigmoid: w_cᵀ c_i + w_sᵀ s_i + w_xᵀ E y_{i−1} + b."""
    return context @ w_c + state @ w_s + embedded @ w_x + b


def copy_probs(
    alpha: Float[Tensor, "N Tx"], copy_ids: Int[Tensor, "N Tx"], vocabulary_size: int
) -> Float[Tensor, "N Vy"]:
    """Σ_{j: x_j = w} α_j for each target word w; a row sums to the alpha of the words that can be copied.

    Args:
        alpha: 0 on padding.
        copy_ids: the target word that each source word is copied as; negative where there is none.
        vocabulary_size: Vy.
    """
    copied = torch.where(copy_ids >= 0, alpha, 0.0)
    return alpha.new_zeros(len(alpha), vocabulary_size).scatter_add(1, copy_ids.clamp_min(0), copied)


def pointer_generator(
    logits: Float[Tensor, "N Vy"],
    generation: Float[Tensor, "N"],
    alpha: Float[Tensor, "N Tx"],
    copy_ids: Int[Tensor, "N Tx"],
    num_unknowns: int = 0,
) -> Float[Tensor, "N extended"]:
    """See et al. 2017, Eq. 9: log P(w), in float32 at least, of the extended vocabulary (N, Vy + K).

    Args:
        logits: of P_vocab.
        generation: the logit of p_gen.
        alpha: where each row attends.
        copy_ids: as for `copy_probs`; from Vy on, words of the extended vocabulary.
        num_unknowns: K; log P is −∞ at those that a row does not attend to.
    """
    wide = torch.promote_types(logits.dtype, torch.float32)  # half precision would lose the sums
    logits, generation, alpha = (part.to(wide) for part in (logits, generation, alpha))
    tiny = torch.finfo(wide).tiny  # log 0 has no derivative
    copied = copy_probs(alpha, copy_ids, logits.shape[1] + num_unknowns)  # (N, Vy + K)
    copyable = copied.sum(dim=-1)  # (N,)
    generation = torch.where(copyable > 0, generation, _ALWAYS)  # where nothing can be copied
    to_generate, to_copy = (logsigmoid(sign * generation).unsqueeze(1) for sign in (1, -1))  # (N, 1)
    in_vocabulary, unknown = copied[:, : logits.shape[1]], copied[:, logits.shape[1] :]  # (N, Vy), (N, K)
    mixture = torch.logaddexp(
        to_generate + logits.log_softmax(dim=-1), to_copy + in_vocabulary.clamp_min(tiny).log()
    )  # (N, Vy)
    if num_unknowns:
        mixture = torch.cat([mixture, to_copy + unknown.log()], dim=1)  # (N, Vy + K)
    total = torch.logaddexp(to_generate, to_copy + copyable.clamp_min(tiny).log().unsqueeze(1))  # (N, 1)
    log_probs = mixture - total
    record(EQUATIONS, generation=generation.sigmoid(), probabilities=log_probs.exp())
    return log_probs
