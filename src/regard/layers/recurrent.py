"""Cells stacked into layers, in one direction: over a whole sequence, or one step at a time.

In: inputs of the bottom layer (projected already, when stepping). Out: the top layer's states and the state
of every layer. Between layers come dropout and, if asked for, residual connections: the layer's input is
added to its output on the way up, never to what it remembers.

Layers that read the sentence both ways: h_j = [→h_j; ←h_j] (Bahdanau et al. 2015, Eq. 7).

Each layer above the bottom one reads the concatenated states of the layer below, both ways again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.layers.cells import GRU, Cell, CellFactory
from regard.layers.dropout import Dropout
from regard.ops.gru import gru_both_ways
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State


@dataclass(frozen=True)
class Noise:
    """The dropout masks of one pass, drawn before the loop over time.

    Attributes:
        between: for each layer above the bottom one, a mask (B, T, n) on its input, or None.
        recurrent: for each layer, a mask (B, n) on its previous state, or None.
    """

    between: Sequence[Tensor | None]
    recurrent: Sequence[Tensor | None]


class RecurrentStack(nn.Module):
    """`num_layers` cells of one kind, each reading the one below.

    Args:
        cell: makes a cell of an input's and a state's width: a class of `layers.cells.CELLS`, or a function.
        input_size: the width of the bottom layer's input.
        state_size: n, the same for every layer.
        num_layers: how many.
        residual: add a layer's input to its output, above the bottom layer.
        dropout: between layers.
        recurrent_dropout: on the previous state where it meets U, one mask a sentence.
        variational: one mask a sentence between layers too.
    """

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
        sizes = [input_size] + [state_size] * (num_layers - 1)
        self.cells = nn.ModuleList(cell(size, state_size) for size in sizes)
        self.residual = residual
        self.between = Dropout(dropout, variational)
        self.recurrent = Dropout(recurrent_dropout, variational=True)

    @property
    def layers(self) -> list[Cell]:
        """The cells, bottom first."""
        return list(self.cells)  # type: ignore[arg-type]

    def zero_state(self, batch: int, like: Tensor) -> tuple[State, ...]:
        """Each layer's state before anything was read."""
        return tuple(cell.zero_state(batch, like) for cell in self.layers)

    def start_states(self, parts: Sequence[State]) -> tuple[State, ...]:
        """Each layer's state that starts from a given h (and c)."""
        return tuple(cell.start_state(part) for cell, part in zip(self.layers, parts, strict=True))

    def ends(self, states: Sequence[State]) -> tuple[State, ...]:
        """What each layer's state says of what was read: h (and c)."""
        return tuple(cell.ends(state) for cell, state in zip(self.layers, states, strict=True))

    def draw_noise(self, batch: int, num_steps: int, like: Tensor) -> Noise:
        """The dropout masks of one training pass (all None in evaluation)."""
        n = self.layers[0].state_size
        between = [None] + [self.between.draw(batch, num_steps, n, like) for _ in self.layers[1:]]
        drawn = [self.recurrent.draw(batch, 1, n, like) for _ in self.layers]
        return Noise(between, [None if mask is None else mask[:, 0] for mask in drawn])

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous: Sequence[State],
        noise: Noise | None = None,
        t: int = 0,
    ) -> tuple[Float[Tensor, "B n"], tuple[State, ...]]:
        """One step through all layers.

        Args:
            projected: the bottom layer's W x_t + b, with whatever else its gates should see added.
            previous: each layer's last state.
            noise: from `draw_noise`, in training.
            t: which step of `noise` this is.

        Returns:
            What the top layer hands on, and each layer's new state.
        """
        states: list[State] = []
        handed_on = projected
        for k, cell in enumerate(self.layers):
            below = handed_on
            if k > 0:
                mask = None if noise is None else noise.between[k]
                handed_on = cell.project(below if mask is None else below * mask[:, t])
            states.append(cell.step(handed_on, previous[k], None if noise is None else noise.recurrent[k]))
            handed_on = states[-1][0]
            if self.residual and k > 0:
                handed_on = handed_on + below
        return handed_on, tuple(states)

    def forward(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: Sequence[State] | None = None,
        reverse: bool = False,
    ) -> tuple[Float[Tensor, "B T n"], tuple[State, ...]]:
        """A whole padded batch.

        Returns:
            The top layer's states, and each layer's last state.
        """
        tops, last, _ = self._run(inputs, mask, initial, reverse, looking=False)
        return tops, last

    def read(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: Sequence[State] | None = None,
        reverse: bool = False,
    ) -> tuple[Float[Tensor, "B T n"], tuple[State, ...], tuple[Tensor, ...]]:
        """As `forward`, and where each word looked in the past.

        Returns:
            The top layer's states, each layer's last state, and each layer's alpha (B, T, slots).

        Raises:
            ConfigError: the cells do not attend to their own past.
        """
        return self._run(inputs, mask, initial, reverse, looking=True)

    def _run(
        self,
        inputs: Tensor,
        mask: Tensor,
        initial: Sequence[State] | None,
        reverse: bool,
        looking: bool,
    ) -> tuple[Tensor, tuple[State, ...], tuple[Tensor, ...]]:
        """All layers over a padded batch; alphas only when `looking`."""
        batch, num_steps = mask.shape
        initial = self.zero_state(batch, inputs) if initial is None else initial
        noise = self.draw_noise(batch, num_steps, inputs)
        last: list[State] = []
        alphas: list[Tensor] = []
        handed_on = inputs
        for k, cell in enumerate(self.layers):
            below, between = handed_on, noise.between[k]
            handed_on = below if between is None else below * between
            if looking:
                handed_on, state, alpha = cell.read(handed_on, mask, initial[k], reverse, noise.recurrent[k])
                alphas.append(alpha)
            else:
                handed_on, state = cell.sequence(handed_on, mask, initial[k], reverse, noise.recurrent[k])
            last.append(state)
            if self.residual and k > 0:
                handed_on = handed_on + below
        return handed_on, tuple(last), tuple(alphas)


