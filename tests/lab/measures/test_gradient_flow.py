"""Gradients that can be written down: a linear recurrence, an orthogonal one, uniform attention."""

import math

import pytest
import torch

from regard.lab.measures.gradients import (
    Quartiles,
    arrived,
    geometric_mean,
    growth_per_step,
    growths_by_radius,
    norms_by_lag,
    rate_ratio,
    recurrence,
    with_spectral_radius,
)
from regard.ops.rnn import naive


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_gradient_of_a_linear_recurrence_is_a_power_of_the_transposed_matrix():
    U, v = random(4, 4), random(4, seed=1)
    states = recurrence(random(3, 6, 4, seed=2).requires_grad_(), U, linear=True)
    norms = norms_by_lag((states[-1] @ v).sum(), states)
    assert norms.shape == (6, 3)
    for lag in range(6):
        expected = (torch.linalg.matrix_power(U.T, lag) @ v).norm()
        torch.testing.assert_close(norms[lag], expected.expand(3), rtol=1e-12, atol=0.0)


def test_an_orthogonal_matrix_keeps_the_norm():
    U = torch.linalg.qr(random(5, 5))[0]
    v = random(5, seed=1)
    states = recurrence(random(2, 40, 5, seed=2).requires_grad_(), U, linear=True)
    norms = norms_by_lag((states[-1] @ v).sum(), states)
    torch.testing.assert_close(norms, v.norm().expand(40, 2), rtol=1e-12, atol=0.0)
    assert growth_per_step(geometric_mean(norms).tolist()) == pytest.approx(1, abs=1e-12)


def test_uniform_attention_adds_its_share_directly_and_through_every_later_state():
    # loss = v · (1/T) Σ h_t, so ∂/∂h_t = (1/T) Σ_{k ≥ 0} (Uᵀ)^k v over the states from h_t on
    U, v, T = 0.5 * random(3, 3), random(3, seed=1), 5
    states = recurrence(random(1, T, 3, seed=2).requires_grad_(), U, linear=True)
    norms = norms_by_lag((torch.stack(states).mean(dim=0) @ v).sum(), states)[:, 0]
    total = torch.zeros(3, dtype=torch.float64)
    for lag in range(T):
        total = total + torch.linalg.matrix_power(U.T, lag) @ v / T
        assert norms[lag] == pytest.approx(total.norm().item(), rel=1e-12)


def test_tanh_is_the_toolkits_own_recurrence():
    projected, U = random(2, 7, 3), random(3, 3, seed=1)
    states = recurrence(projected, U, linear=False)
    everywhere = torch.ones(2, 7, dtype=torch.bool)
    zero = (torch.zeros(2, 3, dtype=torch.float64),)
    identity, nothing = torch.eye(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    expected, _ = naive.rnn_sequence(projected, everywhere, zero, identity, U, nothing, "tanh")
    torch.testing.assert_close(torch.stack(states, dim=1), expected, rtol=1e-12, atol=1e-14)


def test_a_state_no_path_leads_from_has_no_gradient():
    first, last = random(2, 3).requires_grad_(), random(2, 3, seed=1).requires_grad_()
    norms = norms_by_lag((3 * last[:, 0]).sum(), [first, last])
    assert norms.tolist() == [[3.0, 3.0], [0.0, 0.0]]


def test_growth_is_read_from_the_lags_asked_for():
    norms = [5.0, 7.0] + [2 * 0.9**lag for lag in range(2, 30)]
    assert growth_per_step(norms, 2) == pytest.approx(0.9, rel=1e-9)
    assert growth_per_step(norms) != pytest.approx(0.9, rel=1e-3)
    assert math.isnan(growth_per_step([1.0, 0.5, 0.0]))
    assert math.isnan(growth_per_step([1.0, 2.0, math.inf]))


def test_falling_and_growing_are_compared_by_their_rates():
    assert rate_ratio(0.9, 0.81) == pytest.approx(0.5)
    assert rate_ratio(1.0, 0.8) == 0
    assert rate_ratio(1.25, 0.8) == pytest.approx(1), "to explode is no better than to vanish"
    assert rate_ratio(0.9, 1.21) == pytest.approx(math.log(0.9) / -math.log(1.21))
    assert math.isnan(rate_ratio(0.9, 1.0))
    assert math.isnan(rate_ratio(math.nan, 0.9))


def test_what_arrives_is_the_first_word_s_share_of_the_last_s():
    assert arrived([4.0, 9.0, 1.0]) == 0.25
    assert arrived([1.0, 2.0]) == 2
    assert math.isnan(arrived([0.0, 1.0]))


def test_the_geometric_mean_is_over_the_last_axis():
    values = torch.tensor([[1e-8, 1e-2], [4.0, 9.0]], dtype=torch.float64)
    assert geometric_mean(values).tolist() == pytest.approx([1e-5, 6.0])


def test_quartiles_are_over_rows():
    found = Quartiles.of([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0], [4.0, 50.0], [5.0, 40.0]])
    assert (found.low, found.median, found.high) == ([2.0, 20.0], [3.0, 30.0], [4.0, 40.0])


def test_a_matrix_is_scaled_to_its_radius():
    scaled = with_spectral_radius(random(6, 6), 1.25)
    assert torch.linalg.eigvals(scaled).abs().max().item() == pytest.approx(1.25)
    torch.testing.assert_close(scaled / scaled.norm(), random(6, 6) / random(6, 6).norm())


def test_a_linear_gradient_grows_as_the_radius_and_tanh_holds_it_down():
    radii = (0.6, 1.0, 1.4)
    sizes = {"seed": 3, "length": 40, "size": 12, "rows": 2}
    linear = growths_by_radius(radii, **sizes, linear=True)
    squashed = growths_by_radius(radii, **sizes, linear=False)
    # scaling the matrix by s scales every step's factor by s exactly
    assert [each / linear[1] for each in linear] == pytest.approx(radii, rel=1e-9)
    assert linear == pytest.approx(radii, rel=0.1)
    assert all(one < other for one, other in zip(squashed, linear, strict=True))
