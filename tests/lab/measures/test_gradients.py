"""Gradients that can be written down: a linear recurrence, an orthogonal one, uniform attention."""

import math

import pytest
import torch

from regard.lab.measures.gradients import (
    GRURead,
    LastStepReader,
    Quartiles,
    accuracy,
    bare_recurrence,
    geometric_mean,
    growth_per_step,
    growths_by_radius,
    log_growth_ratio,
    norms_by_lag,
    remaining,
    sample_lines,
    stream_lines,
    train_reader,
    with_spectral_radius,
)
from regard.layers import CELLS
from regard.ops.paths import naive_only
from regard.ops.rnn import naive
from regard.ops.tape import AdditiveScoring


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_gradient_of_a_linear_recurrence_is_a_power_of_the_transposed_matrix():
    U, v = random(4, 4), random(4, seed=1)
    states = bare_recurrence(random(3, 6, 4, seed=2).requires_grad_(), U, linear=True)
    norms = norms_by_lag((states[-1] @ v).sum(), states)
    assert norms.shape == (6, 3)
    for lag in range(6):
        expected = (torch.linalg.matrix_power(U.T, lag) @ v).norm()
        torch.testing.assert_close(norms[lag], expected.expand(3), rtol=1e-12, atol=0.0)


def test_an_orthogonal_matrix_keeps_the_norm():
    U = torch.linalg.qr(random(5, 5))[0]
    v = random(5, seed=1)
    states = bare_recurrence(random(2, 40, 5, seed=2).requires_grad_(), U, linear=True)
    norms = norms_by_lag((states[-1] @ v).sum(), states)
    torch.testing.assert_close(norms, v.norm().expand(40, 2), rtol=1e-12, atol=0.0)
    assert growth_per_step(geometric_mean(norms).tolist()) == pytest.approx(1, abs=1e-12)


def test_uniform_attention_adds_its_share_directly_and_through_every_later_state():
    # loss = v · (1/T) Σ h_t, so ∂/∂h_t = (1/T) Σ_{k ≥ 0} (Uᵀ)^k v over the states from h_t on
    U, v, T = 0.5 * random(3, 3), random(3, seed=1), 5
    states = bare_recurrence(random(1, T, 3, seed=2).requires_grad_(), U, linear=True)
    norms = norms_by_lag((torch.stack(states).mean(dim=0) @ v).sum(), states)[:, 0]
    total = torch.zeros(3, dtype=torch.float64)
    for lag in range(T):
        total = total + torch.linalg.matrix_power(U.T, lag) @ v / T
        assert norms[lag] == pytest.approx(total.norm().item(), rel=1e-12)


def test_tanh_is_the_toolkits_own_recurrence():
    projected, U = random(2, 7, 3), random(3, 3, seed=1)
    states = bare_recurrence(projected, U, linear=False)
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
    assert log_growth_ratio(0.9, 0.81) == pytest.approx(0.5)
    assert log_growth_ratio(1.0, 0.8) == 0
    assert log_growth_ratio(1.25, 0.8) == pytest.approx(1), "to explode is no better than to vanish"
    assert log_growth_ratio(0.9, 1.21) == pytest.approx(math.log(0.9) / -math.log(1.21))
    assert math.isnan(log_growth_ratio(0.9, 1.0))
    assert math.isnan(log_growth_ratio(math.nan, 0.9))


def test_what_arrives_is_the_first_word_s_share_of_the_last_s():
    assert remaining([4.0, 9.0, 1.0]) == 0.25
    assert remaining([1.0, 2.0]) == 2
    assert math.isnan(remaining([0.0, 1.0]))


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


CELLS_READ = {"gru-read": GRURead} | {
    name: CELLS[name] for name in ("rnn", "gru", "lstm", "rnn-read", "rnn-sum", "rnn-sum-keep", "lstmn")
}
IDS = torch.tensor([[0, 3, 1, 2, 2], [4, 4, 0, 1, 3]])
ANSWERS = torch.tensor([1, 2])


