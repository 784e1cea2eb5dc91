"""The reader taken apart step by step is the reader; its gradient reaches every state by every path."""

import pytest
import torch

from regard.lab.measures.gradients import GRURead, LastStepReader, accuracy, draw_lines, endless_lines, teach
from regard.layers import CELLS
from regard.ops.paths import naive_only
from regard.ops.tape import AdditiveScoring

CELLS_READ = {"gru-read": GRURead} | {
    name: CELLS[name] for name in ("rnn", "gru", "lstm", "rnn-read", "rnn-sum", "rnn-sum-keep", "lstmn")
}
IDS = torch.tensor([[0, 3, 1, 2, 2], [4, 4, 0, 1, 3]])
ANSWERS = torch.tensor([1, 2])


def reader(name, attends=False):
    return LastStepReader(CELLS_READ[name], 5, 3, 6, attends=attends, seed=2).double()


@pytest.mark.parametrize("attends", [False, True])
@pytest.mark.parametrize("name", CELLS_READ)
def test_step_by_step_it_says_what_the_whole_sequence_says(name, attends):
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
    states, _, alpha = cell.read(x, torch.ones(1, 4, dtype=torch.bool), cell.zero_state(1, x))
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
    one, other = endless_lines(3, 4, 6, 5, asked=-2), endless_lines(3, 4, 6, 5, asked=-2)
    for _ in range(2):
        ids, answers = next(one)
        assert torch.equal(ids, next(other)[0])
        assert torch.equal(answers, ids[:, 4])
    ids, answers = draw_lines(torch.Generator().manual_seed(3), 4, 6, 5)
    assert torch.equal(answers, ids[:, 0])
    assert not torch.equal(ids, next(one)[0])


def test_teaching_takes_no_longer_step_than_the_clip():
    """With plain descent the weights move by the rate times the gradient as taken; both norms are known."""
    moves = {}
    for clip in (0.05, 0.0):
        model = LastStepReader(CELLS["rnn"], 5, 5, 6, attends=False, seed=1)
        before = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        course = teach(model, optimizer, endless_lines(1, 8, 4, 5), updates=1, clip=clip)
        after = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
        moves[clip] = (after - before).norm().item() / 0.5, course.norms[0]
    assert moves[0.05][1] == moves[0.0][1] > 0.05
    assert moves[0.05][0] == pytest.approx(0.05, rel=1e-4)
    assert moves[0.0][0] == pytest.approx(moves[0.0][1], rel=1e-4)


def test_what_diverges_is_told_and_ends_nowhere():
    model = LastStepReader(CELLS["rnn"], 5, 5, 6, attends=False, seed=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e38)
    course = teach(model, optimizer, endless_lines(1, 8, 4, 5), updates=5, clip=0.0)
    assert course.diverged
    assert len(course.losses) < 5
    assert course.end == float("inf")


def test_a_short_line_is_learnt():
    model = LastStepReader(CELLS["lstm"], 4, 4, 12, attends=False, seed=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    ids, answers = draw_lines(torch.Generator().manual_seed(9), 64, 3, 4)
    assert accuracy(model, ids, answers) < 0.6
    course = teach(model, optimizer, endless_lines(1, 32, 3, 4), updates=60, clip=1.0)
    assert accuracy(model, ids, answers) > 0.95
    assert course.end == pytest.approx(sum(course.losses[-6:]) / 6)
