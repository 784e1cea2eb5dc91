"""Cells that attend to their own past: any attention, an initial state in slot 0, and attentions that users add."""

import pytest
import torch
from torch import Tensor

from regard.layers import CELLS, ENERGIES, LSTMN, Concat, Dot, RNNRead, RNNSum, SelfAttentive, build_attention
from regard.layers.cells.self_attentive import LayerScoring, scoring_of
from regard.ops.paths import naive_only
from regard.ops.tape import AdditiveScoring, DotScoring

M, N, B, T = 3, 4, 2, 5
MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
KINDS = [name for name, kind in CELLS.items() if issubclass(kind, SelfAttentive)]
SCORINGS = {energy: {"energy": energy} for energy in ENERGIES} | {
    "two heads": {"energy": "qkv", "heads": 2},
    "sparsemax": {"energy": "additive", "normalizer": "sparsemax"},
}


def make_cell(kind: str, span: int = 0, **scoring: object) -> SelfAttentive:
    def attention(query_size, annotation_size):
        return build_attention(scoring["energy"], query_size, annotation_size, 6, **options)

    options = {name: value for name, value in scoring.items() if name != "energy"}
    cell = CELLS[kind](M, N, attention, span).double()
    generator = torch.Generator().manual_seed(1)
    for parameter in cell.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    return cell


def start_of(cell: SelfAttentive) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(2)
    parts = [torch.randn(B, N, generator=generator, dtype=torch.float64) for _ in range(cell.num_parts)]
    return cell.initial_state(tuple(part.requires_grad_() for part in parts))


