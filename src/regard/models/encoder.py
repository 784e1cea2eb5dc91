"""source_ids → annotations and last states."""

import torch
from torch import Tensor, nn

from regard.layers import CELLS, BidirectionalStack, Dropout, Embedding, RecurrentStack
from regard.models.config import EncoderConfig
from regard.ops.unroll import State


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
            CELLS[config.cell],
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
            states; the last backward states (empty for an encoder that reads one way).
        """
        embedded = self.dropout(self.embedding(source_ids))  # (B, Tx, m)
        if isinstance(self.stack, BidirectionalStack):
            annotations, forward_last, backward_last = self.stack(embedded, source_mask)
        else:
            annotations, forward_last = self.stack(embedded, source_mask, reverse=self.reverse)
            backward_last = ()
        return annotations, forward_last, backward_last


def joined_last(forward_last: tuple[State, ...], backward_last: tuple[State, ...]) -> tuple[State, ...]:
    """Each layer's last state with both directions side by side, as a decoder twice as wide starts from."""
    if not backward_last:
        return forward_last
    return tuple(
        tuple(torch.cat([ahead, back], dim=-1) for ahead, back in zip(one, other, strict=True))
        for one, other in zip(forward_last, backward_last, strict=True)
    )
