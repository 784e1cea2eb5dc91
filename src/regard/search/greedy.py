"""Greedy search: the likeliest word at each step, many sentences at a time.

In: a decoder and an encoded source. Out: one `Hypothesis` for each sentence, in order. Finished sentences
leave the batch. Meets the model only through the decoder's `initial_state` and `step`.
"""

from typing import Protocol

import torch
from torch import Tensor

from regard.models.state import DecoderState, EncodedSource, StepOutput
from regard.search.hypothesis import Hypothesis
from regard.search.length_penalty import length_normalised
from regard.search.limits import LengthLimit, begin, only_legal
from regard.text.specials import EOS


class Stepper(Protocol):
    """What search needs of a decoder."""

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The state before the first word."""
        ...

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step for R = B·K rows."""
        ...


@torch.inference_mode()
def greedy(
    decoder: Stepper, encoded: EncodedSource, *, limit: LengthLimit | None = None, length_power: float = 1.0
) -> list[Hypothesis]:
    """Decode every sentence greedily.

    Args:
        decoder: the model's decoder, or anything that steps like one.
        encoded: the sources.
        limit: how long outputs may grow.
        length_power: for the reported score; greedy search itself compares no lengths.
    """
    limits = (limit or LengthLimit()).of(encoded.mask)
    source_lengths = encoded.mask.sum(dim=1).tolist()
    batch = encoded.mask.shape[0]
    ids: list[list[int]] = [[] for _ in range(batch)]
    log_probs: list[list[float]] = [[] for _ in range(batch)]
    alphas: list[list[Tensor]] = [[] for _ in range(batch)]
    rows = torch.arange(batch, device=encoded.mask.device)
    state, previous = decoder.initial_state(encoded), begin(encoded.mask)
    for t in range(int(limits.max())):
        output = decoder.step(previous, state, encoded)
        legal = only_legal(output.logits.log_softmax(dim=-1), limits[rows] == t + 1)
        chosen_log_prob, previous = legal.max(dim=-1)
        alpha = None if output.alpha is None else output.alpha.cpu()
        for k, (b, token, value) in enumerate(
            zip(rows.tolist(), previous.tolist(), chosen_log_prob.tolist(), strict=True)
        ):
            ids[b].append(token)
            log_probs[b].append(value)
            if alpha is not None:
                alphas[b].append(alpha[k])
        alive = (previous != EOS).nonzero().squeeze(1)
        if len(alive) == 0:
            break
        state = output.state
        if len(alive) < len(rows):
            rows, previous = rows[alive], previous[alive]
            state, encoded = state.select(alive), encoded.select(alive)
    return [
        Hypothesis(
            tuple(ids[b]),
            sum(log_probs[b]),
            float(length_normalised(sum(log_probs[b]), len(ids[b]), length_power)),
            tuple(log_probs[b]),
            torch.stack(alphas[b])[:, : source_lengths[b]].float().numpy() if alphas[b] else None,
        )
        for b in range(batch)
    ]
