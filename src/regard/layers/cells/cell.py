"""Recurrent cells: the base class, the plain RNN, the GRU and the LSTM, each in several forms of the literature.

In: inputs (B, T, m) and their mask. Out: h at each word, and the last state. A state is a tuple, (h,) or (h, c) and
anything else that the cell carries, and belongs to the caller: nothing is kept on a module between calls.
"""

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor, nn

from regard import ops
from regard.errors import ConfigError
from regard.ops import Inputs, Outputs, Recurrence, Weights
from regard.ops.affine import affine
from regard.ops.native import PackedWeights
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State, unroll


class Cell(nn.Module):
    """A recurrence of `state_size` units over inputs of `input_size`, called on a whole padded batch.

    A cell of the ops names itself in `kind`, and its `recurrence` says what it computes; any other new cell defines
    `num_gates` and `step`.

    Args:
        input_size: m.
        state_size: n.
        query_width: how many rows of W, after those of the gates, project the input into a query; 0 for most cells.
        bias: whether b is trained; if not, it is zero and no parameter.

    Attributes:
        W: input matrices (g·n, m), one block of n rows for each of the g gates.
        U: recurrent matrices (g·n, n), in the same blocks.
        b: biases (g·n,), in the same blocks.
        packed: its matrices as they were packed for decoding; None in training.
        weight_dropout: the probability of dropping an entry of U in training, with one mask for all rows and steps of a
            call (Merity et al. 2018); 0 unless it is set.
    """

    kind: ClassVar[str] = ""
    """The cell's name in `ops.recurrence.BLOCKS`; empty for one that the ops do not have."""
    num_gates: ClassVar[int]
    """g, the number of blocks of n rows in W, U and b."""
    num_state_gates: ClassVar[int | None] = None
    """The number of blocks in U, where it is not g: some gates may not see the state."""
    forget_block: ClassVar[int | None] = None
    """Which block is a forget gate, whose bias starts at 1, so that memory is kept from the start; None for none."""
    num_parts: ClassVar[int] = 1
    """The number of recurrent tensors in a state: 1 for h, 2 for h and c."""
    num_recurrent: ClassVar[int] = 1
    """The number of vectors of n units that U multiplies."""
    attends_to_past: ClassVar[bool] = False
    """Whether the cell attends to its own past states."""
    _own_step: ClassVar[bool] = False
    packed: PackedWeights | None = None
    weight_dropout: float = 0.0
    b: Tensor

    def __init__(self, input_size: int, state_size: int, query_width: int = 0, *, bias: bool = True) -> None:
        super().__init__()
        self.input_size = input_size
        self.state_size = state_size
        self.query_width = query_width
        self.bias = bias
        rows = self.num_gates * state_size
        self.W = nn.Parameter(torch.empty(rows + query_width, input_size))
        state_rows = rows if self.num_state_gates is None else self.num_state_gates * state_size
        self.U = nn.Parameter(torch.empty(state_rows, self.num_recurrent * state_size))
        self._add_bias("b", rows)
        self.reset_parameters()

    def __init_subclass__(cls, **options: object) -> None:
        """A class with a step of its own computes something that the ops do not have."""
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls._own_step = True

    @property
    def recurrence(self) -> Recurrence | None:
        """What it computes, as every backend of the ops understands it; None of a cell with a step of its own."""
        return None if self._own_step else self._description

    @cached_property
    def _description(self) -> Recurrence:
        return Recurrence(self.kind)

    def weights(self) -> Weights:
        """Its matrices, as the ops take them."""
        return Weights(self.U, self.W, self.b, packed=self.packed)

    def _add_bias(self, name: str, size: int) -> None:
        """A bias of zeros (size,): a parameter, or of a cell without biases a constant that is not saved."""
        zeros = torch.zeros(size)
        if self.bias:
            self.register_parameter(name, nn.Parameter(zeros))
        else:
            self.register_buffer(name, zeros, persistent=False)

    def reset_parameters(self) -> None:
        """Glorot's rule for each block of W, an orthogonal one for each of U, zero biases, an open forget gate."""
        rows = self.b.shape[0]
        for block in self.W.data[:rows].chunk(self.num_gates):
            nn.init.xavier_uniform_(block)
        if self.query_width:
            nn.init.xavier_uniform_(self.W.data[rows:])
        for block in torch.split(self.U.data, self.state_size):
            nn.init.orthogonal_(block)
        nn.init.zeros_(self.b)
        self.open_forget_gate()

    def open_forget_gate(self) -> None:
        """Set the bias of the forget gate to 1 (Jozefowicz et al. 2015); nothing without forget gate or bias."""
        if self.forget_block is not None and self.bias:
            with torch.no_grad():
                torch.split(self.b, self.state_size)[self.forget_block].fill_(1.0)

    @property
    def projected_size(self) -> int:
        """The width of a projected input: the gates' rows, and the query's where there is one."""
        return self.W.shape[0]

    def project(self, inputs: Float[Tensor, "*rows m"]) -> Float[Tensor, "*rows gn"]:
        """W x + b, for one step or for all steps at once; a query has no bias."""
        bias = nn.functional.pad(self.b, (0, self.query_width)) if self.query_width else self.b
        return affine(inputs, self.W, bias, self.packed)

    def zero_state(self, batch: int, like: Tensor) -> State:
        """The state before the first word, with the dtype and device of `like`."""
        return tuple(like.new_zeros(batch, self.state_size) for _ in range(self.num_parts))

    def initial_state(self, parts: State) -> State:
        """The state with the given h (and c), each (B, n): these, unless the cell carries more."""
        return parts

    def recurrent_parts(self, state: State) -> State:
        """The h (and c) of a state, without anything else that the cell carries."""
        return state[: self.num_parts]

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
        return ops.step(
            self._description, projected, self.weights(), previous_state, state_mask=state_mask
        ).last

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
        outputs = self._run(inputs, mask, initial, reverse, state_mask)
        return outputs.states, outputs.last

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
        outputs = self._run(inputs, mask, initial, reverse, state_mask)
        assert outputs.alpha is not None, "a cell that attends to its past returns alpha"
        return outputs.states, outputs.last, outputs.alpha

    def _run(
        self, inputs: Tensor, mask: Tensor, initial: State, reverse: bool, state_mask: Tensor | None
    ) -> Outputs:
        """All steps; arguments as for `forward`, complete."""
        recurrence = self.recurrence
        if recurrence is None:
            assert not self.weight_dropout, "U is dropped where an op multiplies by it"

            def step(projected: Tensor, state: State) -> State:
                return self.step(projected, state, state_mask)

            return Outputs(*unroll(step, self.project(inputs), mask, initial, reverse))
        given = Inputs(inputs, mask, reverse=reverse, state_mask=state_mask)
        weights = self.weights()
        if self.training and self.weight_dropout:
            weights = replace(weights, U=nn.functional.dropout(weights.U, self.weight_dropout))
        return ops.run(recurrence, given, weights, initial)

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

    kind = "rnn"
    num_gates = 1


