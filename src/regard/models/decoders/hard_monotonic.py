"""Hard monotonic attention (Wu & Cotterell 2019): the alignment is a latent variable, summed out exactly.

s_i = f(s_{i−1}, y_{i−1});  e_ij from s_i and h_j;  p(y_i ∣ a_i = j) = softmax(W_o tanh(W_c [h_j; s_i]));
p(y_i) = Σ_j p(a_i = j ∣ y_<i) p(y_i ∣ a_i = j), with a_i ≥ a_{i−1}. The recurrence does not depend on the alignment, so
all states, energies and emissions of a sentence are computed at once; the forward algorithm is a loop over (B, Tx).
Alpha is π_i(j) = p(a_i = j ∣ y_<i, x), where the model expects to read before it has chosen y_i.
"""

from dataclasses import replace

import torch
from torch import Tensor

from regard.layers import Attention, AttentionalReadout, Embedding, Output
from regard.models.decoders.config import HardMonotonicConfig
from regard.models.decoders.decoder import Decoder, ProjectedStart, build_decoder_attention
from regard.models.state import DecoderState, EncodedSource, StepOutput, Unrolled
from regard.ops.affine import affine
from regard.ops.attention.hard_monotonic import NEVER, hard_monotonic, predict, start
from regard.ops.record import Equation, Letters, record

EQUATIONS = {
    "filtered": Equation("φ_{t−1}(j) ∝ π_{t−1}(j) p(y_{t−1} ∣ a_{t−1} = j)", axis="source"),
    "alpha": Equation("π_t(j) = Σ_j′ p(a_t = j ∣ a_{t−1} = j′) φ_{t−1}(j′)", axis="source"),
    "probabilities": Equation("p(y_t) = Σ_j π_t(j) p(y_t ∣ a_t = j)", axis="words"),
}


class HardMonotonicDecoder(Decoder):
    """The 0th-order model of the paper with monotone transitions, over any cell and any energy.

    Between two steps the state of the attention is log p(a_i = j, y_i = w ∣ y_<i), (R, Tx, Vy): the next step takes
    the column of the word that was chosen.
    """

    attention: Attention

    def __init__(
        self, config: HardMonotonicConfig, annotation_size: int, embedding: Embedding, output: Output
    ) -> None:
        super().__init__(config, embedding, output, input_size=config.embedding_size)
        self.attention = build_decoder_attention(config.attention, config.state_size, annotation_size)
        self.start = ProjectedStart(annotation_size, self.stack)
        self.readout = AttentionalReadout(config.state_size, annotation_size, config.readout_size)

    @property
    def is_mixture(self) -> bool:
        """Always, over the positions of the source."""
        return True

    def letters(self, whose: str) -> Letters:
        """The current state attends."""
        letters = super().letters(whose)
        return replace(letters, query=f"{letters.state}_t", memory="c")

    def keys_and_values(self, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """The keys, and the annotations' term in W_c [h_j; s_i], (B, Tx, l)."""
        W_h = self.readout.W_c.weight[:, : annotations.shape[-1]]
        return self.attention.keys(annotations), affine(annotations, W_h)

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The encoder's last states, projected; a_0 is the first word."""
        cells = self.start(encoded.summary, self.stack)
        joint = start(encoded.mask, _wide(encoded.annotations[:, 0])).unsqueeze(2)  # (B, Tx, 1)
        return DecoderState(cells, attention=(joint.repeat(1, 1, self.output.b_o.shape[0]),))

    def _energies(self, states: Tensor, encoded: EncodedSource) -> Tensor:
        """States (B, Q, n) → e_ij, (B, Q, Tx)."""
        assert encoded.keys is not None, "the source was encoded without keys"
        energies = _wide(self.attention.energies(states, encoded.keys))
        record(self.attention.written(), energies=energies)
        return energies

    def _emissions(self, states: Tensor, encoded: EncodedSource) -> Tensor:
        """States (B, Q, n) → log p(y_i = w ∣ a_i = j), (B, Q, Tx, Vy)."""
        assert encoded.values is not None, "the source was encoded without values"
        W_s = self.readout.W_c.weight[:, self.attention.annotation_size :]
        from_state = affine(states, W_s)  # (B, Q, l)
        readout = torch.tanh(encoded.values.unsqueeze(1) + from_state.unsqueeze(2))  # (B, Q, Tx, l)
        return _wide(self.output(readout)).log_softmax(dim=-1)

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; see `Decoder.step`."""
        projected = self.stack.layers[0].project(self.embedding(previous_ids))  # (R, gn)
        top, cells = self.stack.step(projected, state.cells)
        queries = top.view(encoded.mask.shape[0], -1, top.shape[-1])  # (B, K, n)
        (joint,) = state.attention
        chosen = previous_ids.view(-1, 1, 1).expand(-1, joint.shape[1], 1)
        log_filtered = joint.gather(2, chosen).squeeze(2).log_softmax(dim=-1)  # (R, Tx)
        mask = encoded.mask.repeat_interleave(queries.shape[1], dim=0)  # (R, Tx)
        log_prior = predict(log_filtered, self._energies(queries, encoded).flatten(0, 1), mask)
        if encoded.forced is not None:
            visible = encoded.visible.repeat_interleave(queries.shape[1], dim=0)
            only = torch.zeros_like(log_prior).masked_fill(~visible, NEVER)
            is_forced = (encoded.forced >= 0).repeat_interleave(queries.shape[1]).unsqueeze(1)
            log_prior = torch.where(is_forced, only, log_prior)
        joint = log_prior.unsqueeze(2) + self._emissions(queries, encoded).flatten(0, 1)  # (R, Tx, Vy)
        log_probs, alpha = joint.logsumexp(dim=1), log_prior.exp()
        record(EQUATIONS, filtered=log_filtered.exp(), alpha=alpha, probabilities=log_probs.exp())
        return StepOutput(log_probs, DecoderState(cells, attention=(joint,)), alpha)

    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence; see `Decoder.forward`."""
        embedded = self.dropout(self.embedding(previous_ids))  # (B, Ty, m)
        tops, _ = self.stack(embedded, target_mask, self.start(encoded.summary, self.stack))  # (B, Ty, n)
        tops = self.dropout(tops)
        emissions = self._emissions(tops, encoded)  # (B, Ty, Tx, Vy)
        # the word of each step is what the next one reads; the last step's changes nothing
        words = previous_ids.roll(-1, dims=1).unsqueeze(2).unsqueeze(3).expand(-1, -1, emissions.shape[2], 1)
        of_words = emissions.gather(3, words).squeeze(3)  # (B, Ty, Tx)
        log_priors = hard_monotonic(self._energies(tops, encoded), of_words, encoded.mask)
        log_probs = (log_priors.unsqueeze(3) + emissions).logsumexp(dim=2)  # (B, Ty, Vy)
        return Unrolled(None, log_priors.exp(), log_probs)


def _wide(values: Tensor) -> Tensor:
    """In float32 at least: half precision would lose the sums."""
    return values.to(torch.promote_types(values.dtype, torch.float32))
