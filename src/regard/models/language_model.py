"""A recurrent language model: p(y) = Π_t p(y_t ∣ y_<t).

Over single lines it starts from BOS and a zero state; over continuous text the caller carries the state
from window to window (`batches/pad.py`). Its `embedding` and `stack` have the names and shapes of an encoder's and a
decoder's, so that these can be initialised from it (`models/transfer.py`).
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from regard.batches.pad import select_positions, token_positions
from regard.config import in_range, one_of
from regard.errors import ConfigError
from regard.layers import Dropout, Embedding, Output, RecurrentStack
from regard.models.model import INITIALIZATIONS, Model, initialize
from regard.models.stack import StackConfig, attends_to_past, build_stack
from regard.ops.unroll import State


@dataclass(frozen=True)
class LanguageModelConfig(StackConfig):
    """A language model: an embedding, a stack of recurrent layers, an output matrix."""

    place = "model"

    cell: str = "lstm"
    """The recurrent cell: any that an encoder can have."""
    tie: bool = False
    """Whether the output matrix is the embedding matrix; embedding_size and state_size must then be equal."""
    initialization: str = "glorot"
    """How parameters are initialised: glorot, or by the rule of a paper: bahdanau, zaremba, sutskever or luong."""
    weight_dropout: float = 0.0
    """The probability of dropping an entry of U, with one mask per batch (the AWD-LSTM, Merity et al. 2018)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range("model.weight_dropout", self.weight_dropout, 0, below=1)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        if self.tie and self.embedding_size != self.state_size:
            raise ConfigError(
                f"model.tie: the output matrix reads {self.state_size} units and the embedding has "
                f"{self.embedding_size}; set model.embedding_size = {self.state_size} to share one matrix"
            )

    @property
    def attends(self) -> bool:
        """Whether its cells attend to their own past."""
        return attends_to_past(self.cell)

    @property
    def attends_to_whole_past(self) -> bool:
        """Whether its cells attend to all that was read, not to a span: the state then grows with every word."""
        return self.attends and (self.memory is None or self.memory.span == 0)


States = tuple[State, ...]
"""Each layer's state, bottom first."""


class Predicted(NamedTuple):
    """A language model's predictions for given words.

    Attributes:
        logits: (N, V) for the N real tokens of a batch, row by row; (R, V) for one step of R rows.
        state: after the last word read.
    """

    logits: Tensor
    state: States


class PredictedWithAlpha(NamedTuple):
    """Predictions of a model whose cells attend to their own past, with that attention.

    Attributes:
        logits: (N, V), as in `Predicted`.
        state: after the last word read.
        alphas: for each layer (B, T, slots): the attention of each word to the slots of the tape.
    """

    logits: Tensor
    state: States
    alphas: tuple[Tensor, ...]


class LanguageModelNetwork(Model):
    """An embedding, a stack of recurrent layers and an output matrix.

    Args:
        config: sizes and kinds.
        vocabulary_size: V.
    """

    def __init__(self, config: LanguageModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.config: LanguageModelConfig = config
        self.embedding = Embedding(vocabulary_size, config.embedding_size)
        self.dropout = Dropout(config.dropout, config.variational)
        self.stack = build_stack(RecurrentStack, config, config.embedding_size)
        for cell in self.stack.layers:
            cell.weight_dropout = config.weight_dropout
        tied = self.embedding.E if config.tie else None
        self.output = Output(config.state_size, vocabulary_size, tied, bias=config.bias)
        initialize(self, config.initialization)

    def initial_state(self, batch: int) -> States:
        """The zero state, for `batch` rows."""
        return self.stack.zero_state(batch, self.embedding.E)

    def step(self, previous_ids: Tensor, state: States) -> Predicted:
        """One step: the logits of the word after `previous_ids`.

        Args:
            previous_ids: y_{t−1}, (R,).
            state: from `initial_state`, a window or the last step, R rows.
        """
        projected = self.stack.layers[0].project(self.embedding(previous_ids))  # (R, gn)
        top, new = self.stack.step(projected, state)
        return Predicted(self.output(top), new)

    def readouts(
        self, previous_ids: Tensor, mask: Tensor, positions: Tensor, state: States | None = None
    ) -> tuple[Tensor, States]:
        """As `forward`, without the output matrix: for a loss that computes the logits in parts.

        Args:
            previous_ids: y_0 … y_{T−1}, (B, T).
            mask: (B, T), True where a word is to be predicted.
            positions: (N,), the `token_positions` of `mask`.
            state: the last state of the window before; None for a zero state.

        Returns:
            The input of the output matrix at the real tokens, (N, n), and the state after the last word read.
        """
        embedded = self.dropout(self.embedding(previous_ids))  # (B, T, m)
        tops, last = self.stack(embedded, mask, state)  # (B, T, n)
        return select_positions(self.dropout(tops), positions), last

    def forward(self, previous_ids: Tensor, mask: Tensor, state: States | None = None) -> Predicted:
        """A whole batch of lines, or a window of continuous text.

        Args:
            previous_ids: y_0 … y_{T−1}, (B, T).
            mask: (B, T), True where a word is to be predicted.
            state: the last state of the window before, `detached`; None for a zero state.
        """
        readout, last = self.readouts(previous_ids, mask, token_positions(mask), state)
        return Predicted(self.output(readout), last)

    def forward_with_alpha(
        self, previous_ids: Tensor, mask: Tensor, state: States | None = None
    ) -> PredictedWithAlpha:
        """As `forward`, with the attention of each word to the past.

        Raises:
            ConfigError: the cells do not attend to their own past.
        """
        embedded = self.dropout(self.embedding(previous_ids))  # (B, T, m)
        tops, last, alphas = self.stack.forward_with_alpha(embedded, mask, state)
        readout = select_positions(self.dropout(tops), token_positions(mask))
        return PredictedWithAlpha(self.output(readout), last, alphas)


def detached(state: States) -> States:
    """The same state cut off from its gradient, as truncated backpropagation passes it to the next window."""
    return tuple(tuple(part.detach() for part in layer) for layer in state)
