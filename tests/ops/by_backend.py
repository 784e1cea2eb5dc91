"""Recurrences of the ops by one backend each, called as their naive definitions are: with tensors in a row.

`by("C").lstm_sequence(inputs, mask, initial, W, U, b, reverse)` is what `ops.run` gives where C is chosen.
"""

from dataclasses import dataclass

import torch

from regard import ops
from regard.ops import Asking, Inputs, Read, Recurrence, Source, Weights, definitions, library_kernels
from regard.ops.by_hand import steps as by_hand
from regard.ops.kernels import recurrences as triton
from regard.ops.native import recurrences as native
from regard.ops.tape import AdditiveScoring, DotScoring

RUNS = {
    "chosen": lambda *given: ops.run(*given),
    "Triton": lambda *given: triton.run(*given),
    "C": lambda *given: native.run(*given),
    "by hand": lambda *given: by_hand.run(*given),
    "torch's kernel": lambda *given: library_kernels.run(*given),
    "naive": lambda *given: definitions.run(*given),
}


def energy_of(scoring):
    """The family of energies that a scoring has."""
    return {AdditiveScoring: "additive", DotScoring: "dot"}.get(type(scoring), "other")


def tape(form, scoring, span=0):
    """The description of a cell that attends to its own past: ``read``, ``sum``, ``sum-keep``, ``tanh``, ``plain``."""
    cell = {"tanh": "lstm", "plain": "lstm-plain"}.get(form, "rnn")
    asks = "new state" if form in ("sum", "sum-keep") else "last read"
    return Recurrence(cell, past=Read(energy_of(scoring), asks, "state", span), keeps=form == "sum-keep")


def attending(cell, v_a):
    """The description of RNNsearch's recurrence over a cell."""
    return Recurrence(cell, source=Read("dot" if v_a is None else "additive", "previous state", "gates"))


def feeding(cell, v_a):
    """The description of Luong's recurrence with input feeding over a cell."""
    return Recurrence(cell, source=Read("dot" if v_a is None else "additive", "new state", "readout"))


def asking(W_a, v_a, scale=1.0):
    """How a source is compared with whose keys come made."""
    return Asking(W_a, DotScoring(None, scale) if v_a is None else AdditiveScoring(None, v_a))


def in_float32(run):
    """A function of tensors that computes in float32, as C does; in and out float64."""

    def narrowed(*tensors):
        return tuple(each.double() for each in run(*(tensor.float() for tensor in tensors)))

    return narrowed


def by_threads(run, *tensors):
    """What a function and its backward pass give by one, two and three threads."""
    used, found = torch.get_num_threads(), []
    leaves = [tensor.requires_grad_() for tensor in tensors]
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            outputs = run(*leaves)
            loss = sum((out**2).sum() for out in outputs)
            found.append([*outputs, *torch.autograd.grad(loss, leaves, materialize_grads=True)])
    finally:
        torch.set_num_threads(used)
    return found


