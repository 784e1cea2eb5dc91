"""Laws of every recurrence: each path agrees with naive, and the rest of the batch changes nothing."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
import torch
from tests.ops.by_backend import by
from torch import Tensor

from regard.ops import Weights, definitions, explain
from regard.ops.native import load
from regard.ops.paths import fused_wanted, naive_only


class Cell(NamedTuple):
    """One cell by each backend, with one signature: (inputs, mask, initial, *weights, reverse=, …)."""

    name: str
    gates: int
    parts: int = 1
    more: int = 0  # how many vectors of n units it has beside b

    def path(self, backend: str) -> Callable[..., Any]:
        if backend == "by hand" and self.name == "gru-torch":
            pytest.skip("it has no derivative by hand")
        if backend == "native":
            return self._native
        return partial(by(backend).sequence, self.name)

    def _native(self, inputs, mask, initial, *weights, state_mask=None, **options):
        """The chosen path in float32, which on a CPU is C; in and out float64."""
        given = [tuple(part.float() for part in initial), *(weight.float() for weight in weights)]
        dropped = None if state_mask is None else state_mask.float()
        states, last = self.path("chosen")(inputs.float(), mask, *given, state_mask=dropped, **options)
        return states.double(), tuple(part.double() for part in last)

    def step(self, projected, state, U, more=None):
        """One step of the definition."""
        weights = Weights(U, p=more, b_U=more)
        return definitions.STEPS[self.name](projected, state, weights, None)


RECURRENCES = {
    "rnn": Cell("rnn", gates=1),
    "rnn-sigmoid": Cell("rnn-sigmoid", gates=1),
    "lstm": Cell("lstm", gates=4, parts=2),
    "lstm-peephole": Cell("lstm-peephole", gates=4, parts=2, more=3),
    "gru": Cell("gru", gates=3),
    "gru-torch": Cell("gru-torch", gates=3, more=1),
}
M, N = 3, 2

every_recurrence = pytest.mark.parametrize("cell", RECURRENCES.values(), ids=RECURRENCES.keys())
compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
native = pytest.param("native", marks=compiled)
every_path = pytest.mark.parametrize("path", ["chosen", "by hand", "naive", native])
LOOSELY = {"rtol": 1e-4, "atol": 1e-5}
"""float32 leaves about 1e-7 a step, and what is compared is of the order of 1."""


def tolerance(path: str, atol: float, rtol: float = 0) -> dict[str, float]:
    return LOOSELY if path == "native" else {"rtol": rtol, "atol": atol}


both_ways = pytest.mark.parametrize("reverse", [False, True], ids=["ahead", "back"])


def mask_of(lengths: list[int], width: int) -> Tensor:
    return torch.arange(width) < torch.tensor(lengths).unsqueeze(1)


def tensors_of(cell: Cell, batch: int, width: int, m: int = M, n: int = N) -> list[Tensor]:
    """Inputs, the parts of a first state that is not zero, and the weights, in float64."""
    generator = torch.Generator().manual_seed(width)
    shapes = [(batch, width, m), *[(batch, n)] * cell.parts]
    shapes += [(cell.gates * n, m), (cell.gates * n, n), (cell.gates * n,)]
    if cell.more:
        shapes.append((cell.more * n,))
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def running(path: Callable[..., Any], parts: int, mask: Tensor, **options: Any) -> Callable[..., Any]:
    """`path` as a function of tensors alone: (states, *last state)."""

    def run(inputs: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        states, last = path(inputs, mask, tuple(rest[:parts]), *rest[parts:], **options)
        return (states, *last)

    return run


SIZES = {
    "one word": ([1], 1),
    "a batch of one": ([5], 5),
    "one real word in a padded row": ([1, 7, 3], 7),
    "padding beyond the longest": ([2, 1], 4),
    "63": ([63, 20], 63),
    "65": ([65, 65, 1], 65),
}


@every_recurrence
@both_ways
@pytest.mark.parametrize("path", ["chosen", "by hand", native])
@pytest.mark.parametrize(("lengths", "width"), SIZES.values(), ids=SIZES.keys())
def test_a_fast_path_is_the_naive_one_in_values_and_gradients(cell, path, reverse, lengths, width, agree):
    mask = mask_of(lengths, width)
    agree(
        running(cell.path(path), cell.parts, mask, reverse=reverse),
        running(cell.path("naive"), cell.parts, mask, reverse=reverse),
        tensors_of(cell, len(lengths), width),
        LOOSELY if path == "native" else None,
    )


@every_recurrence
@both_ways
@pytest.mark.parametrize("path", ["chosen", "by hand", native])
def test_dropout_of_states_has_the_derivatives_of_the_definition(cell, path, reverse, agree):
    state_mask = torch.tensor([[0.0, 2.0], [2.0, 1.0], [2.0, 0.0]], dtype=torch.float64)
    options, mask = {"reverse": reverse, "state_mask": state_mask}, mask_of([4, 1, 3], 4)
    agree(
        running(cell.path(path), cell.parts, mask, **options),
        running(cell.path("naive"), cell.parts, mask, **options),
        tensors_of(cell, 3, 4),
        LOOSELY if path == "native" else None,
    )


@every_recurrence
@pytest.mark.parametrize("path", ["chosen", "by hand", "naive"])
@both_ways
def test_gradients_are_the_derivatives(cell, path, reverse):
    run = running(cell.path(path), cell.parts, mask_of([3, 1], 3), reverse=reverse)
    tensors = [tensor.requires_grad_() for tensor in tensors_of(cell, 2, 3)]
    assert torch.autograd.gradcheck(run, tensors)


@every_recurrence
@both_ways
def test_the_naive_path_is_one_step_after_another(cell, reverse):
    tensors = tensors_of(cell, 2, 4)
    inputs, state, (W, U, b, *inner) = (
        tensors[0],
        tuple(tensors[1 : 1 + cell.parts]),
        tensors[1 + cell.parts :],
    )
    states, last = cell.path("naive")(inputs, mask_of([4, 4], 4), state, W, U, b, *inner, reverse=reverse)
    for t in reversed(range(4)) if reverse else range(4):
        state = cell.step(inputs[:, t] @ W.T + b, state, U, *inner)
        torch.testing.assert_close(states[:, t], state[0], rtol=0, atol=1e-15)
    torch.testing.assert_close(last, state, rtol=0, atol=1e-15)


@every_recurrence
@every_path
@both_ways
def test_padding_and_the_garbage_in_it_change_nothing(cell, path, reverse):
    tensors = [tensor.requires_grad_() for tensor in tensors_of(cell, 3, 4)]
    lengths = [4, 1, 2]
    plain = running(cell.path(path), cell.parts, mask_of(lengths, 4), reverse=reverse)(*tensors)
    padded_mask = mask_of(lengths, 6)
    garbage = torch.full((3, 6, M), 1e3, dtype=torch.float64)
    garbage[:, :4] = torch.where(mask_of(lengths, 4).unsqueeze(-1), tensors[0].detach(), -1e3)
    garbage.requires_grad_()
    others = tensors[1:]
    padded = running(cell.path(path), cell.parts, padded_mask, reverse=reverse)(garbage, *others)
    assert torch.equal(padded[0][~padded_mask], torch.zeros_like(padded[0][~padded_mask]))
    torch.testing.assert_close(padded[0][:, :4], plain[0], **tolerance(path, 1e-15))
    torch.testing.assert_close(padded[1:], plain[1:], **tolerance(path, 1e-15))
    expected = torch.autograd.grad(sum((out**2).sum() for out in plain), tensors)
    found = torch.autograd.grad(sum((out**2).sum() for out in padded), [garbage, *others])
    assert torch.equal(found[0][~padded_mask], torch.zeros_like(found[0][~padded_mask]))
    torch.testing.assert_close(
        found[0][:, :4][padded_mask[:, :4]], expected[0][padded_mask[:, :4]], **tolerance(path, 1e-7, 1e-7)
    )
    torch.testing.assert_close(found[1:], expected[1:], **tolerance(path, 1e-13, 1e-12))


@every_recurrence
@every_path
@both_ways
def test_reordering_a_batch_reorders_the_answer(cell, path, reverse):
    order = torch.tensor([2, 0, 1])
    mask = mask_of([2, 5, 3], 5)
    tensors = tensors_of(cell, 3, 5)
    rows = 1 + cell.parts
    plain = running(cell.path(path), cell.parts, mask, reverse=reverse)(*tensors)
    moved = running(cell.path(path), cell.parts, mask[order], reverse=reverse)(
        *[tensor[order] for tensor in tensors[:rows]], *tensors[rows:]
    )
    torch.testing.assert_close(moved, tuple(out[order] for out in plain), **tolerance(path, 1e-14))


@every_recurrence
@every_path
@both_ways
def test_dropping_states_is_scaling_the_columns_that_meet_them(cell, path, reverse):
    """U (s ∘ mask) = (U · diag(mask)) s, so each row is a plain run with its own U."""
    mask = mask_of([4, 2], 4)
    tensors = tensors_of(cell, 2, 4)
    state_mask = torch.tensor([[0.0, 2.0], [2.0, 1.0]], dtype=torch.float64)
    dropped = running(cell.path(path), cell.parts, mask, reverse=reverse, state_mask=state_mask)(*tensors)
    at_U = 2 + cell.parts
    for row in range(2):
        own = [tensor[row : row + 1] for tensor in tensors[: 1 + cell.parts]] + tensors[1 + cell.parts :]
        own[at_U] = own[at_U] * state_mask[row]
        expected = running(cell.path("naive"), cell.parts, mask[row : row + 1], reverse=reverse)(*own)
        torch.testing.assert_close(
            tuple(out[row : row + 1] for out in dropped), expected, **tolerance(path, 1e-14)
        )


@every_recurrence
def test_which_path_runs(cell):
    tensors = tensors_of(cell, 1, 2)
    run = running(cell.path("chosen"), cell.parts, mask_of([2], 2))
    dropping = {"state_mask": torch.ones(1, N, dtype=torch.float64)}
    with explain() as choices:
        run(*tensors)
        with naive_only():
            run(*tensors)
        run(*tensors)
        running(cell.path("chosen"), cell.parts, mask_of([2], 2), **dropping)(*tensors)
    # torch's own kernels have no dropout of states; the steps by hand do, but there are none of torch's GRU
    dropped = "naive" if cell.name == "gru-torch" else "torch"
    assert [choice.backend for choice in choices] == ["torch", "naive", "torch", dropped]
    assert {choice.op for choice in choices} == {cell.name}


def test_naive_only_ends_with_its_block_even_on_an_error():
    assert fused_wanted()
    with pytest.raises(ZeroDivisionError), naive_only():
        fused_wanted() or 1 / 0
    assert fused_wanted()
    with naive_only():
        with naive_only():
            pass
        assert not fused_wanted()
