"""Recurrent cells stacked into layers, in one direction or both.

In: inputs (B, T, m) and their mask; for a single step, the bottom layer's projected input. Out: the top layer's states
and the last state of every layer. Between layers come dropout and, optionally, residual connections: a layer's input is
added to its output, never to its state. A bidirectional layer gives h_j = [→h_j; ←h_j] (Bahdanau et al. 2015, Eq. 7),
and each layer above reads the concatenation, in both directions again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from regard.layers.cells import Cell, CellFactory
from regard.layers.feedforward import Dropout
from regard.ops import Inputs, run_both
from regard.ops.paths import fused_wanted
from regard.ops.record import Equation, record, scope
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State

EQUATIONS = {
    "input": Equation("x_t"),
    "below": Equation("x_t = h_t of the layer below"),
    "state": Equation("h_t = f(x_t, h_{t−1})"),
    "output": Equation("h_t + x_t"),
}
"""What every layer has: its input and, where its cell does not say more, its state; with a residual connection its
output, too."""


@dataclass(frozen=True)
class DropoutMasks:
    """The dropout masks of one pass, sampled before the loop over time.

    Attributes:
        between: for each layer above the bottom one, a mask (B, T, n) on its input, or None.
        recurrent: for each layer, a mask (B, n) on its previous state, or None.
    """

    between: Sequence[Tensor | None]
    recurrent: Sequence[Tensor | None]


class Stack(nn.Module):
    """Layers of cells, each reading the one below: what the stacks of one and of two directions share."""

    num_directions: ClassVar[int]

    def __init__(
        self,
        cell: CellFactory,
        input_size: int,
        state_size: int,
        num_layers: int = 1,
        *,
        residual: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        variational: bool = False,
    ) -> None:
        super().__init__()
        sizes = [input_size] + [self.num_directions * state_size] * (num_layers - 1)
        self._add_layers(cell, sizes, state_size, recurrent_dropout)
        self.residual = residual
        self.between = Dropout(dropout, variational)

    def _add_layers(
        self, cell: CellFactory, sizes: Sequence[int], state_size: int, recurrent_dropout: float
    ) -> None:
        """Make the layers, bottom first, from the widths of their inputs."""
        raise NotImplementedError


class RecurrentStack(Stack):
    """`num_layers` cells of one kind, each reading the one below.

        outputs, states = RecurrentStack(LSTM, m, n, 2)(x)      # x (B, T, m), outputs (B, T, n)

    Args:
        cell: (input size, state size) → a cell: a class of `layers.cells.CELLS`, or a function.
        input_size: the width of the bottom layer's input.
        state_size: n, the same for every layer.
        num_layers: the number of cells stacked.
        residual: add a layer's input to its output, above the bottom layer.
        dropout: between layers.
        recurrent_dropout: on the previous state before the product with U, one mask per sentence.
        variational: one mask per sentence between layers, too (Gal & Ghahramani 2016).
    """

    num_directions = 1

    def _add_layers(
        self, cell: CellFactory, sizes: Sequence[int], state_size: int, recurrent_dropout: float
    ) -> None:
        self.cells = nn.ModuleList(cell(size, state_size) for size in sizes)
        self.recurrent = Dropout(recurrent_dropout, variational=True)

    @property
    def layers(self) -> list[Cell]:
        """The cells, bottom first."""
        return list(self.cells)  # type: ignore[arg-type]

    def zero_state(self, batch: int, like: Tensor) -> tuple[State, ...]:
        """Each layer's state before the first word."""
        return tuple(cell.zero_state(batch, like) for cell in self.layers)

    def initial_states(self, parts: Sequence[State]) -> tuple[State, ...]:
        """Each layer's state with the given h (and c), each (B, n)."""
        return tuple(cell.initial_state(part) for cell, part in zip(self.layers, parts, strict=True))

    def recurrent_parts(self, states: Sequence[State]) -> tuple[State, ...]:
        """The h (and c) of each layer's state."""
        return tuple(cell.recurrent_parts(state) for cell, state in zip(self.layers, states, strict=True))

    def sample_masks(self, batch: int, num_steps: int, like: Tensor) -> DropoutMasks:
        """The dropout masks of one training pass (all None in evaluation)."""
        n = self.layers[0].state_size
        between = [None] + [self.between.sample_mask(batch, num_steps, n, like) for _ in self.layers[1:]]
        recurrent = [self.recurrent.sample_mask(batch, 1, n, like) for _ in self.layers]
        return DropoutMasks(between, [None if mask is None else mask[:, 0] for mask in recurrent])

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous: Sequence[State],
        masks: DropoutMasks | None = None,
        t: int = 0,
    ) -> tuple[Float[Tensor, "B n"], tuple[State, ...]]:
        """One step through all layers.

        Args:
            projected: the bottom layer's W x_t + b, and any other term of its gates.
            previous: each layer's last state.
            masks: from `sample_masks`, in training.
            t: which step of `masks` this is.

        Returns:
            The top layer's output, and each layer's new state.
        """
        states: list[State] = []
        hidden = projected
        for k, cell in enumerate(self.layers):
            below = hidden
            with scope("layer", k):
                if k > 0:
                    record(EQUATIONS, below=below)
                    mask = None if masks is None else masks.between[k]
                    hidden = cell.project(below if mask is None else below * mask[:, t])
                states.append(cell.step(hidden, previous[k], None if masks is None else masks.recurrent[k]))
                hidden = states[-1][0]
                record(EQUATIONS, state=hidden)
                if self.residual and k > 0:
                    hidden = hidden + below
                    record(EQUATIONS, output=hidden)
        return hidden, tuple(states)

    def forward(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"] | None = None,
        initial: Sequence[State] | None = None,
        reverse: bool = False,
    ) -> tuple[Float[Tensor, "B T n"], tuple[State, ...]]:
        """Run over a padded batch, batch first.

        Args:
            inputs: x_1 … x_T, (B, T, m).
            mask: (B, T), True at real words; None if nothing is padded.
            initial: each layer's state, bottom first; None for zeros.
            reverse: read from the last word to the first; outputs stay at their words' positions.

        Returns:
            The top layer's states (B, T, n), zero on padding, and each layer's last state.
        """
        tops, last, _ = self._run(inputs, mask, initial, reverse, with_alpha=False)
        return tops, last

    def forward_with_alpha(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"] | None = None,
        initial: Sequence[State] | None = None,
        reverse: bool = False,
    ) -> tuple[Float[Tensor, "B T n"], tuple[State, ...], tuple[Tensor, ...]]:
        """`forward`, with the attention of each word to the past; see `Cell.forward_with_alpha`.

        Returns:
            The top layer's states, each layer's last state, and each layer's alpha (B, T, slots).

        Raises:
            ConfigError: the cells do not attend to their own past.
        """
        return self._run(inputs, mask, initial, reverse, with_alpha=True)

    def _run(
        self,
        inputs: Tensor,
        mask: Tensor | None,
        initial: Sequence[State] | None,
        reverse: bool,
        with_alpha: bool,
    ) -> tuple[Tensor, tuple[State, ...], tuple[Tensor, ...]]:
        """All layers over a padded batch; alphas only if `with_alpha`."""
        batch, num_steps = inputs.shape[:2]
        initial = self.zero_state(batch, inputs) if initial is None else initial
        masks = self.sample_masks(batch, num_steps, inputs)
        last: list[State] = []
        alphas: list[Tensor] = []
        hidden = inputs
        for k, cell in enumerate(self.layers):
            below, between = hidden, masks.between[k]
            hidden = below if between is None else below * between
            with scope("layer", k):
                record(EQUATIONS, **{"below" if k else "input": hidden})
                if with_alpha:
                    hidden, state, alpha = cell.forward_with_alpha(
                        hidden, mask, initial[k], reverse, masks.recurrent[k]
                    )
                    alphas.append(alpha)
                else:
                    hidden, state = cell(hidden, mask, initial[k], reverse, masks.recurrent[k])
                record(EQUATIONS, state=hidden)
                last.append(state)
                if self.residual and k > 0:
                    hidden = hidden + below
                    record(EQUATIONS, output=hidden)
        return hidden, tuple(last), tuple(alphas)


