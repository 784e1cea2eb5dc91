"""Deep fusion: the fused path is the naive one; without the gate r it is the LSTMN."""

import pytest
import torch
from tests.ops.by_backend import by, by_threads, in_float32
from torch import Tensor

from regard.ops import deep_fusion as ops
from regard.ops import explain
from regard.ops.native import load
from regard.ops.paths import naive_only
from regard.ops.tape import AdditiveScoring, DotScoring

N, P, Q = 2, 3, 4
# projected, h, c, s, γ̃, own keys, values, memories, source keys, values, memories
# U, R, S, S_source, U_a, v_a, v of the source
ADDITIVE = "additive"


compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
every_fast_path = pytest.mark.parametrize("path", ["chosen", pytest.param("C", marks=compiled)])
LOOSELY = {"rtol": 1e-4, "atol": 1e-4}
"""float32 leaves about 1e-7 a step, and what is compared is of the order of 1."""


def shapes_of(batch: int, width: int, words: int, first: int, p: int, q: int) -> list[tuple[int, ...]]:
    return [
        (batch, width, 5 * N + p + q),
        *[(batch, N)] * 4,
        (batch, first, p),
        *[(batch, first, N)] * 2,
        (batch, words, q),
        *[(batch, words, N)] * 2,
        (4 * N, N),
        (N, N),
        (p, N),
        (q, N),
        (p, N),
        (p,),
        (q,),
    ]


def tensors_of(batch: int, width: int, words: int, first: int, p: int = P, q: int = Q) -> list[Tensor]:
    generator = torch.Generator().manual_seed(width)
    shapes = shapes_of(batch, width, words, first, p, q)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def parts_of(tensors, source_mask, valid, own=ADDITIVE, other=ADDITIVE):
    projected, *state = tensors[:8]
    keys, values, memories, U, R, S, S_source, U_a, v_a, v_source = tensors[8:]
    scoring = AdditiveScoring(U_a, v_a) if own == ADDITIVE else DotScoring(U_a, 0.7)
    # the source's keys come made, so its matrix is not looked at
    source_scoring = AdditiveScoring(U_a, v_source) if other == ADDITIVE else DotScoring(None, 0.5)
    source = ops.SourceTape(keys, values, memories, source_mask)
    return projected, (*state, valid), source, ops.Fusion(U, R, S, S_source, scoring, source_scoring)


def agreeing(path, source_mask, valid, *given, **options):
    """A path and the definition, as `agree` takes them, and their tolerance: C computes in float32."""
    fast = running(path, source_mask, valid, *given, **options)
    naive = running("naive", source_mask, valid, *given, **options)
    return (in_float32(fast), naive, LOOSELY) if path == "C" else (fast, naive, None)


def running(path, source_mask, valid, own=ADDITIVE, other=ADDITIVE, **options):
    def run(*tensors: Tensor) -> tuple[Tensor, ...]:
        states, (p, alpha) = by(path).deep_fusion(
            *parts_of(tensors, source_mask, valid, own, other), **options
        )
        unused = sum(tensor.sum() for tensor in (*tensors[1:3], *tensors[-3:])) * 0
        return states + unused, p, alpha

    return run


SOURCE_MASK = torch.tensor([[True] * 4, [True] + [False] * 3, [True, True, False, False]])
HOLES = torch.tensor([[True, True], [False, False], [False, True]])
OPTIONS = {
    "plainly": {},
    "h = o ∘ c": {"output": "plain"},
    "a span": {"span": 2},
    "dropped": {"state_mask": torch.tensor([[0.0, 2.0], [2.0, 1.0], [2.0, 0.0]], dtype=torch.float64)},
}


@every_fast_path
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("own", [ADDITIVE, "dot"])
@pytest.mark.parametrize("other", [ADDITIVE, "dot"])
def test_the_fused_path_is_the_naive_one_in_values_and_gradients(path, options, own, other, agree):
    fast, naive, tolerance = agreeing(path, SOURCE_MASK, HOLES, own, other, **options)
    agree(fast, naive, tensors_of(3, 5, 4, 2), tolerance)


@every_fast_path
@pytest.mark.parametrize(("width", "words", "first"), [(1, 1, 1), (2, 1, 0), (17, 2, 1)])
def test_they_agree_at_awkward_sizes(path, width, words, first, agree):
    mask, valid = torch.ones(1, words, dtype=torch.bool), torch.ones(1, first, dtype=torch.bool)
    fast, naive, tolerance = agreeing(path, mask, valid)
    agree(fast, naive, tensors_of(1, width, words, first), tolerance)


@compiled
def test_in_c_it_does_not_depend_on_the_number_of_threads():
    mask, valid = SOURCE_MASK.repeat(3, 1), HOLES.repeat(3, 1)
    one, *others = by_threads(running("C", mask, valid), *(each.float() for each in tensors_of(9, 5, 4, 2)))
    for other in others:
        assert all(torch.equal(*pair) for pair in zip(one, other, strict=True))