@dataclass(frozen=True)
class By:
    """One backend."""

    name: str

    def run(self, *given):
        return RUNS[self.name](*given)

    def sequence(self, cell, inputs, mask, initial, W, U, b, more=None, *, reverse=False, state_mask=None):
        """A cell over a padded batch; `more`: its peepholes or its second bias."""
        extra = {} if more is None else {"p" if cell == "lstm-peephole" else "b_U": more}
        given = Inputs(inputs, mask, reverse=reverse, state_mask=state_mask)
        outputs = self.run(Recurrence(cell), given, Weights(U, W, b, **extra), initial)
        return outputs.states, outputs.last

    def rnn_sequence(self, inputs, mask, initial, W, U, b, activation="tanh", reverse=False, state_mask=None):
        cell = "rnn" if activation == "tanh" else "rnn-sigmoid"
        return self.sequence(cell, inputs, mask, initial, W, U, b, reverse=reverse, state_mask=state_mask)

    def lstm_sequence(self, inputs, mask, initial, W, U, b, reverse=False, state_mask=None):
        return self.sequence("lstm", inputs, mask, initial, W, U, b, reverse=reverse, state_mask=state_mask)

    def gru_sequence(self, inputs, mask, initial, W, U, b, reverse=False, state_mask=None):
        return self.sequence("gru", inputs, mask, initial, W, U, b, reverse=reverse, state_mask=state_mask)

    def torch_gru_sequence(self, inputs, mask, initial, W, U, b, b_U, reverse=False, state_mask=None):
        options = {"reverse": reverse, "state_mask": state_mask}
        return self.sequence("gru-torch", inputs, mask, initial, W, U, b, b_U, **options)

    def peephole_lstm_sequence(self, inputs, mask, initial, W, U, b, p, reverse=False, state_mask=None):
        options = {"reverse": reverse, "state_mask": state_mask}
        return self.sequence("lstm-peephole", inputs, mask, initial, W, U, b, p, **options)

    def attending(
        self,
        cell,
        projected,
        initial,
        keys,
        annotations,
        mask,
        W_a,
        v_a,
        U,
        C,
        p=None,
        state_mask=None,
        scale=1.0,
    ):
        inputs = Inputs(projected, source=Source(keys, annotations, mask), state_mask=state_mask)
        weights = Weights(U, C=C, p=p, source=asking(W_a, v_a, scale))
        outputs = self.run(attending(cell, v_a), inputs, weights, initial)
        return outputs.states, outputs.contexts, outputs.source_alpha

    def attending_gru(self, projected, initial, *rest):
        return self.attending("gru", projected, (initial,), *rest)

    def attending_lstm(self, projected, initial, *rest):
        return self.attending("lstm", projected, initial, *rest)

    def feeding(
        self, cell, projected, initial, fed, keys, annotations, mask, W_a, v_a, F, U, W_c, dropped, **options
    ):
        inputs = Inputs(
            projected,
            source=Source(keys, annotations, mask),
            dropped=dropped,
            state_mask=options.get("state_mask"),
        )
        weights = Weights(
            U, F=F, W_c=W_c, p=options.get("p"), source=asking(W_a, v_a, options.get("scale", 1.0))
        )
        outputs = self.run(feeding(cell, v_a), inputs, weights, (*initial, fed))
        return outputs.states, outputs.source_alpha

    def input_feeding_lstm(self, *given):
        return self.feeding("lstm", *given)

    def tape_sequence(
        self, inputs, mask, initial, W, U, b, S, scoring, form, span=0, reverse=False, state_mask=None
    ):
        given = Inputs(inputs, mask, reverse=reverse, state_mask=state_mask)
        weights = Weights(U, W, b, past=Asking(S, scoring))
        outputs = self.run(tape(form, scoring, span), given, weights, initial)
        return outputs.states, outputs.last, outputs.alpha

    def self_attentive_rnn_sequence(self, *given, form=None, **options):
        given = given if form is None else (*given, form)
        return self.tape_sequence(*given, **options)

    def lstmn_sequence(self, *given, output=None, **options):
        given = given if len(given) > 8 else (*given, output or "tanh")
        return self.tape_sequence(*given, **options)

    def deep_fusion(self, projected, initial, source, fusion, output="tanh", span=0, state_mask=None):
        """As `ops.deep_fusion.naive`; returns the states, and alpha over the source and over the own past."""
        past = Read(energy_of(fusion.scoring), "last read", "state", span)
        other = Read(energy_of(fusion.source_scoring), "last read", "memory")
        recurrence = Recurrence("lstm" if output == "tanh" else "lstm-plain", other, past)
        source = Source(source.keys, source.values, source.mask, source.memories)
        weights = Weights(
            fusion.U,
            R=fusion.R,
            past=Asking(fusion.S, fusion.scoring),
            source=Asking(fusion.S_source, fusion.source_scoring),
        )
        outputs = self.run(
            recurrence, Inputs(projected, source=source, state_mask=state_mask), weights, initial
        )
        return outputs.states, (outputs.source_alpha, outputs.alpha)


def by(name):
    """One of `RUNS`, with the recurrences as methods."""
    return By(name)