class BidirectionalStack(Stack):
    """`num_layers` pairs of cells (Schuster & Paliwal 1997), n units in each direction, 2n together.

        annotations, forward_last, backward_last = BidirectionalStack(GRU, m, n)(x)     # annotations (B, T, 2n)

    Arguments as for `RecurrentStack`.
    """

    num_directions = 2

    def _add_layers(
        self, cell: CellFactory, sizes: Sequence[int], state_size: int, recurrent_dropout: float
    ) -> None:
        def single(size: int) -> RecurrentStack:
            return RecurrentStack(cell, size, state_size, recurrent_dropout=recurrent_dropout)

        self.forward_layers = nn.ModuleList(single(size) for size in sizes)
        self.backward_layers = nn.ModuleList(single(size) for size in sizes)

    def forward(
        self, inputs: Float[Tensor, "B T m"], mask: Bool[Tensor, "B T"] | None = None
    ) -> tuple[Float[Tensor, "B T d"], tuple[State, ...], tuple[State, ...]]:
        """Run over a padded batch, batch first.

        Args:
            inputs: x_1 … x_T, (B, T, m).
            mask: (B, T), True at real words; None if nothing is padded.

        Returns:
            The top layer's annotations, 2n wide; each layer's last forward state →h_Tx; each layer's last
            backward state ←h_1; of both, h (and c).
        """
        if mask is None:
            mask = torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device)
        forward_last: list[State] = []
        backward_last: list[State] = []
        hidden = inputs
        for k, (ahead, back) in enumerate(zip(self.forward_layers, self.backward_layers, strict=True)):
            below = hidden
            if k > 0:
                hidden = self.between(below)
            cells: tuple[Cell, Cell] = (ahead.layers[0], back.layers[0])  # type: ignore[index, assignment]
            if self._runs_both(*cells):
                hidden, last, first = _both_directions(*cells, hidden, mask)
                forward_last.append(last)
                backward_last.append(first)
            else:
                with scope("layer", k), scope("forward"):
                    forward_states, last = ahead(hidden, mask)
                forward_last += ahead.recurrent_parts(last)  # type: ignore[operator]
                with scope("layer", k), scope("backward"):
                    backward_states, last = back(hidden, mask, reverse=True)
                backward_last += back.recurrent_parts(last)  # type: ignore[operator]
                # Eq. 7
                hidden = torch.cat([forward_states, backward_states], dim=-1)  # (B, T, 2n)
            if self.residual and k > 0:
                hidden = hidden + below
        return hidden, tuple(forward_last), tuple(backward_last)

    def _runs_both(self, ahead: Cell, back: Cell) -> bool:
        """Whether an op has both directions of a layer at once: of cells alike, without a tape or dropout of states."""
        dropping = self.training and self.forward_layers[0].recurrent.p > 0  # type: ignore[union-attr, operator]
        same, recurrence = ahead.recurrence == back.recurrence, ahead.recurrence
        plain = recurrence is not None and not recurrence.reads
        return plain and same and not dropping and fused_wanted()


def _both_directions(ahead: Cell, back: Cell, inputs: Tensor, mask: Tensor) -> tuple[Tensor, State, State]:
    """[→h_j; ←h_j] (B, T, 2n), →h_Tx and ←h_1 of a layer of two cells."""
    assert ahead.recurrence is not None
    states = (ahead.zero_state(mask.shape[0], inputs), back.zero_state(mask.shape[0], inputs))
    return run_both(ahead.recurrence, Inputs(inputs, mask), ahead.weights(), back.weights(), states)