def everything(cell: SelfAttentive, inputs: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Outputs, and the gradient of their squares to every parameter and the inputs."""
    inputs = inputs.clone().requires_grad_()
    states, last, alpha = cell.forward_with_alpha(inputs, MASK, start_of(cell))
    outputs = [states, alpha, *last[:-1]]
    value = sum((out**2).sum() for out in outputs)
    return outputs, torch.autograd.grad(value, [inputs, *cell.parameters()], materialize_grads=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scoring", SCORINGS.values(), ids=SCORINGS.keys())
def test_any_attention_gives_the_same_by_both_paths_and_step_by_step(kind, scoring):
    cell = make_cell(kind, **scoring)
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    outputs, grads = everything(cell, inputs)
    with naive_only():
        plain, plain_grads = everything(cell, inputs)
    torch.testing.assert_close(outputs, plain, rtol=1e-11, atol=1e-12)
    torch.testing.assert_close(grads, plain_grads, rtol=1e-9, atol=1e-11)
    state = start_of(cell)
    for t in range(3):  # both rows are real so far
        state = cell.step(cell.project(inputs[:, t]), state)
        torch.testing.assert_close(state[0], outputs[0][:, t], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_which_attentions_have_a_fused_form(kind):
    scorings = {name: type(make_cell(kind, **scoring).scoring) for name, scoring in SCORINGS.items()}
    fused = {"additive": AdditiveScoring, "concat": AdditiveScoring}
    fused |= dict.fromkeys(["dot", "scaled-dot", "bilinear", "general", "qk"], DotScoring)
    assert scorings == dict.fromkeys(SCORINGS, LayerScoring) | fused


def test_a_subclass_of_an_attention_is_never_fused_as_its_base():
    class Doubled(Dot):
        def score(self, projected: Tensor, keys: Tensor) -> Tensor:
            return 2 * super().score(projected, keys)

    own, plain = RNNRead(M, N, Doubled), RNNRead(M, N, Dot)
    own.load_state_dict(plain.state_dict())
    assert isinstance(own.scoring, LayerScoring)
    inputs = torch.randn(B, T, M)
    alphas = [cell.forward_with_alpha(inputs, MASK, cell.zero_state(B, inputs))[2] for cell in (own, plain)]
    assert not torch.allclose(*alphas)


@pytest.mark.parametrize("kind", KINDS)
def test_an_initial_state_is_the_first_slot(kind):
    """The first word can attend to nothing else; a cell that attends after its update has it as first summary, too."""
    cell = make_cell(kind, energy="additive")
    start = start_of(cell)
    h, summary, valid = start[0], start[cell.num_parts], start[-1]
    assert valid.tolist() == [[True]] * B
    values = start[cell.num_parts + 2]
    torch.testing.assert_close(values[:, 0], h, rtol=0, atol=0)
    torch.testing.assert_close(summary, torch.zeros_like(h) if cell.attends_first else h, rtol=0, atol=1e-15)
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    _, last, alpha = cell.forward_with_alpha(inputs, MASK, start)
    assert alpha.shape == (B, T, T + 1)
    if cell.attends_first:
        assert alpha[:, 0].tolist() == [[1.0] + [0.0] * T] * B
    assert last[-1].tolist() == [[True] * 6, [True] * 4 + [False] * 2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_start_that_mixed_precision_narrowed_is_as_wide_as_the_parameters(kind):
    cell = make_cell(kind, energy="qkv").float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        state = cell.initial_state(
            tuple(torch.ones(B, N, dtype=torch.bfloat16) for _ in range(cell.num_parts))
        )
    assert [part.dtype for part in state] == [torch.float32] * (len(state) - 1) + [torch.bool]


def test_the_sum_of_a_start_with_projected_values_is_projected():
    cell = make_cell("rnn-sum", energy="qkv", heads=2)
    start = start_of(cell)
    torch.testing.assert_close(start[1], start[0] @ cell.attention.W_V.T @ cell.attention.W_O.T)


def test_the_query_of_the_lstmn_is_the_papers():
    """a_i = vᵀ tanh(W_h h_i + W_x x_t + W_s s_{t−1}), W_x the last rows of W."""
    cell = make_cell("lstmn", energy="additive")
    inputs = torch.randn(1, 3, M, dtype=torch.float64)
    mask = torch.ones(1, 3, dtype=torch.bool)
    states, _, alpha = cell.forward_with_alpha(inputs, mask, cell.zero_state(1, inputs))
    W_h, W_x, W_s, v = cell.attention.U_a, cell.W[4 * N :], cell.S, cell.attention.v_a
    s_2 = states[0, 0]  # at the second word all weight is on the first
    energies = [v @ torch.tanh(W_h @ states[0, i] + W_x @ inputs[0, 2] + W_s @ s_2) for i in range(2)]
    torch.testing.assert_close(alpha[0, 2, :2], torch.stack(energies).softmax(0), rtol=0, atol=1e-14)


def test_the_align_of_the_sum_is_between_states():
    """α_i = align(h_i, h_t), i ≤ t: with the dot product, h_iᵀ h_t without parameters."""
    cell = make_cell("rnn-sum", energy="dot")
    assert {name for name, _ in cell.named_parameters()} == {"W", "U", "b"}
    inputs = torch.randn(1, 3, M, dtype=torch.float64)
    mask = torch.ones(1, 3, dtype=torch.bool)
    states, _, alpha = cell.forward_with_alpha(inputs, mask, cell.zero_state(1, inputs))
    expected = (states[0] @ states[0, 2]).softmax(0)
    torch.testing.assert_close(alpha[0, 2], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_a_span_bounds_the_tape(kind):
    cell = make_cell(kind, span=2, energy="additive")
    state = start_of(cell)
    for _ in range(4):
        state = cell.step(cell.project(torch.randn(B, M, dtype=torch.float64)), state)
    assert all(part.shape[1] == 2 for part in state[cell.num_parts + 1 :])


def test_the_memories_of_an_lstmn_are_those_of_its_tape():
    cell = make_cell("lstmn", energy="additive")
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    _, last = cell(inputs, MASK, cell.zero_state(B, inputs))
    memories = cell.memories(last)
    assert memories.shape == (B, T, N)
    torch.testing.assert_close(memories[0, 4], last[1][0], rtol=0, atol=0)
    torch.testing.assert_close(memories[1, 2], last[1][1], rtol=0, atol=0)
    assert not memories[1, 3:].any()


def test_plain_output_is_the_lectures():
    """h = o ∘ c: where tanh(c) would be below c, h is larger."""
    tanh, plain = LSTMN(M, N), LSTMN(M, N, output="plain")
    plain.load_state_dict(tanh.state_dict())
    inputs, mask = torch.randn(1, 1, M), torch.ones(1, 1, dtype=torch.bool)
    h, (_, c, *_) = tanh(inputs, mask, tanh.zero_state(1, inputs))
    other, (_, same, *_) = plain(inputs, mask, plain.zero_state(1, inputs))
    torch.testing.assert_close(same, c)
    torch.testing.assert_close(other[:, 0] * c.tanh(), h[:, 0] * c)


def test_scoring_of_a_printed_concat_splits_its_matrix():
    cell = RNNSum(M, N, lambda q, n: Concat(q, n, 6))
    scoring = scoring_of(cell.attention)
    assert torch.equal(torch.cat([cell.query_matrix, scoring.U_a], dim=1), cell.attention.W_a)
