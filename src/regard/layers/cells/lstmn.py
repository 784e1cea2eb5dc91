"""The LSTMN as a layer."""

from typing import Any

import torch
from torch import Tensor

from regard.layers.cells.self_attentive import MakeAttention, SelfAttentive, additive
from regard.ops.lstmn import lstmn_sequence, lstmn_step
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State


class LSTMN(SelfAttentive):
    """The LSTM over Σ α_i h_i and Σ α_i c_i (Cheng, Dong & Lapata 2016).

    With the energy qkv it is Σ α_i W_V h_i and Σ α_i c_i: values are projected, memories never. Of several heads the
    memories would see the mean alone, so `StackConfig` refuses them.

    Args:
        input_size: m.
        state_size: n.
        attention: makes the attention to the past; additive by default.
        span: how many real slots the tape keeps; 0 for all.
        output: one of `ops.lstmn.OUTPUTS`.
    """

    num_gates = 4
    num_parts = 2
    step_op = staticmethod(lstmn_step)

    def __init__(
        self,
        input_size: int,
        state_size: int,
        attention: MakeAttention = additive,
        span: int = 0,
        output: str = "tanh",
    ) -> None:
        super().__init__(input_size, state_size, attention, span)
        self.output = output

    def reset_parameters(self) -> None:
        """As every cell, with the forget gate's bias at 1 so that memory is kept from the start."""
        super().reset_parameters()
        with torch.no_grad():
            self.b[self.state_size : 2 * self.state_size] = 1.0

    def extra(self) -> tuple[Any, ...]:
        """The query's matrix, the scoring, and how h follows from c."""
        return *super().extra(), self.output

    def read(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: State,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
        """As `sequence`, and alpha: a row for each word, a column for each slot in the order of writing."""
        assert self.S is not None, "the lstmn asks before its update"
        weights = (self.W, self.U, self.b, self.S)
        return lstmn_sequence(
            inputs, mask, initial, *weights, self.scoring, self.output, self.span, reverse, state_mask
        )

    def memories(self, state: State) -> Float[Tensor, "B t n"]:
        """The memory c of every slot on a state's tape."""
        return state[5]
