"""Windows on the source: fused is naive, and both are Luong's equations counted out on short sentences."""

import math

import pytest
import torch

from regard.ops.attention import masked_softmax
from regard.ops.attention.local import fused, naive

every_path = pytest.mark.parametrize("path", [fused, naive])
INF = float("inf")
# three words and EOS; one word and EOS
MASK = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])


def seen(path, positions, reach, mask=MASK):
    """Which places the window leaves, as numbers from 0."""
    energies = torch.zeros(len(mask), len(positions[0]), mask.shape[1])
    left = path.within_window(energies, mask, torch.tensor(positions), reach) > -INF
    return [[row.nonzero().flatten().tolist() for row in sentence] for sentence in left]


@every_path
def test_the_window_is_cut_off_at_the_ends(path):
    assert seen(path, [[1.0, 2.0, 4.0, 5.0], [1.0, 2.0, 3.0, 3.0]], 1) == [
        [[0, 1], [0, 1, 2], [2, 3], [3]],
        [[0, 1], [0, 1], [1], [1]],
    ]


@every_path
def test_a_position_between_words_sees_those_within_reach(path):
    assert seen(path, [[1.5, 2.4, 0.3], [0.1, 1.9, 1.5]], 1) == [
        [[0, 1], [1, 2], [0]],
        [[0], [0, 1], [0, 1]],
    ]


@every_path
def test_padding_before_the_words_is_not_counted(path):
    mask = torch.tensor([[False, True, True, False, True]])
    assert seen(path, [[1.0, 3.0]], 1, mask) == [[[1, 2], [2, 4]]]


@every_path
def test_local_m_runs_in_step_and_ends_on_the_end_mark(path):
    """p_t = t; once no window around t would hold a word, it stays where the last one does."""
    steps = torch.tensor([[1, 3, 4, 6, 7, 40]] * 2)
    positions = path.monotonic_positions(steps, MASK, 2)
    assert positions.tolist() == [[1, 3, 4, 6, 6, 6], [1, 3, 4, 4, 4, 4]]
    assert seen(path, positions.tolist(), 2)[1] == [[0, 1], [0, 1], [1], [1], [1], [1]]


@every_path
def test_mixed_precision_moves_no_window(path):
    """At 60 words bfloat16 knows positions to a quarter of a word."""
    generator = torch.Generator().manual_seed(4)
    h, W_p = torch.randn(1, 50, 8, generator=generator), torch.randn(8, 8, generator=generator)
    v_p, mask = torch.randn(8, generator=generator), torch.ones(1, 60, dtype=torch.bool)
    positions = path.predicted_positions(h, mask, W_p, v_p)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = path.predicted_positions(h, mask, W_p, v_p)
    assert mixed.dtype == torch.float32
    assert torch.equal(mixed, positions)
    # narrow states are computed with widely, too
    assert path.predicted_positions(h.bfloat16(), mask, W_p, v_p).dtype == torch.float32


@every_path
def test_local_p_predicts_a_share_of_the_length(path):
    h = torch.randn(2, 3, 4, dtype=torch.float64)
    W_p, v_p = torch.randn(5, 4, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
    positions = path.predicted_positions(h, MASK, W_p, v_p)
    for b, length in enumerate((4, 2)):
        for i in range(3):
            x = (v_p @ torch.tanh(W_p @ h[b, i])).item()
            assert positions[b, i].item() == pytest.approx(length / (1 + math.exp(-x)))


@every_path
def test_nearness_is_a_gaussian_of_half_the_reach(path):
    near = path.nearness(torch.tensor([[2.5], [1.0]]), MASK, 2)
    assert near[0, 0].tolist() == pytest.approx([math.exp(-((s - 2.5) ** 2) / 2) for s in (1, 2, 3, 4)])
    assert near[1, 0, :2].tolist() == pytest.approx([1.0, math.exp(-0.5)])
    # at the window's edge, two deviations away
    assert path.nearness(torch.tensor([[1.0]] * 2), MASK, 3)[0, 0, 3].item() == pytest.approx(math.exp(-2))


@pytest.mark.parametrize("reach", [1, 2, 5])
@pytest.mark.parametrize("length", [1, 3, 65])
def test_fused_is_naive_in_values_and_gradients(length, reach, agree):
    mask = torch.arange(length).expand(2, -1) < torch.tensor([[length], [max(1, length // 2)]])

    def alpha(path):
        def compute(query, energies, W_p, v_p):
            p = path.predicted_positions(query, mask, W_p, v_p)
            inside = masked_softmax(path.within_window(energies, mask, p, reach), mask)
            return [p, inside, inside * path.nearness(p, mask, reach)]

        return compute

    shapes = [(2, 3, 4), (2, 3, length), (5, 4), (5,)]
    agree(alpha(fused), alpha(naive), [torch.randn(*shape, dtype=torch.float64) for shape in shapes])


def test_an_extreme_prediction_leaves_no_window_empty():
    v_p = torch.tensor([1e4])
    for sign in (1, -1):
        positions = fused.predicted_positions(torch.ones(2, 1, 1) * sign, MASK, torch.ones(1, 1), v_p)
        assert positions.flatten().tolist() == ([4, 2] if sign > 0 else [0, 0])
        assert all(row for sentence in seen(fused, positions.tolist(), 1) for row in sentence)