def reader(name, attends=False):
    return LastStepReader(CELLS_READ[name], 5, 3, 6, attends=attends, seed=2).double()


@pytest.mark.parametrize("attends", [False, True])
@pytest.mark.parametrize("name", CELLS_READ)
def test_steps_give_what_the_whole_sequence_gives(name, attends):
    model = reader(name, attends)
    stepped = model.logits(torch.stack(model.steps(IDS), dim=1))
    torch.testing.assert_close(stepped, model(IDS), rtol=1e-10, atol=1e-12)
    with naive_only():
        torch.testing.assert_close(stepped, model(IDS), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("name", "attends"), [(name, "-" not in name) for name in CELLS_READ])
def test_a_gradient_norm_is_how_the_loss_answers_to_a_nudge_of_that_state(name, attends):
    """∂loss/∂h_t by differences: the step that makes h_t is given a little more, everything after it follows."""
    model = reader(name, attends)
    norms = model.gradient_norms(IDS, ANSWERS)
    little, T = 1e-6, IDS.shape[1]
    for t in (0, 3):
        slopes = torch.zeros(2, 6, dtype=torch.float64)
        for unit in range(6):
            up, down = (_loss_nudged(model, name, t, unit, sign * little) for sign in (1, -1))
            slopes[:, unit] = (up - down) / (2 * little)
        # central differences of 10⁻⁶ in double precision leave about 10⁻⁹
        assert norms[T - 1 - t] == pytest.approx(slopes.norm(dim=-1).log().mean().exp().item(), rel=1e-5)


def _loss_nudged(model, name, t, unit, by):
    """Each row's loss with h_t moved: in the state, on the tape, and where the cell sums up with it."""
    projected = model.cell.project(model.embedding(IDS))
    state, states = model.cell.zero_state(2, projected), []
    move = torch.zeros(6, dtype=torch.float64)
    move[unit] = by
    with torch.no_grad():
        for k in range(IDS.shape[1]):
            state = model.cell.step(projected[:, k], state)
            if k == t:
                state = _moved(model.cell, name, state, move)
            states.append(state[0])
        logits = model.logits(torch.stack(states, dim=1))
        return torch.nn.functional.cross_entropy(logits, ANSWERS, reduction="none")


def _moved(cell, name, state, move):
    h = state[0] + move
    if name in ("rnn", "gru", "lstm"):
        return (h, *state[1:])
    keys_at = 3 if name == "lstmn" else 2
    parts = list(state)
    parts[0] = h
    parts[keys_at] = torch.cat([state[keys_at][:, :-1], cell.scoring.keys(h[:, None])], dim=1)
    parts[keys_at + 1] = torch.cat([state[keys_at + 1][:, :-1], h[:, None]], dim=1)
    if name.startswith("rnn-sum"):  # what was summed up after the update saw h_t too
        query = (h @ cell.query_matrix.T)[:, None]
        summary, _ = cell.scoring.attend(query, parts[2], parts[3], parts[4])
        parts[1] = summary[:, 0]
    return tuple(parts)