class BidirectionalStack(nn.Module):
    """`num_layers` pairs of cells; n units each way, 2n together. Arguments as for `RecurrentStack`."""

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
        sizes = [input_size] + [2 * state_size] * (num_layers - 1)

        def single(size: int) -> RecurrentStack:
            return RecurrentStack(cell, size, state_size, recurrent_dropout=recurrent_dropout)

        self.forward_layers = nn.ModuleList(single(size) for size in sizes)
        self.backward_layers = nn.ModuleList(single(size) for size in sizes)
        self.residual = residual
        self.between = Dropout(dropout, variational)

    def forward(
        self, inputs: Float[Tensor, "B T m"], mask: Bool[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "B T d"], tuple[State, ...], tuple[State, ...]]:
        """A whole padded batch.

        Returns:
            The top layer's annotations, 2n wide; each layer's last forward state →h_Tx; each layer's last
            backward state ←h_1; of both the ends, h (and c).
        """
        forward_last: list[State] = []
        backward_last: list[State] = []
        handed_on = inputs
        for k, (ahead, back) in enumerate(zip(self.forward_layers, self.backward_layers, strict=True)):
            below = handed_on
            if k > 0:
                handed_on = self.between(below)
            if self._at_once(ahead, back):  # type: ignore[arg-type]
                handed_on, last, first = _both_ways(ahead, back, handed_on, mask)  # type: ignore[arg-type]
                forward_last.append(last)
                backward_last.append(first)
            else:
                forward_states, last = ahead(handed_on, mask)
                forward_last += ahead.ends(last)  # type: ignore[operator]
                backward_states, last = back(handed_on, mask, reverse=True)
                backward_last += back.ends(last)  # type: ignore[operator]
                # Eq. 7
                handed_on = torch.cat([forward_states, backward_states], dim=-1)  # (B, T, 2n)
            if self.residual and k > 0:
                handed_on = handed_on + below
        return handed_on, tuple(forward_last), tuple(backward_last)

    def _at_once(self, ahead: RecurrentStack, back: RecurrentStack) -> bool:
        """Whether a layer is of the paper's own kind, which has an op for both ways at once."""
        dropping = self.training and ahead.recurrent.p > 0
        return type(ahead.layers[0]) is type(back.layers[0]) is GRU and not dropping


def _both_ways(
    ahead: RecurrentStack, back: RecurrentStack, inputs: Tensor, mask: Tensor
) -> tuple[Tensor, State, State]:
    """[→h_j; ←h_j] (B, T, 2n), →h_Tx and ←h_1 of a layer of the paper's GRUs."""
    one, other = ahead.layers[0], back.layers[0]
    start = (one.zero_state(mask.shape[0], inputs), other.zero_state(mask.shape[0], inputs))
    return gru_both_ways(inputs, mask, start, (one.W, one.U, one.b), (other.W, other.U, other.b))
