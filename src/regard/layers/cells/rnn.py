"""The plain RNN as a layer, with tanh or with the logistic sigmoid."""

from typing import Any, ClassVar

from regard.layers.cells.cell import Cell
from regard.ops.rnn import rnn_sequence, rnn_step


class RNN(Cell):
    """h_t = tanh(W x_t + U h_{t−1} + b) (Elman 1990)."""

    num_gates = 1
    activation: ClassVar[str] = "tanh"
    step_op = staticmethod(rnn_step)
    sequence_op = staticmethod(rnn_sequence)

    def extra(self) -> tuple[Any, ...]:
        """The activation's name."""
        return (self.activation,)


class SigmoidRNN(RNN):
    """h_t = σ(W x_t + U h_{t−1} + b), as Sutskever et al. 2014 print the traditional RNN (§2)."""

    activation = "sigmoid"