def test_the_gru_that_reads_its_past_is_the_equation():
    cell = reader("gru-read").cell
    x = torch.randn(1, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    states, _, alpha = cell.forward_with_alpha(x, torch.ones(1, 4, dtype=torch.bool), cell.zero_state(1, x))
    assert isinstance(cell.scoring, AdditiveScoring)
    written, s = [], torch.zeros(6, dtype=torch.float64)
    for t in range(4):
        if written:
            query = cell.W[18:] @ x[0, t] + cell.S @ s
            energies = [cell.attention.v_a @ torch.tanh(cell.attention.U_a @ h + query) for h in written]
            weights = torch.softmax(torch.stack(energies), dim=0)
            s = sum(weight * h for weight, h in zip(weights, written, strict=True))
            torch.testing.assert_close(alpha[0, t, :t], weights)
        W, U, b = (part[:18].chunk(3) for part in (cell.W, cell.U, cell.b))
        z, r = (torch.sigmoid(W[k] @ x[0, t] + U[k] @ s + b[k]) for k in (0, 1))
        candidate = torch.tanh(W[2] @ x[0, t] + U[2] @ (r * s) + b[2])
        written.append((1 - z) * s + z * candidate)
    torch.testing.assert_close(states[0], torch.stack(written))


def test_uniform_attention_gives_every_state_the_same_direct_share():
    """Energies all 0, a head that sees the context alone, a recurrence that forgets: ∂/∂h_t is V-row / T at each t."""
    model = reader("rnn", attends=True)
    with torch.no_grad():
        model.attention.v_a.zero_()
        model.cell.U.zero_()
        model.head.output.weight[:, :6].zero_()
        probabilities = torch.softmax(model(IDS), dim=-1)
        error = probabilities - torch.nn.functional.one_hot(ANSWERS, 3)
        direct = (error @ model.head.output.weight[:, 6:]).norm(dim=-1) / IDS.shape[1]
    assert model.gradient_norms(IDS, ANSWERS) == pytest.approx([direct.log().mean().exp().item()] * 5)


def test_equal_seeds_make_equal_readers_and_leave_the_dice_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    one, other = reader("gru"), reader("gru")
    assert torch.equal(torch.rand(1), expected)
    assert all(map(torch.equal, one.parameters(), other.parameters()))
    third = LastStepReader(CELLS["gru"], 5, 3, 6, attends=False, seed=3).double()
    assert not torch.equal(one.cell.U, third.cell.U)


def test_lines_are_the_same_for_equal_seeds_and_the_answer_stands_where_it_is_asked():
    one, other = stream_lines(3, 4, 6, 5, position=-2), stream_lines(3, 4, 6, 5, position=-2)
    for _ in range(2):
        ids, answers = next(one)
        assert torch.equal(ids, next(other)[0])
        assert torch.equal(answers, ids[:, 4])
    ids, answers = sample_lines(torch.Generator().manual_seed(3), 4, 6, 5)
    assert torch.equal(answers, ids[:, 0])
    assert not torch.equal(ids, next(one)[0])


def test_no_step_is_longer_than_the_clip():
    """With plain descent the weights move by the rate times the gradient as taken; both norms are known."""
    moves = {}
    for clip in (0.05, 0.0):
        model = LastStepReader(CELLS["rnn"], 5, 5, 6, attends=False, seed=1)
        before = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        curve = train_reader(model, optimizer, stream_lines(1, 8, 4, 5), updates=1, clip=clip)
        after = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
        moves[clip] = (after - before).norm().item() / 0.5, curve.norms[0]
    assert moves[0.05][1] == moves[0.0][1] > 0.05
    assert moves[0.05][0] == pytest.approx(0.05, rel=1e-4)
    assert moves[0.0][0] == pytest.approx(moves[0.0][1], rel=1e-4)


def test_divergence_stops_training_with_an_infinite_loss():
    model = LastStepReader(CELLS["rnn"], 5, 5, 6, attends=False, seed=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e38)
    curve = train_reader(model, optimizer, stream_lines(1, 8, 4, 5), updates=5, clip=0.0)
    assert curve.diverged
    assert len(curve.losses) < 5
    assert curve.final_loss == float("inf")


def test_a_short_line_is_recalled_after_training():
    model = LastStepReader(CELLS["lstm"], 4, 4, 12, attends=False, seed=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    ids, answers = sample_lines(torch.Generator().manual_seed(9), 64, 3, 4)
    assert accuracy(model, ids, answers) < 0.6
    curve = train_reader(model, optimizer, stream_lines(1, 32, 3, 4), updates=60, clip=1.0)
    assert accuracy(model, ids, answers) > 0.95
    assert curve.final_loss == pytest.approx(sum(curve.losses[-6:]) / 6)