class SigmoidRNN(RNN):
    """h_t = σ(W x_t + U h_{t−1} + b); with ``bias=False`` the RNN of Sutskever et al. 2014 (§2), who print no b.

    Called as `RNN` is.
    """

    kind = "rnn-sigmoid"


class GRU(Cell):
    """The gated recurrent unit of Cho et al. 2014, whose z is 1 − z here, as in Bahdanau et al. 2015.

    z_t = σ(W_z x_t + U_z h_{t−1} + b_z), r_t = σ(W_r x_t + U_r h_{t−1} + b_r),
    h̃_t = tanh(W_h x_t + U_h (r_t∘h_{t−1}) + b_h), h_t = (1−z_t)∘h_{t−1} + z_t∘h̃_t.

    The reset comes before the product with U, so the weights of `torch.nn.GRU` do not fit: they fit `TorchGRU`.

        outputs, (h,) = GRU(m, n)(x)          # x (B, T, m), outputs (B, T, n), h (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    kind = "gru"
    num_gates = 3


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

    kind = "gru-torch"
    num_gates = 3
    b_U: Tensor  # noqa: N815 (the letters of the equation)

    def __init__(self, input_size: int, state_size: int, *, bias: bool = True) -> None:
        super().__init__(input_size, state_size, bias=bias)
        self._add_bias("b_U", state_size)

    def weights(self) -> Weights:
        """With the second bias of the candidate."""
        return replace(super().weights(), b_U=self.b_U)


class MUT1(Cell):
    """MUT1 (Jozefowicz et al. 2015, §3.3), a GRU whose update gate does not see the state.

    z_t = σ(W_z x_t + b_z), r_t = σ(W_r x_t + U_r h_{t−1} + b_r),
    h̃_t = tanh(U_h (r_t∘h_{t−1}) + tanh(W_h x_t + b_h) + b_U), h_t = (1−z_t)∘h_{t−1} + z_t∘h̃_t.

    The paper has x_t where W_h x_t + b_h is, which an x_t of n units would allow. The blocks of W and b are update,
    reset, candidate, those of U reset and candidate. MUT2 of the same paper is `GRU` with W_r = I.

        outputs, (h,) = MUT1(m, n)(x)         # x (B, T, m), outputs (B, T, n), h (B, n)

    Args:
        input_size: m.
        state_size: n.

    Attributes:
        b_U: the bias of the candidate (n,), outside the inner tanh.
    """

    kind = "mut1"
    num_gates = 3
    num_state_gates = 2
    b_U: Tensor  # noqa: N815 (the letters of the equation)

    def __init__(self, input_size: int, state_size: int, *, bias: bool = True) -> None:
        super().__init__(input_size, state_size, bias=bias)
        self._add_bias("b_U", state_size)

    def weights(self) -> Weights:
        """With the second bias of the candidate."""
        return replace(super().weights(), b_U=self.b_U)


class MUT3(Cell):
    """MUT3 (Jozefowicz et al. 2015, §3.3), a GRU whose update gate sees tanh of the state.

    z_t = σ(W_z x_t + U_z tanh(h_{t−1}) + b_z), r_t = σ(W_r x_t + U_r h_{t−1} + b_r),
    h̃_t = tanh(W_h x_t + U_h (r_t∘h_{t−1}) + b_h), h_t = (1−z_t)∘h_{t−1} + z_t∘h̃_t.

        outputs, (h,) = MUT3(m, n)(x)         # x (B, T, m), outputs (B, T, n), h (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    kind = "mut3"
    num_gates = 3


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

    kind = "lstm"
    num_gates = 4
    num_parts = 2
    forget_block = 1


