"""The encoder: source_ids and their mask → annotations and last states.

Knows nothing of the decoder: keys and values are computed by the model that has both.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.layers import LSTMN, BidirectionalStack, Dropout, Embedding, RecurrentStack
from regard.models.stack import StackConfig, build_stack
from regard.ops.unroll import State


@dataclass(frozen=True)
class EncoderConfig(StackConfig):
    """The encoder: an embedding and recurrent layers, in one direction or both."""

    place = "model.encoder"

    bidirectional: bool = True
    """Whether the source is read in both directions; annotations are then 2n wide (Bahdanau et al. 2015, Eq. 7)."""
    reverse: bool = False
    """Whether a unidirectional encoder reads from the last word to the first (Sutskever et al. 2014, §3.3)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bidirectional and self.reverse:
            raise ConfigError(
                "model.encoder.reverse: a bidirectional encoder reads both ways; leave it out, or set "
                "bidirectional = false"
            )

    @property
    def annotation_size(self) -> int:
        """The width of an annotation h_j."""
        return self.state_size * (2 if self.bidirectional else 1)


class Encoder(nn.Module):
    """An embedding and a stack of recurrent layers, in one direction or both.

    Args:
        config: sizes and kinds.
        embedding: E_x; the model makes it, as it may be shared.
    """

    def __init__(self, config: EncoderConfig, embedding: Embedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.reverse = config.reverse
        self.dropout = Dropout(config.dropout, config.variational)
        self.stack: BidirectionalStack | RecurrentStack
        if config.bidirectional:
            self.stack = build_stack(BidirectionalStack, config, config.embedding_size)
        else:
            self.stack = build_stack(RecurrentStack, config, config.embedding_size)

    def forward(
        self, source_ids: Tensor, source_mask: Tensor
    ) -> tuple[Tensor, tuple[State, ...], tuple[State, ...]]:
        """Read a padded batch.

        Args:
            source_ids: (B, Tx), each row ended by EOS.
            source_mask: (B, Tx), True at real words.

        Returns:
            Annotations (B, Tx, d), each at its own word in whichever direction the source is read; each layer's last
            forward state; each layer's last backward state (empty for a unidirectional encoder). States are h (and c).
        """
        annotations, forward_last, backward_last, _ = self.forward_with_memories(source_ids, source_mask)
        return annotations, forward_last, backward_last

    def forward_with_memories(
        self, source_ids: Tensor, source_mask: Tensor
    ) -> tuple[Tensor, tuple[State, ...], tuple[State, ...], Tensor | None]:
        """As `forward`, and the top layer's memory c at each word (B, Tx, n), zero on padding.

        The memories are for deep fusion: None unless the encoder is a unidirectional lstmn, not reversed, that keeps
        every slot of its tape.
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
    """Each layer's last state, the directions concatenated: the initial state of a decoder twice as wide."""
    if not backward_last:
        return forward_last
    return tuple(
        tuple(torch.cat(parts, dim=-1) for parts in zip(forward_state, backward_state, strict=True))
        for forward_state, backward_state in zip(forward_last, backward_last, strict=True)
    )
