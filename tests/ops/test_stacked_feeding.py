"""Input feeding with several layers, each reading the one below: C is naive, naive is the step line after line."""

from dataclasses import dataclass

import pytest
import torch
from tests.ops.by_backend import by, by_threads, in_float32

from regard.ops import Asking, Inputs, Read, Recurrence, Source, Weights
from regard.ops.by_hand import steps as by_hand
from regard.ops.kernels import recurrences as triton
from regard.ops.native import load
from regard.ops.native import recurrences as native
from regard.ops.native.structs import CELLS
from regard.ops.recurrence import BLOCKS
from regard.ops.tape import AdditiveScoring, DotScoring

compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")

# as few as there can be; units that fill no vector and no tile; sentences in other shares for two threads
SIZES = [(1, 1, 1, 1), (5, 7, 6, 10), (6, 4, 3, 33)]


@dataclass(frozen=True)
class Stacked:
    """A stack, its sizes, and whether anything is dropped."""

    cell: str
    layers: int
    batch: int
    num_steps: int
    num_words: int
    n: int
    dropping: bool = False
    energy: str = "additive"

    def tensors(self):
        """Leaves in float64: inputs, U, F, W_c, keys, annotations, [W_a, v_a], fed, then each layer's parts."""
        g, n, l, a, d = BLOCKS[self.cell] * self.n, self.n, self.n + 1, self.n, self.n + 2
        shapes = [(self.batch, self.num_steps, g), (g, n), (g, l), (l, d + n)]
        shapes += [(self.batch, self.num_words, a), (self.batch, self.num_words, d)]
        shapes += [(a, n), (a,)] * (self.energy == "additive")
        shapes += [(self.batch, l)]
        for k in range(self.layers):
            shapes += [(self.batch, n)] * (1 + self.cell.startswith("lstm"))
            shapes += [(3 * n,)] * (self.cell == "lstm-peephole")
            shapes += [(g, n), (g, n), (g,)] if k else []
        return [torch.randn(*shape, dtype=torch.float64) / shape[-1] ** 0.5 for shape in shapes]

    def running(self, path):
        """A function of `tensors` by a backend."""
        recurrence = Recurrence(
            self.cell, source=Read(self.energy, "new state", "readout"), layers=self.layers
        )
        there = torch.arange(self.num_words) < torch.arange(1, self.batch + 1).unsqueeze(1)
        generator = torch.Generator().manual_seed(3)

        def drop(*shape):
            kept = torch.rand(*shape, generator=generator, dtype=torch.float64) < 0.7
            return kept / 0.7 if self.dropping else None

        states = [drop(self.batch, self.n) for _ in range(self.layers)]
        between = [drop(self.batch, self.num_steps, self.n) for _ in range(self.layers - 1)]
        readouts = drop(self.batch, self.num_steps, self.n + 1)

        def run(*tensors):
            left = iter(tensors)
            projected, U, F, W_c, keys, annotations = (next(left) for _ in range(6))
            asking = Asking(None, DotScoring(None))
            if self.energy == "additive":
                asking = Asking(next(left), AdditiveScoring(None, next(left)))
            fed, state, above, p = next(left), [], [], None
            for k in range(self.layers):
                state += [next(left) for _ in range(1 + self.cell.startswith("lstm"))] + [fed] * (k == 0)
                own = next(left) if self.cell == "lstm-peephole" else None
                if k:
                    above.append(Weights(next(left), next(left), next(left), own))
                else:
                    p = own
            weights = Weights(U, p=p, F=F, W_c=W_c, source=asking, above=tuple(above))

            def cast(mask):
                return None if mask is None else mask.to(projected.dtype)

            inputs = Inputs(
                projected,
                source=Source(keys, annotations, there),
                state_mask=cast(states[0]),
                dropped=cast(readouts),
                between=tuple(map(cast, between)),
                state_masks=tuple(map(cast, states[1:])),
            )
            outputs = path.run(recurrence, inputs, weights, tuple(state))
            return outputs.states, outputs.source_alpha

        return run


@compiled
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell != "lstm-plain"])
def test_c_is_naive_in_values_and_gradients(cell, layers, size, agree):
    for dropping in (False, True):
        stacked = Stacked(cell, layers, *size, dropping)
        agree(
            in_float32(stacked.running(by("C"))),
            stacked.running(by("naive")),
            stacked.tensors(),
            {"rtol": 2e-4, "atol": 2e-5},
        )


@compiled
def test_the_state_of_the_top_layer_asks_by_itself(agree):
    stacked = Stacked("gru", 2, 4, 5, 6, 8, energy="dot")
    agree(
        in_float32(stacked.running(by("C"))),
        stacked.running(by("naive")),
        stacked.tensors(),
        {"rtol": 2e-4, "atol": 2e-5},
    )


@compiled
def test_threads_change_no_bit():
    stacked = Stacked("lstm", 3, 7, 5, 6, 10, True)
    found = by_threads(stacked.running(by("C")), *(each.float() for each in stacked.tensors()))
    assert all(
        torch.equal(one, other) for other in found[1:] for one, other in zip(found[0], other, strict=True)
    )


@pytest.mark.parametrize("path", ["naive", pytest.param("C", marks=compiled)])
def test_two_layers_written_out(path):
    """h_t of the lower LSTM from y_{t−1} and h̃_{t−1}, of the upper one from that; the upper one attends."""
    stacked = Stacked("lstm", 2, 1, 3, 1, 4)
    tensors = stacked.tensors()
    run = stacked.running(by(path))
    readouts, _ = (in_float32(run) if path == "C" else run)(*tensors)
    projected, U, F, W_c, _, annotations, _, _, fed, *parts = tensors
    h, c, upper_h, upper_c, upper_U, upper_W, upper_b = parts

    def lstm(x, h, c, U):
        i, f, candidate, o = (x + h @ U.T).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(candidate)
        return torch.sigmoid(o) * torch.tanh(c), c

    for t in range(3):
        h, c = lstm(projected[:, t] + fed @ F.T, h, c, U)
        upper_h, upper_c = lstm(h @ upper_W.T + upper_b, upper_h, upper_c, upper_U)
        # of one source word the context is its annotation
        fed = torch.tanh(torch.cat([annotations[:, 0], upper_h], dim=-1) @ W_c.T)
        torch.testing.assert_close(readouts[:, t], fed, rtol=0, atol=1e-13 if path == "naive" else 1e-6)


def test_the_others_have_one_layer():
    stacked = Recurrence("lstm", source=Read("additive", "new state", "readout"), layers=2)
    inputs, weights = Inputs(torch.zeros(1, 1, 4)), Weights(torch.zeros(4, 1))
    assert by_hand.supports(stacked) == triton.supports(stacked, inputs, weights) == "it has one layer"
    assert native.supports(stacked, inputs, weights) == ""
    assert stacked.name == "input feeding lstm, 2 layers"
