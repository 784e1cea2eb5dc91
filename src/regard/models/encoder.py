"""What an encoder is made of.

source_ids → annotations and last states.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.layers import LSTMN, BidirectionalStack, Dropout, Embedding, RecurrentStack
from regard.models.stack import StackConfig, cell_of
from regard.ops.unroll import State


@dataclass(frozen=True)
class EncoderConfig(StackConfig):
    """source_ids → annotations."""

    place = "model.encoder"

    bidirectional: bool = True
    """Read the sentence both ways; annotations are then 2n wide."""
    reverse: bool = False
    """Read the source from its last word to its first (Sutskever et al. 2014, §3.3)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bidirectional and self.reverse:
            raise ConfigError(
                "model.encoder: reverse means nothing to a bidirectional encoder; drop one of the two"
            )

    @property
    def annotation_size(self) -> int:
        """The width of an annotation h_j."""
        return self.state_size * (2 if self.bidirectional else 1)


class Encoder(nn.Module):
    """An embedding and a stack of recurrent layers, one way or both.

    Args:
        config: sizes and kinds.
        embedding: E_x, made by the model, which knows what is shared.
    """

    def __init__(self, config: EncoderConfig, embedding: Embedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.reverse = config.reverse
        self.dropout = Dropout(config.dropout, config.variational)
        stack = BidirectionalStack if config.bidirectional else RecurrentStack
        self.stack = stack(
            cell_of(config),
            config.embedding_size,
            config.state_size,
            config.num_layers,
            residual=config.residual,
            dropout=config.dropout,
            recurrent_dropout=config.recurrent_dropout,
            variational=config.variational,
        )

    def forward(
        self, source_ids: Tensor, source_mask: Tensor
    ) -> tuple[Tensor, tuple[State, ...], tuple[State, ...]]:
        """Read a padded batch.

        Args:
            source_ids: (B, Tx), each row ended by the end mark.
            source_mask: (B, Tx), True where a real word stands.

        Returns:
            Annotations (B, Tx, d), each at its own word whichever way the source is read; the last forward
            states; the last backward states (empty for an encoder that reads one way). Of states, h (and c).
        """
        annotations, forward_last, backward_last, _ = self.forward_with_memories(source_ids, source_mask)
        return annotations, forward_last, backward_last

    def forward_with_memories(
        self, source_ids: Tensor, source_mask: Tensor
    ) -> tuple[Tensor, tuple[State, ...], tuple[State, ...], Tensor | None]:
        """As `forward`, and the top layer's memory c at each word (B, Tx, n), zero on padding.

        The memories are for deep fusion: None unless the encoder is an lstmn that reads one way, ahead, and forgets
        no slot of its tape.
        """
        embedded = self.dropout(self.embedding(source_ids))  # (B, Tx, m)
        if isinstance(self.stack, BidirectionalStack):
            return *self.stack(embedded, source_mask), None
        annotations, last = self.stack(embedded, source_mask, reverse=self.reverse)
        top = self.stack.layers[-1]
        whole = isinstance(top, LSTMN) and not self.reverse and top.span == 0
        memories = top.memories(last[-1]) if isinstance(top, LSTMN) and whole else None
        return annotations, self.stack.recurrent_parts(last), (), memories


def joined_last(forward_last: tuple[State, ...], backward_last: tuple[State, ...]) -> tuple[State, ...]:
    """Each layer's last state with both directions side by side, as a decoder twice as wide starts from."""
    if not backward_last:
        return forward_last
    return tuple(
        tuple(torch.cat([ahead, back], dim=-1) for ahead, back in zip(one, other, strict=True))
        for one, other in zip(forward_last, backward_last, strict=True)
    )
