"""The table of backends: who computes an op, and why not a faster one."""

import pytest
import torch
from tests.ops.by_backend import by, tape

from regard.ops import Asking, Inputs, Weights, backends, explain
from regard.ops.backends import BACKENDS, Choice, Question, choose, without
from regard.ops.dispatch import question
from regard.ops.native import Loaded, load, native_applies, native_off
from regard.ops.paths import naive_only
from regard.ops.tape import DotScoring
from regard.ops.word_loss import word_loss

compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
N = 4
MASK = torch.ones(2, 3, dtype=torch.bool)
ON_CPU = "tensors are on cpu"


def lstm(dtype=torch.float32, **options):
    x, h = torch.randn(2, 3, N, dtype=dtype), torch.zeros(2, N, dtype=dtype)
    weights = (torch.randn(*shape, dtype=dtype) for shape in ((4 * N, N), (4 * N, N), (4 * N,)))
    return by("chosen").lstm_sequence(x, MASK, (h, h), *weights, **options)


def chosen(run, *given, **options):
    with explain() as choices:
        run(*given, **options)
    (choice,) = choices
    return choice


@compiled
def test_the_fastest_that_can_is_chosen_and_the_others_say_why_not():
    assert chosen(lstm) == Choice("lstm", "C", {"Triton": ON_CPU})
    in_torch = chosen(lstm, torch.float64)
    assert in_torch.backend == "torch"
    assert in_torch.reasons == {"Triton": ON_CPU, "C": "parameters are float64, not float32"}
    with native_off():
        assert chosen(lstm).reasons["C"] == "native_off() is on"
    assert chosen(lstm, state_mask=torch.ones(2, N)).backend == "C"
    with naive_only():
        naive = chosen(lstm)
    assert (naive.backend, naive.reasons["torch"]) == ("naive", "naive_only() is on")


@compiled
def test_c_can_be_turned_off_for_some_ops():
    with native_off("lstm"):
        assert chosen(lstm).backend == "torch"
        assert native_applies(torch.randn(2, 2), op="gru")
        with native_off("gru"):
            assert chosen(lstm).backend == "torch"
            assert not native_applies(torch.randn(2, 2), op="gru")
    assert chosen(lstm).backend == "C"


@compiled
def test_each_recurrence_and_the_loss_are_explained():
    x, h, square = torch.randn(2, 3, N), torch.zeros(2, N), torch.randn(N, N)
    keys, b = torch.randn(2, 3, N), torch.zeros(4 * N)
    gates = torch.randn(4 * N, N)
    tape = (h, h, h, *[torch.zeros(2, 0, N)] * 3, torch.zeros(2, 0, dtype=torch.bool))
    ops = by("chosen")
    with explain() as choices:
        ops.rnn_sequence(x, MASK, (h,), square, square, b[:N], "sigmoid")
        ops.attending_lstm(x @ gates.T, (h, h), keys, keys, MASK, square, b[:N], gates, gates)
        ops.lstmn_sequence(x, MASK, tape, torch.randn(5 * N, N), gates, b, square, DotScoring())
        ops.lstmn_sequence(x, MASK, tape, torch.randn(5 * N, N), gates, b, square, _Own())
        word_loss(x[:, 0], torch.tensor([1, 2]), square, b[:N])
    assert [(choice.op, choice.backend) for choice in choices] == [
        *[
            ("rnn-sigmoid", "C"),
            ("attending lstm", "C"),
            ("lstmn", "C"),
            ("lstmn", "naive"),
            ("word loss", "C"),
        ]
    ]
    assert choices[2].reasons == {"Triton": ON_CPU}
    assert choices[3].reasons["C"] == "its energy is neither additive nor a dot product"


class _Own:
    """An energy that no fast path knows."""

    keys = values = staticmethod(lambda states: states)

    def attend(self, query, keys, values, mask):
        alpha = torch.softmax((query @ keys.mT).masked_fill(~mask.unsqueeze(1), -1e9), dim=-1)
        return alpha @ values, alpha


def test_what_a_gpu_lacks(monkeypatch):
    monkeypatch.setattr(backends, "kernels_refuse", lambda *_, dtype: "")

    def asked(n, dropped=None):
        state = (*[torch.zeros(2, n)] * 3, *[torch.zeros(2, 0, n)] * 3, torch.zeros(2, 0, dtype=torch.bool))
        weights = Weights(torch.ones(4 * n, n), past=Asking(torch.ones(n, n), DotScoring()))
        given = question(
            tape("tanh", DotScoring(), 2),
            Inputs(torch.zeros(2, 3, 5 * n), state_mask=dropped),
            weights,
            state,
        )
        return BACKENDS[0].supports(given)

    assert not asked(N)
    assert asked(N, torch.ones(2, N)) == "it has no dropout of states"


def test_nobody_listens_outside_the_block():
    with explain() as choices:
        pass
    lstm()
    assert choices == []


def test_a_choice_in_words():
    assert str(Choice("lstm", "C", {})) == "lstm: C"
    assert str(Choice("lstm", "torch", {"C": "no compiler"})) == "lstm: torch (not C: no compiler)"


def test_the_last_backend_computes_everything():
    question = Question("x", torch.ones(1), (torch.ones(1),), lacks=without("no", "Triton", "C", "torch"))
    assert choose(question) == "naive"
    assert [backend.name for backend in BACKENDS] == ["Triton", "C", "torch", "naive"]
    assert without("", "C") == {}


def test_a_library_that_is_not_there_says_why(monkeypatch):
    monkeypatch.setattr("regard.ops.native.choose.load", lambda: Loaded(None, "no compiler"))
    assert chosen(lstm).reasons["C"] == "no compiler"
