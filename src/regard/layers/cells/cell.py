"""Recurrent cells: the base class, the plain RNN, the GRU in two forms and the LSTM.

In: inputs (B, T, m) and their mask. Out: h at each word, and the last state. A state is a tuple, (h,) or (h, c) and
anything else that the cell carries, and belongs to the caller: nothing is kept on a module between calls.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.ops.affine import affine
from regard.ops.gru import gru_sequence, gru_step
from regard.ops.lstm import lstm_sequence, lstm_step
from regard.ops.rnn import rnn_sequence, rnn_step
from regard.ops.shapes import Bool, Float
from regard.ops.torch_gru import torch_gru_sequence, torch_gru_step
from regard.ops.unroll import State, unroll


class Cell(nn.Module):
    """A recurrence of `state_size` units over inputs of `input_size`, called on a whole padded batch.

    A new cell defines `num_gates` and `step`; it names `sequence_op` when it has a fast path over a whole sequence.

    Args:
        input_size: m.
        state_size: n.
        query_width: how many rows of W, after those of the gates, project the input into a query; 0 for most cells.

    Attributes:
        W: input matrices (g·n, m), one block of n rows for each of the g gates.
        U: recurrent matrices (g·n, n), in the same blocks.
        b: biases (g·n,), in the same blocks.
    """

    num_gates: ClassVar[int]
    """g, the number of blocks of n rows in W, U and b."""
    num_parts: ClassVar[int] = 1
    """The number of recurrent tensors in a state: 1 for h, 2 for h and c."""
    num_recurrent: ClassVar[int] = 1
    """The number of vectors of n units that U multiplies."""
    attends_to_past: ClassVar[bool] = False
    """Whether the cell attends to its own past states."""
    step_op: ClassVar[Callable[..., Any]]
    """One step: (W x + b, previous state, U, …, state mask) → state (and alpha over its own past)."""
    sequence_op: ClassVar[Callable[..., tuple[Tensor, State]] | None] = None
    """A padded batch: (inputs, mask, initial, W, U, b, …, reverse, state mask) → states, last state. None to loop over
    `step`."""

    def __init__(self, input_size: int, state_size: int, query_width: int = 0) -> None:
        super().__init__()
        self.input_size = input_size
        self.state_size = state_size
        self.query_width = query_width
        rows = self.num_gates * state_size
        self.W = nn.Parameter(torch.empty(rows + query_width, input_size))
        self.U = nn.Parameter(torch.empty(rows, self.num_recurrent * state_size))
        self.b = nn.Parameter(torch.empty(rows))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot's rule for each block of W, an orthogonal matrix for each block of U, zero biases."""
        rows = self.b.shape[0]
        for block in self.W.data[:rows].chunk(self.num_gates):
            nn.init.xavier_uniform_(block)
        if self.query_width:
            nn.init.xavier_uniform_(self.W.data[rows:])
        for block in self.U.data.chunk(self.num_gates):
            nn.init.orthogonal_(block)
        nn.init.zeros_(self.b)

    def _open_forget_gate(self) -> None:
        """Set the bias of an LSTM's forget gate, the second block, to 1, so that memory is kept from the start."""
        with torch.no_grad():
            self.b[self.state_size : 2 * self.state_size] = 1.0

    @property
    def projected_size(self) -> int:
        """The width of a projected input: the gates' rows, and the query's where there is one."""
        return self.W.shape[0]

    def project(self, inputs: Float[Tensor, "*rows m"]) -> Float[Tensor, "*rows gn"]:
        """W x + b, for one step or for all steps at once; a query has no bias."""
        bias = nn.functional.pad(self.b, (0, self.query_width)) if self.query_width else self.b
        return affine(inputs, self.W, bias)

    def zero_state(self, batch: int, like: Tensor) -> State:
        """The state before the first word, with the dtype and device of `like`."""
        return tuple(like.new_zeros(batch, self.state_size) for _ in range(self.num_parts))

    def initial_state(self, parts: State) -> State:
        """The state with the given h (and c), each (B, n): these, unless the cell carries more."""
        return parts

    def recurrent_parts(self, state: State) -> State:
        """The h (and c) of a state, without anything else that the cell carries."""
        return state[: self.num_parts]

    def op_arguments(self) -> tuple[Any, ...]:
        """The arguments of the cell's ops after U (one step) and after b (a sequence); none for most cells."""
        return ()

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous_state: State,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> State:
        """One step from a projected input.

        Args:
            projected: W x_t + b, from `project`.
            previous_state: from `zero_state`, `initial_state` or the last step.
            state_mask: variational dropout of the previous state before the product with U; the same at every step.
        """
        state: State = self.step_op(projected, previous_state, self.U, *self.op_arguments(), state_mask)
        return state

    def forward(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"] | None = None,
        initial: State | None = None,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State]:
        """Run over a padded batch, batch first.

        Args:
            inputs: x_1 … x_T, (B, T, m).
            mask: (B, T), True at real words; None if nothing is padded. Padding leaves the state as it was.
            initial: (h,) or (h, c), each (B, n), or a state this cell returned; None for zeros.
            reverse: read from the last word to the first; outputs stay at their words' positions.
            state_mask: variational dropout of the previous state before the product with U, (B, n), for all steps.

        Returns:
            h at each word, (B, T, n), zero on padding; and the state after the last word read, a tuple whose first
            part is h (B, n), followed by c (B, n) for an LSTM.

        Raises:
            ConfigError: the inputs are not (B, T, m), or a state is given in place of the mask.
        """
        mask, initial = self._check_inputs(inputs, mask, initial)
        states, last, _ = self._run(inputs, mask, initial, reverse, state_mask)
        return states, last

    def forward_with_alpha(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"] | None = None,
        initial: State | None = None,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
        """`forward`, with alpha (B, T, slots): a row for each word, a column for each past state in order.

        Raises:
            ConfigError: this cell does not attend to its past.
        """
        if not self.attends_to_past:
            raise ConfigError(
                f"{type(self).__name__} does not attend to its own past, so it has no alpha; the cells that do are "
                "rnn-read, rnn-sum, rnn-sum-keep and lstmn"
            )
        mask, initial = self._check_inputs(inputs, mask, initial)
        states, last, alpha = self._run(inputs, mask, initial, reverse, state_mask)
        assert alpha is not None, "a cell that attends to its past returns alpha"
        return states, last, alpha

    def _run(
        self, inputs: Tensor, mask: Tensor, initial: State, reverse: bool, state_mask: Tensor | None
    ) -> tuple[Tensor, State, Tensor | None]:
        """States, last state, and alpha for a cell that attends to its past; arguments as for `forward`, complete."""
        if self.sequence_op is None:

            def step(projected: Tensor, state: State) -> State:
                return self.step(projected, state, state_mask)

            return *unroll(step, self.project(inputs), mask, initial, reverse), None
        weights = (self.W, self.U, self.b, *self.op_arguments())
        return *self.sequence_op(inputs, mask, initial, *weights, reverse, state_mask), None

    def _check_inputs(
        self, inputs: Tensor, mask: Tensor | None, initial: State | None
    ) -> tuple[Tensor, State]:
        """The mask, all True if None, and the initial state in full, zeros if None."""
        name = type(self).__name__
        if inputs.dim() != 3 or inputs.shape[2] != self.input_size:
            raise ConfigError(
                f"{name}: inputs of shape {tuple(inputs.shape)}; give (batch, time, {self.input_size}), batch first"
            )
        if mask is None:
            mask = torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device)
        elif not isinstance(mask, Tensor):
            raise ConfigError(f"{name}: the second argument is the mask (B, T); give a state as initial=…")
        if initial is None:
            initial = self.zero_state(inputs.shape[0], inputs)
        elif len(initial) == self.num_parts:
            initial = self.initial_state(initial)
        return mask, initial

    def extra_repr(self) -> str:
        """For `print(model)`."""
        return f"{self.input_size}, {self.state_size}"