def test_gradients_are_the_derivatives():
    tensors = [tensor.requires_grad_() for tensor in tensors_of(2, 2, 2, 1)]
    mask = torch.tensor([[True, True], [True, False]])
    assert torch.autograd.gradcheck(
        running("chosen", mask, torch.ones(2, 1, dtype=torch.bool)), tensors, fast_mode=True
    )


def test_with_the_gate_shut_it_is_the_lstmn():
    """r = 0: the source is read, and nothing of it gets in."""
    tensors = tensors_of(2, 5, 3, 1)
    valid, mask = torch.ones(2, 1, dtype=torch.bool), torch.ones(2, 3, dtype=torch.bool)
    tensors[0][..., 4 * N : 5 * N] = -1e4
    states, p, alpha = running("chosen", mask, valid)(*tensors)
    projected, (h, c, s, _, *tapes), _, fusion = parts_of(tensors, mask, valid)
    inputs = torch.cat([projected[..., : 4 * N], projected[..., 5 * N : 5 * N + P]], dim=-1)
    W, b = torch.eye(4 * N + P, dtype=torch.float64), torch.zeros(4 * N, dtype=torch.float64)
    expected, _, expected_alpha = by("chosen").lstmn_sequence(
        inputs,
        torch.ones(2, 5, dtype=torch.bool),
        (h, c, s, *tapes),
        W,
        fusion.U,
        b,
        fusion.S,
        fusion.scoring,
    )
    torch.testing.assert_close(states, expected, rtol=0, atol=1e-14)
    torch.testing.assert_close(alpha, expected_alpha, rtol=0, atol=1e-14)
    torch.testing.assert_close(p.sum(dim=-1), torch.ones_like(p[..., 0]))


def test_with_the_gate_open_the_sources_memory_is_in_the_decoders():
    """r = 1, i = f = 0, one source word: c_t is its memory at every step."""
    tensors = tensors_of(1, 3, 1, 0)
    gates = tensors[0][..., : 5 * N]
    gates[..., : 2 * N], gates[..., 4 * N :] = -1e4, 1e4
    mask, valid = torch.ones(1, 1, dtype=torch.bool), torch.ones(1, 0, dtype=torch.bool)
    _, state, source, fusion = parts_of(tensors, mask, valid)
    for t in range(3):
        state, _ = ops.deep_fusion_step(tensors[0][:, t], state, source, fusion)
        torch.testing.assert_close(state[1], source.memories[:, 0], rtol=0, atol=1e-14)


def test_padding_of_the_source_and_the_garbage_in_it_change_nothing():
    tensors = tensors_of(3, 4, 4, 2)
    plain = running("chosen", SOURCE_MASK, HOLES)(*tensors)
    for k in (8, 9, 10):
        tensors[k] = torch.where(SOURCE_MASK.unsqueeze(-1), tensors[k], 1e3)
    for path in ("chosen", "by hand", "naive"):
        found = running(path, SOURCE_MASK, HOLES)(*tensors)
        torch.testing.assert_close(found, plain, rtol=0, atol=1e-13)
        assert not found[1].transpose(1, 2)[~SOURCE_MASK].any()


def test_hypotheses_share_one_copy_of_the_source():
    tensors = tensors_of(4, 1, 3, 1)
    valid, mask = torch.ones(4, 1, dtype=torch.bool), torch.tensor([[True] * 3, [True, True, False]])
    projected, state, source, fusion = parts_of(tensors, mask, valid)
    two = ops.SourceTape(source.keys[:2], source.values[:2], source.memories[:2], mask)
    rows = torch.tensor([0, 0, 1, 1])
    four = ops.SourceTape(*(part[rows] for part in two))
    shared, (p, _) = ops.deep_fusion_step(projected[:, 0], state, two, fusion)
    alone, (each, _) = ops.deep_fusion_step(projected[:, 0], state, four, fusion)
    torch.testing.assert_close(shared, alone, rtol=0, atol=1e-14)
    torch.testing.assert_close(p, each, rtol=0, atol=1e-14)


def test_which_path_runs():
    run = running("chosen", SOURCE_MASK, HOLES)
    with explain() as choices:
        run(*tensors_of(3, 2, 4, 2))
        with naive_only():
            run(*tensors_of(3, 2, 4, 2))
    assert [(choice.op, choice.backend) for choice in choices] == [
        ("deep fusion", "torch"),
        ("deep fusion", "naive"),
    ]


@compiled
def test_in_float32_it_runs_in_c():
    with explain() as choices:
        running("chosen", SOURCE_MASK, HOLES)(*(each.float() for each in tensors_of(3, 2, 4, 2)))
    assert [choice.backend for choice in choices] == ["C"]
