"""Recurrences that attend to the source, over every cell and energy: each backend that has one is the definition."""

import pytest
import torch
from tests.ops.by_backend import by, in_float32

from regard.ops.by_hand.steps import CELLS
from regard.ops.native import load
from regard.ops.recurrence import BLOCKS

N, A, D, L = 3, 4, 5, 6
LENGTHS, STEPS = [1, 6, 3], 4
MASK = torch.arange(6) < torch.tensor(LENGTHS).unsqueeze(1)
LOOSELY = {"rtol": 1e-4, "atol": 1e-4}
"""float32 leaves about 1e-7 a step, and what is compared is of the order of 1."""
PATHS = {"gates": "attending", "readout": "feeding"}

# whether there is a v_a, whether a matrix of the query, the scale of dot products
ENERGIES = {
    "additive": (True, True, 1.0),
    "additive, the state asks": (True, False, 1.0),
    "dot": (False, False, 0.7),
    "dot with a matrix": (False, True, 1.3),
}
compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
every_energy = pytest.mark.parametrize("energy", ENERGIES.values(), ids=ENERGIES.keys())
every_cell = pytest.mark.parametrize("cell", [cell for cell in CELLS if cell != "lstm-plain"])
both_ways = pytest.mark.parametrize("enters", PATHS)


def tensors_of(cell, enters, energy):
    """Projected inputs, states, keys, annotations, U, the read's matrices, and what cell and energy have besides."""
    additive, matrix, _ = energy
    a, g, batch = A if matrix else N, BLOCKS[cell] * N, len(LENGTHS)
    shapes = [
        (batch, STEPS, g),
        *[(batch, N)] * (1 + cell.startswith("lstm")),
        *[(batch, L)] * (enters == "readout"),
    ]
    shapes += [(batch, 6, a), (batch, 6, D), (g, N)]
    shapes += [(g, D)] if enters == "gates" else [(g, L), (L, D + N)]
    shapes += [(3 * N,)] * (cell == "lstm-peephole") + [(a, N)] * matrix + [(a,)] * additive
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


def running(path, cell, enters, energy, state_mask=None, dropped=None):
    additive, matrix, scale = energy

    def run(projected, *rest):
        parts = 1 + cell.startswith("lstm")
        initial, rest = rest[:parts], rest[parts:]
        fed, rest = (rest[:1], rest[1:]) if enters == "readout" else ((), rest)
        keys, annotations, U, *rest = rest
        read, rest = (rest[:1], rest[1:]) if enters == "gates" else (rest[:2], rest[2:])
        options = {"scale": scale, "state_mask": state_mask}
        if cell == "lstm-peephole":
            options["p"], *rest = rest
        W_a, v_a = rest[0] if matrix else None, rest[-1] if additive else None
        source = (keys, annotations, MASK, W_a, v_a)
        if enters == "gates":
            return by(path).attending(cell, projected, initial, *source, U, *read, **options)
        F, W_c = read
        return by(path).feeding(cell, projected, initial, *fed, *source, F, U, W_c, dropped, **options)

    return run


@every_cell
@every_energy
@both_ways
def test_by_hand_it_is_the_definition_in_values_and_gradients(cell, energy, enters, agree):
    given = (cell, enters, energy)
    agree(running("by hand", *given), running("naive", *given), tensors_of(*given))


@every_cell
@both_ways
def test_dropout_of_states_and_of_readouts(cell, enters, agree):
    given = (cell, enters, ENERGIES["additive"])
    state_mask = torch.empty(3, N, dtype=torch.float64).bernoulli_(0.5).mul_(2)
    dropped = torch.empty(3, STEPS, L, dtype=torch.float64).bernoulli_(0.6).div_(0.6)
    paths = (running(path, *given, state_mask, dropped) for path in ("by hand", "naive"))
    agree(*paths, tensors_of(*given))


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm-peephole"])
@both_ways
def test_gradients_are_the_derivatives(cell, enters):
    given = (cell, enters, ENERGIES["dot with a matrix"])
    tensors = [tensor.requires_grad_() for tensor in tensors_of(*given)]
    assert torch.autograd.gradcheck(running("by hand", *given), tensors, fast_mode=True)


@compiled
@every_cell
@every_energy
@both_ways
def test_in_c_it_is_the_definition(cell, energy, enters, agree):
    given = (cell, enters, energy)
    agree(in_float32(running("C", *given)), running("naive", *given), tensors_of(*given), LOOSELY)


@compiled
@every_cell
@both_ways
def test_dropout_of_states_and_of_readouts_in_c(cell, enters, agree):
    given = (cell, enters, ENERGIES["additive"])
    state_mask = torch.tensor([[0.0, 2.0, 2.0], [2.0, 0.0, 2.0], [2.0, 2.0, 0.0]], dtype=torch.float64)
    dropped = torch.empty(3, STEPS, L, dtype=torch.float64).bernoulli_(0.6).div_(0.6)
    c, naive = (running(path, *given, state_mask, dropped) for path in ("C", "naive"))
    agree(in_float32(c), naive, tensors_of(*given), LOOSELY)


@every_cell
def test_the_fastest_backend_is_chosen_where_it_has_the_cell(cell, agree):
    """Whatever is chosen in float64 on a CPU is the definition, too."""
    given = (cell, "gates", ENERGIES["additive"])
    agree(running("chosen", *given), running("naive", *given), tensors_of(*given))