class RNN(Cell):
    """The plain recurrence (Elman 1990): h_t = tanh(W x_t + U h_{t−1} + b).

        outputs, (h,) = RNN(m, n)(x)          # x (B, T, m), outputs (B, T, n), h (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    num_gates = 1
    activation: ClassVar[str] = "tanh"
    step_op = staticmethod(rnn_step)
    sequence_op = staticmethod(rnn_sequence)

    def op_arguments(self) -> tuple[Any, ...]:
        """The activation's name."""
        return (self.activation,)


class SigmoidRNN(RNN):
    """h_t = σ(W x_t + U h_{t−1} + b), as Sutskever et al. 2014 print the traditional RNN (§2); called as `RNN` is."""

    activation = "sigmoid"


class GRU(Cell):
    """The gated recurrent unit as in Cho et al. 2014: an update gate of 1 takes the new state.

    z_t = σ(W_z x_t + U_z h_{t−1} + b_z), r_t = σ(W_r x_t + U_r h_{t−1} + b_r),
    h̃_t = tanh(W_h x_t + U_h (r_t∘h_{t−1}) + b_h), h_t = (1−z_t)∘h_{t−1} + z_t∘h̃_t.

    The reset comes before the product with U, so the weights of `torch.nn.GRU` do not fit: they fit `TorchGRU`.

        outputs, (h,) = GRU(m, n)(x)          # x (B, T, m), outputs (B, T, n), h (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    num_gates = 3
    step_op = staticmethod(gru_step)
    sequence_op = staticmethod(gru_sequence)


class TorchGRU(Cell):
    """The form of `torch.nn.GRU` (after Cho et al. 2014): an update gate of 1 keeps the old state.

    z_t = σ(W_z x_t + U_z h_{t−1} + b_z), r_t = σ(W_r x_t + U_r h_{t−1} + b_r),
    h̃_t = tanh(W_h x_t + b_h + r_t∘(U_h h_{t−1} + b_U)), h_t = (1−z_t)∘h̃_t + z_t∘h_{t−1}.

    The blocks of W, U and b are update, reset, candidate; torch stacks reset, update, candidate.

        outputs, (h,) = TorchGRU(m, n)(x)     # x (B, T, m), outputs (B, T, n), h (B, n)

    Args:
        input_size: m.
        state_size: n.

    Attributes:
        b_U: the second bias of the candidate (n,), inside the reset; torch's b_hn.
    """

    num_gates = 3
    step_op = staticmethod(torch_gru_step)
    sequence_op = staticmethod(torch_gru_sequence)

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__(input_size, state_size)
        self.b_U = nn.Parameter(torch.zeros(state_size))

    def op_arguments(self) -> tuple[Any, ...]:
        """The second bias."""
        return (self.b_U,)


class LSTM(Cell):
    """Long short-term memory (Hochreiter & Schmidhuber 1997) with a forget gate; the state is (h, c).

    i_t, f_t, o_t = σ(W x_t + U h_{t−1} + b), c̃_t = tanh(W_c x_t + U_c h_{t−1} + b_c),
    c_t = f_t∘c_{t−1} + i_t∘c̃_t, h_t = o_t∘tanh(c_t).

    The blocks of W, U and b are input gate, forget gate, candidate, output gate, as in `torch.nn.LSTM`, with one bias
    for torch's two.

        outputs, (h, c) = LSTM(m, n)(x)       # x (B, T, m), outputs (B, T, n), h and c (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    num_gates = 4
    num_parts = 2
    step_op = staticmethod(lstm_step)
    sequence_op = staticmethod(lstm_sequence)

    def reset_parameters(self) -> None:
        """As every cell, with a bias of 1 for the forget gate."""
        super().reset_parameters()
        self._open_forget_gate()
