"""torch.func goes through the ops by their naive path; torch.compile leaves their loops as they are."""

import subprocess
import sys

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import functional_call, grad, jvp, vmap

from regard.batches import pad_pairs
from regard.layers import CELLS
from regard.ops import explain
from regard.ops.attention import sparsemax
from regard.ops.paths import fused_wanted
from regard.ops.word_loss import word_loss
from regard.tasks.translate.objective import TranslationObjective
from regard.text.pairs import EncodedPair

PAIRS = [EncodedPair([4, 5, 6], [5, 6]), EncodedPair([7], [8, 4, 4])]
KINDS = {
    "bahdanau": {"kind": "bahdanau"},
    "bahdanau-lstm": {"kind": "bahdanau", "cell": "lstm"},
    "luong": {"kind": "luong", "cell": "lstm"},
    "luong-sparsemax": {"kind": "luong", "attention": {"normalizer": "sparsemax"}},
    "cho": {"kind": "cho", "cell": "gru-torch"},
    "sutskever": {"kind": "sutskever", "cell": "rnn"},
    "lstmn": {"kind": "bahdanau", "cell": "lstmn"},
    "hard-monotonic": {"kind": "hard-monotonic"},
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def loss_of(model, dtype=torch.float32):
    """The objective, the loss as a function of its parameters, these, and their gradients by backward."""
    objective, batch = TranslationObjective(model.to(dtype), 0.0), pad_pairs(PAIRS)
    parameters = dict(objective.named_parameters())
    gradients = torch.autograd.grad(objective(batch), [*parameters.values()], materialize_grads=True)
    weights = {name: parameter.detach() for name, parameter in parameters.items()}
    return objective, lambda p: functional_call(objective, p, (batch,)), weights, gradients


# float32 by kernels in C and by torch: sums in another order
LOOSELY = {"rtol": 1e-3, "atol": 1e-5}


# torch derives forward-mode formulas of its own by a compiler that it calls deprecated
derives_its_own = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


@every_kind
@derives_its_own
def test_grad_and_jvp_of_a_loss_are_those_of_backward(kind, tiny_model):
    _, loss, weights, gradients = loss_of(tiny_model(**kind))
    for found, expected in zip(grad(loss)(weights).values(), gradients, strict=True):
        torch.testing.assert_close(found, expected, **LOOSELY)
    direction = {name: torch.randn_like(weight) for name, weight in weights.items()}
    pairs = zip(gradients, direction.values(), strict=True)
    along = sum((g * d).sum() for g, d in pairs)
    # torch may sum the tangent in float64
    torch.testing.assert_close(jvp(loss, (weights,), (direction,))[1].to(along.dtype), along, **LOOSELY)


@pytest.mark.parametrize("name", ["gru", "lstm", "rnn", "gru-torch", "lstmn", "rnn-read", "lstm-peephole"])
def test_vmap_over_the_weights_of_a_recurrence(name):
    cell = CELLS[name](3, 4)
    inputs, mask = torch.randn(2, 5, 3), torch.tensor([[True] * 5, [True] * 2 + [False] * 3])
    several = [{key: torch.randn_like(value) for key, value in cell.state_dict().items()} for _ in range(3)]
    stacked = {key: torch.stack([each[key] for each in several]) for key in several[0]}

    def loss(weights):
        return functional_call(cell, weights, (inputs, mask))[0].square().sum()

    with explain() as choices:
        found = vmap(grad(loss))(stacked)
    assert all(choice.backend == "naive" for choice in choices)
    for k, each in enumerate(several):
        leaves = {key: value.requires_grad_() for key, value in each.items()}
        expected = torch.autograd.grad(loss(leaves), [*leaves.values()])
        for key, value in zip(leaves, expected, strict=True):
            torch.testing.assert_close(found[key][k], value, **LOOSELY)


@derives_its_own
def test_forward_mode_goes_through_backward_passes_derived_by_hand():
    W_o, b_o, targets = torch.randn(7, 4), torch.randn(7), torch.tensor([1, 2, 3])
    readout, direction = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4)
    (gradient,) = torch.autograd.grad(word_loss(readout, targets, W_o, b_o), readout)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(readout.detach(), direction)
        tangent = forward_ad.unpack_dual(word_loss(dual, targets, W_o, b_o)).tangent
        assert not fused_wanted()
    torch.testing.assert_close(tangent, (gradient * direction).sum())
    assert fused_wanted()


def test_the_reason_is_told():
    energies, mask = torch.randn(1, 2, 3), torch.ones(1, 3, dtype=torch.bool)
    cell = CELLS["gru"](3, 4)
    with explain() as choices:
        grad(lambda x: cell(x)[0].sum())(torch.randn(1, 2, 3))
    (choice,) = choices
    assert (choice.backend, choice.reasons["torch"]) == ("naive", "a transform of torch.func is active")
    grad(lambda e: sparsemax(e, mask).square().sum())(energies)


COMPILED = """
import torch
from regard.batches import pad_pairs
from regard.models import ModelConfig, Seq2Seq
from regard.ops import explain
from regard.tasks.translate.objective import TranslationObjective
from regard.text.pairs import EncodedPair

torch.set_num_threads(1)
batch = pad_pairs([EncodedPair([4, 5, 6], [5, 6]), EncodedPair([7], [8, 4, 4])])
for kind, cell in (("bahdanau", "gru"), ("luong", "lstm"), ("bahdanau", "lstmn")):
    decoder = {"kind": kind, "cell": cell, "embedding_size": 3, "state_size": 4, "readout_size": 3}
    config = {"encoder": {"cell": cell, "embedding_size": 3, "state_size": 2},
              "decoder": {**decoder, "attention": {"energy": "additive", "size": 6}}}
    objective = TranslationObjective(Seq2Seq(ModelConfig.from_mapping(config, "model"), 9, 9), 0.0)
    parameters = [*objective.parameters()]
    with explain() as choices:
        expected = torch.autograd.grad(objective(batch), parameters, materialize_grads=True)
    compiled = torch.compile(objective, backend="aot_eager")
    with explain() as compiled_choices:
        found = torch.autograd.grad(compiled(batch), parameters, materialize_grads=True)
    recurrences = [[str(choice) for choice in each if choice.op != "word loss"] for each in (choices, compiled_choices)]
    assert recurrences[0] == recurrences[1], recurrences
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)
print("the same gradients")
"""


def test_a_compiled_loss_has_the_same_gradients_by_the_same_kernels():
    """In a process of its own: the checks of shapes, which tests alone make, cannot be traced."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILED], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "the same gradients\n", done.stderr[-2000:]
