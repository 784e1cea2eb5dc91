"""What search needs of a decoder, and nothing more."""

from typing import Protocol

from torch import Tensor

from regard.models.state import DecoderState, EncodedSource, StepOutput


class Stepper(Protocol):
    """A model's decoder, or anything that steps like one.

    One whose logits are over a shortlist has an attribute `words` besides, (V,), the ids of their columns. Each step's
    logits and alpha are new tensors: the search keeps alpha, and may overwrite the logits.
    """

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The state before the first word."""
        ...

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step for R = B·K rows."""
        ...