class PeepholeLSTM(Cell):
    """The LSTM whose gates see the memory (Gers & Schmidhuber 2000; Graves 2013, Eqs. 7–11); the state is (h, c).

    i_t, f_t = σ(W x_t + U h_{t−1} + p∘c_{t−1} + b), c̃_t = tanh(W_c x_t + U_c h_{t−1} + b_c),
    c_t = f_t∘c_{t−1} + i_t∘c̃_t, o_t = σ(W_o x_t + U_o h_{t−1} + p_o∘c_t + b_o), h_t = o_t∘tanh(c_t).

    Without bias, the LSTM of Chung et al. 2014 (§3.1). Blocks as in `LSTM`; p starts at zero, as the LSTM without it.

        outputs, (h, c) = PeepholeLSTM(m, n)(x)       # x (B, T, m), outputs (B, T, n), h and c (B, n)

    Args:
        input_size: m.
        state_size: n.

    Attributes:
        p: the peepholes (3n,): the diagonals of the matrices from the memory to input, forget and output gate.
    """

    kind = "lstm-peephole"
    num_gates = 4
    num_parts = 2
    forget_block = 1

    def __init__(self, input_size: int, state_size: int, *, bias: bool = True) -> None:
        super().__init__(input_size, state_size, bias=bias)
        self.p = nn.Parameter(torch.zeros(3 * state_size))

    def weights(self) -> Weights:
        """With the peepholes."""
        return replace(super().weights(), p=self.p)


class LSTM1997(Cell):
    """The first LSTM (Hochreiter & Schmidhuber 1997, §4 and A.1), without a forget gate; the state is (h, c).

    i_t, o_t = σ(W x_t + U h_{t−1} + b), c_t = c_{t−1} + i_t∘g(W_c x_t + U_c h_{t−1} + b_c), h_t = o_t∘h(c_t), with
    g(x) = 4σ(x) − 2 and h(x) = 2σ(x) − 1. The blocks of W, U and b are input gate, candidate, output gate. The paper
    cuts the gradient off at the gates; here it is whole.

        outputs, (h, c) = LSTM1997(m, n)(x)           # x (B, T, m), outputs (B, T, n), h and c (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    kind = "lstm-1997"
    num_gates = 3
    num_parts = 2


class _LSTMWithout(Cell):
    """An LSTM without one of its gates, whose factor is 1; the other blocks are in the order of `LSTM`'s."""

    num_gates = 3
    num_parts = 2


class LSTMNoInput(_LSTMWithout):
    """The LSTM without input gate (Jozefowicz et al. 2015, LSTM-i): c_t = f_t∘c_{t−1} + c̃_t, h_t = o_t∘tanh(c_t).

        outputs, (h, c) = LSTMNoInput(m, n)(x)        # x (B, T, m), outputs (B, T, n), h and c (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    kind = "lstm-no-input"
    forget_block = 0


class LSTMNoForget(_LSTMWithout):
    """The LSTM without forget gate (Jozefowicz et al. 2015, LSTM-f): c_t = c_{t−1} + i_t∘c̃_t, h_t = o_t∘tanh(c_t).

        outputs, (h, c) = LSTMNoForget(m, n)(x)       # x (B, T, m), outputs (B, T, n), h and c (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    kind = "lstm-no-forget"


class LSTMNoOutput(_LSTMWithout):
    """The LSTM without output gate (Jozefowicz et al. 2015, LSTM-o): c_t = f_t∘c_{t−1} + i_t∘c̃_t, h_t = tanh(c_t).

        outputs, (h, c) = LSTMNoOutput(m, n)(x)       # x (B, T, m), outputs (B, T, n), h and c (B, n)

    Args:
        input_size: m.
        state_size: n.
    """

    kind = "lstm-no-output"
    forget_block = 1
