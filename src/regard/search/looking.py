"""Where the decoder is told to look, step by step."""

from collections.abc import Sequence

import torch

from regard.errors import ConfigError
from regard.models.state import EncodedSource
from regard.search.columns import Ids
from regard.search.request import Request


class Looking:
    """The forced attention of each sentence.

    Args:
        requests: one for each sentence, or None.
        source_lengths: (B,), real tokens.

    Attributes:
        steps: at which some sentence is told where to look.

    Raises:
        ConfigError: a position is past the end of its source.
    """

    def __init__(self, requests: Sequence[Request] | None, source_lengths: Ids) -> None:
        self._attend = [request.attend for request in requests or ()]
        for b, attend in enumerate(self._attend):
            for step, position in attend.items():
                if position >= source_lengths[b]:
                    raise ConfigError(
                        f"attend: step {step} of sentence {b + 1} at position {position}, and its source has "
                        f"{source_lengths[b]} tokens, counted from 0"
                    )
        self.steps = {step for attend in self._attend for step in attend}

    def at(self, step: int, encoded: EncodedSource, sentences: Ids) -> EncodedSource:
        """The sources of these sentences as this step sees them."""
        if step not in self.steps:
            return encoded
        positions = [self._attend[b].get(step, -1) for b in sentences.tolist()]
        return encoded.looking_at(torch.tensor(positions, device=encoded.mask.device))
