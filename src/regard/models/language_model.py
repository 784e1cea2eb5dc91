"""What a language model is made of.

A language model: p(y) = Π_t p(y_t ∣ y_<t).

Over single lines it starts from the begin mark and a zero state; over continuous text the caller carries the state
from window to window (`batches/pad.py`). Its `embedding` and `stack` are named and shaped as an encoder's and a
decoder's, so that they can be carried over (`models/transfer.py`).
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from regard.config import one_of
from regard.errors import ConfigError
from regard.layers import Dropout, Embedding, Output, RecurrentStack
from regard.models.initialize import initialize
from regard.models.model import Model
from regard.models.seq2seq import INITIALIZATIONS
from regard.models.stack import StackConfig, cell_of, remembers
from regard.models.state import at_positions, real_positions
from regard.ops.unroll import State


@dataclass(frozen=True)
class LanguageModelConfig(StackConfig):
    """Words → the next word: an embedding, a stack of recurrent layers, an output matrix."""

    place = "model"

    cell: str = "lstm"
    """As for an encoder, any cell there is."""
    tie: bool = False
    """The embedding is the output matrix too; both sizes must agree."""
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        if self.tie and self.embedding_size != self.state_size:
            raise ConfigError(
                f"model.tie: the output matrix reads {self.state_size} units and the embedding has "
                f"{self.embedding_size}; set model.embedding_size = {self.state_size} to share one matrix"
            )

    @property
    def attends(self) -> bool:
        """Whether its cells attend to their own past."""
        return remembers(self.cell)

    @property
    def remembers_everything(self) -> bool:
        """Whether its memory grows with all it reads: its cells attend to the whole past, not to a span of it."""
        return self.attends and (self.memory is None or self.memory.span == 0)


States = tuple[State, ...]
"""Each layer's state, bottom first."""


class Predicted(NamedTuple):
    """What a language model says of given words.

    Attributes:
        logits: (N, V) for the N real positions of a batch, row by row; (R, V) for one step of R rows.
        state: after the last word read.
    """

    logits: Tensor
    state: States


class Reading(NamedTuple):
    """What a model with cells that attend to their own past says of given words, and where it looked.

    Attributes:
        logits: (N, V), as in `Predicted`.
        state: after the last word read.
        alphas: for each layer (B, T, slots): the memory that each word attended to.
    """

    logits: Tensor
    state: States
    alphas: tuple[Tensor, ...]


class LanguageModelNetwork(Model):
    """An embedding, a stack of recurrent layers and an output matrix.

    Args:
        config: what it is made of.
        vocabulary_size: V.
    """

    def __init__(self, config: LanguageModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.config: LanguageModelConfig = config
        self.embedding = Embedding(vocabulary_size, config.embedding_size)
        self.dropout = Dropout(config.dropout, config.variational)
        self.stack = RecurrentStack(
            cell_of(config),
            config.embedding_size,
            config.state_size,
            config.num_layers,
            residual=config.residual,
            dropout=config.dropout,
            recurrent_dropout=config.recurrent_dropout,
            variational=config.variational,
        )
        self.output = Output(config.state_size, vocabulary_size, self.embedding.E if config.tie else None)
        initialize(self, config.initialization)

    def initial_state(self, batch: int) -> States:
        """The state before anything was read, for `batch` rows."""
        return self.stack.zero_state(batch, self.embedding.E)

    def step(self, previous_ids: Tensor, state: States) -> Predicted:
        """One word further.

        Args:
            previous_ids: y_{t−1}, (R,).
            state: from `initial_state`, a window or the last step, R rows.
        """
        projected = self.stack.layers[0].project(self.embedding(previous_ids))  # (R, gn)
        top, new = self.stack.step(projected, state)
        return Predicted(self.output(top), new)

    def readouts(
        self, previous_ids: Tensor, mask: Tensor, real: Tensor, state: States | None = None
    ) -> tuple[Tensor, States]:
        """As `forward`, up to the output matrix: what a loss that never has all logits needs.

        Args:
            previous_ids: y_0 … y_{T−1}, (B, T).
            mask: (B, T), True where a word is to be predicted.
            real: (N,), its `real_positions`.
            state: where the window before ended; None for a zero state.

        Returns:
            What the matrix reads at the real positions, (N, n), and the state after the last word read.
        """
        embedded = self.dropout(self.embedding(previous_ids))  # (B, T, m)
        tops, last = self.stack(embedded, mask, state)  # (B, T, n)
        return at_positions(self.dropout(tops), real), last

    def forward(self, previous_ids: Tensor, mask: Tensor, state: States | None = None) -> Predicted:
        """A whole batch of lines, or a window of continuous text.

        Args:
            previous_ids: y_0 … y_{T−1}, (B, T).
            mask: (B, T), True where a word is to be predicted.
            state: where the window before ended, its gradient cut by `detached`; None for a zero state.
        """
        readout, last = self.readouts(previous_ids, mask, real_positions(mask), state)
        return Predicted(self.output(readout), last)

    def forward_with_alpha(self, previous_ids: Tensor, mask: Tensor, state: States | None = None) -> Reading:
        """As `forward`, and where each word looked.

        Raises:
            ConfigError: the cells do not attend to their own past.
        """
        embedded = self.dropout(self.embedding(previous_ids))  # (B, T, m)
        tops, last, alphas = self.stack.forward_with_alpha(embedded, mask, state)
        readout = at_positions(self.dropout(tops), real_positions(mask))
        return Reading(self.output(readout), last, alphas)


def detached(state: States) -> States:
    """The same state, through which no gradient flows: what one window hands to the next."""
    return tuple(tuple(part.detach() for part in layer) for layer in state)
