"""Laws of every recurrence with a tape: each path agrees with naive, and the rest of the batch changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from tests.ops.by_backend import by
from torch import Tensor

from regard.ops import explain, lstmn, self_attentive_rnn
from regard.ops.attention import masked_softmax
from regard.ops.native import load
from regard.ops.paths import naive_only
from regard.ops.tape import AdditiveScoring, DotScoring

M, N = 3, 2
SCORINGS = {
    "additive": lambda U_a, v_a: AdditiveScoring(U_a, v_a),
    "dot": lambda U_a, v_a: DotScoring(None, 1.0),
    "scaled-dot": lambda U_a, v_a: DotScoring(None, N**-0.5),
    "bilinear": lambda U_a, v_a: DotScoring(U_a, 1.0),
}


@dataclass(frozen=True)
class Recurrence:
    """One form: its paths as functions of tensors, and what they need."""

    module: Any
    function: str
    step: Callable[..., Any]
    heads: int  # parts of a state before the tapes
    tapes: int
    gates: int
    options: dict[str, Any]
    asks: bool = True  # whether the query has a share of the input
    wide: int = 1  # how many states U meets

    def shapes(self, batch: int, width: int, first: int) -> list[tuple[int, ...]]:
        """Inputs, heads, tapes, W, U, b, S, U_a, v_a; queries and keys as wide as the state, as dot needs."""
        n = self.gates * N
        states = [(batch, N)] * self.heads + [(batch, first, N)] * self.tapes
        weights = [(n + N * self.asks, M), (n, N * self.wide), (n,), (N, N), (N, N), (N,)]
        return [(batch, width, M), *states, *weights]

    def path(self, name: str) -> Callable[..., Any]:
        if name == "naive":
            return getattr(self.module.naive, self.function)
        return getattr(by("chosen" if name == "native" else name), self.function)


def rnn(form: str, **rest: Any) -> Recurrence:
    step = self_attentive_rnn.read_step if form == "read" else self_attentive_rnn.sum_step
    name = "self_attentive_rnn_sequence"
    return Recurrence(self_attentive_rnn, name, step, 2, 2, 1, {"form": form}, **rest)


RECURRENCES = {
    "rnn-read": rnn("read"),
    "rnn-sum": rnn("sum", asks=False),
    "rnn-sum-keep": rnn("sum-keep", asks=False, wide=2),
    "lstmn": Recurrence(lstmn, "lstmn_sequence", lstmn.lstmn_step, 3, 3, 4, {"output": "tanh"}),
    "lstmn-plain": Recurrence(lstmn, "lstmn_sequence", lstmn.lstmn_step, 3, 3, 4, {"output": "plain"}),
}

every_recurrence = pytest.mark.parametrize("cell", RECURRENCES.values(), ids=RECURRENCES.keys())
compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
native = pytest.param("native", marks=compiled)
every_path = pytest.mark.parametrize("path", ["chosen", "naive", native])
every_fast_path = pytest.mark.parametrize("path", ["chosen", native])
EXACTLY, LOOSELY = {"rtol": 0, "atol": 1e-14}, {"rtol": 1e-4, "atol": 1e-5}
"""float64 leaves about 1e-16 a step, float32 1e-7; what is compared is of the order of 1."""


def tolerance(path: str, gradients: bool = False) -> dict[str, float]:
    if path == "native":
        return LOOSELY
    return {"rtol": 1e-12, "atol": 1e-13} if gradients else EXACTLY


both_ways = pytest.mark.parametrize("reverse", [False, True], ids=["ahead", "back"])


def tensors_of(cell: Recurrence, batch: int, width: int, first: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(width)
    shapes = cell.shapes(batch, width, first)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def apart(
    cell: Recurrence, tensors: list[Tensor], valid: Tensor
) -> tuple[Tensor, tuple[Tensor, ...], list[Tensor]]:
    """Inputs, the first state, and the weights."""
    parts = cell.heads + cell.tapes
    return tensors[0], (*tensors[1 : 1 + parts], valid), tensors[1 + parts :]


def passed(
    cell: Recurrence,
    path: str,
    mask: Tensor,
    valid: Tensor,
    tensors,
    scoring=SCORINGS["additive"],
    **options: Any,
) -> tuple[Tensor, tuple[Tensor, ...], Tensor]:
    """States, the last state with its mask, and alpha, in float64; the C kernels compute in float32."""
    if path == "native":
        tensors = [tensor.float() for tensor in tensors]
        options = {
            name: value.float() if isinstance(value, Tensor) else value for name, value in options.items()
        }
    inputs, initial, (W, U, b, S, U_a, v_a) = apart(cell, list(tensors), valid)
    states, last, alpha = cell.path(path)(
        inputs, mask, initial, W, U, b, S, scoring(U_a, v_a), **cell.options, **options
    )
    return states.double(), (*(part.double() for part in last[:-1]), last[-1]), alpha.double()


def written(cell: Recurrence, last: tuple[Tensor, ...], row: int) -> list[Tensor]:
    """The real slots of a row's tapes, in order."""
    return [tape[row, last[-1][row]] for tape in last[cell.heads : -1]]


def running(
    cell: Recurrence, path: str, mask: Tensor, valid: Tensor, scoring=SCORINGS["additive"], **options: Any
) -> Callable[..., Any]:
    """A path as a function of tensors alone: (states, alpha, *last state without its mask)."""

    def run(*tensors: Tensor) -> tuple[Tensor, ...]:
        states, last, alpha = passed(cell, path, mask, valid, tensors, scoring, **options)
        U_a, v_a = tensors[-2:]
        # a scoring without matrices leaves them out; their gradient is then 0 either way
        unused = (U_a.sum() + v_a.sum()) * 0
        return (states + unused, alpha, *last[:-1])

    return run


def mask_of(lengths: list[int], width: int, left: bool = False) -> Tensor:
    mask = torch.arange(width) < torch.tensor(lengths).unsqueeze(1)
    return mask.flip(1) if left else mask


COVERING = {  # each size with the additive energies, each other scoring with padding and without
    "one word": ["additive", "dot"],
    "a batch of one": ["additive", "scaled-dot"],
    "one real word in a padded row": list(SCORINGS),
    "padding beyond the longest, read backwards": ["additive", "bilinear"],
    "17": ["additive"],
}
SIZES = {
    "one word": ([1], 1, 1, False),
    "a batch of one": ([5], 5, 0, False),
    "one real word in a padded row": ([1, 5, 3], 5, 2, False),
    "padding beyond the longest, read backwards": ([2, 1], 4, 1, True),
    "17": ([17, 9], 17, 0, False),
}
HOLES = torch.tensor([[True, True], [False, False], [False, True]])


@every_recurrence
@every_fast_path
@pytest.mark.parametrize(
    ("size", "energy"), [(size, energy) for size, energies in COVERING.items() for energy in energies]
)
def test_a_fast_path_is_the_naive_one_in_values_and_gradients(cell, path, size, energy, agree):
    (lengths, width, first, reverse), scoring = SIZES[size], SCORINGS[energy]
    mask, valid = mask_of(lengths, width), HOLES[: len(lengths), :first]
    agree(
        running(cell, path, mask, valid, scoring, reverse=reverse),
        running(cell, "naive", mask, valid, scoring, reverse=reverse),
        tensors_of(cell, len(lengths), width, first),
        LOOSELY if path == "native" else None,
    )


@every_recurrence
@every_fast_path
@pytest.mark.parametrize(
    "scoring", [SCORINGS["additive"], SCORINGS["bilinear"]], ids=["additive", "bilinear"]
)
@pytest.mark.parametrize("options", [{"span": 1}, {"span": 3}, {"dropped": True}], ids=str)
@pytest.mark.parametrize("left", [False, True], ids=["right", "left"])
def test_they_agree_with_a_span_and_with_states_dropped(cell, path, scoring, options, left, agree):
    options, mask = dict(options), mask_of([3, 2, 6], 6, left)
    if options.pop("dropped", False):
        options["state_mask"] = torch.tensor([[0.0, 2.0], [2.0, 1.0], [2.0, 0.0]], dtype=torch.float64)
    agree(
        running(cell, path, mask, HOLES, scoring, **options),
        running(cell, "naive", mask, HOLES, scoring, **options),
        tensors_of(cell, 3, 6, 2),
        LOOSELY if path == "native" else None,
    )
    masks = [
        passed(cell, name, mask, HOLES, tensors_of(cell, 3, 6, 2), scoring, **options)[1][-1]
        for name in (path, "naive")
    ]
    assert torch.equal(*masks)


@every_recurrence
def test_a_tape_is_as_long_by_both_paths_where_all_rows_begin_with_padding(cell):
    tensors, mask = tensors_of(cell, 2, 6, 0), mask_of([1, 1], 6, left=True)
    found = [passed(cell, path, mask, HOLES[:2, :0], tensors, span=3)[1] for path in ("chosen", "naive")]
    assert found[0][-1].tolist() == found[1][-1].tolist() == [[False, False, True]] * 2


@every_recurrence
def test_gradients_are_the_derivatives(cell):
    run = running(cell, "chosen", mask_of([3, 1], 3), torch.tensor([[True], [True]]), span=2)
    tensors = [tensor.requires_grad_() for tensor in tensors_of(cell, 2, 3, 1)]
    assert torch.autograd.gradcheck(run, tensors, fast_mode=True)


@every_recurrence
@every_path
@both_ways
@pytest.mark.parametrize("span", [0, 2])
def test_a_sequence_is_one_step_after_another(cell, path, reverse, span):
    tensors = tensors_of(cell, 2, 4, 1)
    valid = torch.ones(2, 1, dtype=torch.bool)
    inputs, state, (W, U, b, S, U_a, v_a) = apart(cell, tensors, valid)
    scoring, bias = AdditiveScoring(U_a, v_a), torch.cat([b, b.new_zeros(N * cell.asks)])
    states, last, alpha = passed(cell, path, mask_of([4, 4], 4), valid, tensors, reverse=reverse, span=span)
    options = {key: value for key, value in cell.options.items() if key == "output"} | {"span": span}
    for count, t in enumerate(reversed(range(4)) if reverse else range(4)):
        state, row = cell.step(inputs[:, t] @ W.T + bias, state, U, S, scoring, **options)
        torch.testing.assert_close(states[:, t], state[0], **tolerance(path))
        end = 1 + count + (not cell.asks)
        whole = torch.nn.functional.pad(row, (end - row.shape[1], 5 - end))
        torch.testing.assert_close(alpha[:, t], whole, **tolerance(path))
    torch.testing.assert_close(last, state, **tolerance(path))


@every_recurrence
@every_path
@both_ways
@pytest.mark.parametrize(
    ("left", "first", "span"),
    [(False, 0, 0), (True, 0, 0), (True, 1, 0), (False, 1, 2), (True, 1, 2)],
    ids=["right", "left", "left, given", "right, given, a span", "left, given, a span"],
)
def test_padding_and_the_garbage_in_it_change_nothing(cell, path, reverse, left, first, span):
    """Each sentence alone, without padding, gives what it gives in a batch: values, alpha, ends and gradients."""
    lengths, width = [4, 1, 2], 6
    mask, valid = mask_of(lengths, width, left), torch.ones(3, first, dtype=torch.bool)
    tensors = tensors_of(cell, 3, width, first)
    tensors[0] = torch.where(mask.unsqueeze(-1), tensors[0], 1e3)
    tensors = [tensor.requires_grad_() for tensor in tensors]
    parts = 1 + cell.heads + cell.tapes
    states, last, alpha = passed(cell, path, mask, valid, tensors, reverse=reverse, span=span)
    ends = last[: cell.heads]
    assert torch.equal(states[~mask], torch.zeros_like(states[~mask]))
    assert torch.equal(alpha[~mask], torch.zeros_like(alpha[~mask]))
    kept = [part for row in range(3) for part in written(cell, last, row)]
    found = torch.autograd.grad(
        sum((out**2).sum() for out in (states, *ends, *kept)), tensors, materialize_grads=True
    )
    assert torch.equal(found[0][~mask], torch.zeros_like(found[0][~mask]))
    expected = [torch.zeros_like(tensor) for tensor in tensors]
    slots = torch.cat([valid, mask.flip(1) if reverse else mask], dim=1)
    for row, length in enumerate(lengths):
        own = [tensor[row : row + 1] for tensor in tensors[:parts]] + tensors[parts:]
        own[0] = own[0][:, mask[row]]
        options = {"reverse": reverse, "span": span}
        its_states, its_last, its_alpha = passed(
            cell, path, mask_of([length], length), valid[:1], own, **options
        )
        torch.testing.assert_close(states[row, mask[row]], its_states[0], **tolerance(path))
        torch.testing.assert_close(alpha[row, mask[row]][:, slots[row]], its_alpha[0], **tolerance(path))
        assert not alpha[row][:, ~slots[row]].any()
        for one, other in zip(ends, its_last[: cell.heads], strict=True):
            torch.testing.assert_close(one[row], other[0], **tolerance(path))
        its_slots = written(cell, its_last, 0)
        assert len(its_slots[0]) == min(length + first, span or 99)
        torch.testing.assert_close(written(cell, last, row), its_slots, **tolerance(path))
        value = sum((out**2).sum() for out in (its_states, *its_last[: cell.heads], *its_slots))
        grads = torch.autograd.grad(value, tensors, materialize_grads=True)
        expected = [one + other for one, other in zip(expected, grads, strict=True)]
    torch.testing.assert_close(found, tuple(expected), **tolerance(path, gradients=True))


@every_recurrence
@every_path
@both_ways
def test_reordering_a_batch_reorders_the_answer(cell, path, reverse):
    order, mask = torch.tensor([2, 0, 1]), mask_of([2, 5, 3], 5)
    tensors = tensors_of(cell, 3, 5, 2)
    rows = 1 + cell.heads + cell.tapes
    plain = running(cell, path, mask, HOLES, reverse=reverse)(*tensors)
    moved = running(cell, path, mask[order], HOLES[order], reverse=reverse)(
        *[tensor[order] for tensor in tensors[:rows]], *tensors[rows:]
    )
    torch.testing.assert_close(moved, tuple(out[order] for out in plain), **tolerance(path))


@every_recurrence
@every_path
@pytest.mark.parametrize("span", [0, 3])
def test_two_halves_with_the_state_carried_are_one_whole(cell, path, span):
    """Gradients flow through what is carried, too."""
    mask, valid = mask_of([6, 6], 6), torch.ones(2, 1, dtype=torch.bool)
    tensors = [tensor.requires_grad_() for tensor in tensors_of(cell, 2, 6, 1)]
    parts = 1 + cell.heads + cell.tapes
    states, alpha, *last = running(cell, path, mask, valid, span=span)(*tensors)
    one, _, *carried = running(cell, path, mask[:, :2], valid, span=span)(tensors[0][:, :2], *tensors[1:])
    between = torch.ones(2, carried[-1].shape[1], dtype=torch.bool)
    two, late, *after = running(cell, path, mask[:, 2:], between, span=span)(
        tensors[0][:, 2:], *carried, *tensors[parts:]
    )
    torch.testing.assert_close(torch.cat([one, two], dim=1), states, **tolerance(path))
    torch.testing.assert_close(late, alpha[:, 2:], **tolerance(path))
    torch.testing.assert_close(after, last, **tolerance(path))
    expected = torch.autograd.grad((states**2).sum(), tensors, materialize_grads=True)
    found = torch.autograd.grad((one**2).sum() + (two**2).sum(), tensors, materialize_grads=True)
    torch.testing.assert_close(found, expected, **tolerance(path, gradients=True))


@every_recurrence
@every_path
@pytest.mark.parametrize("span", [0, 2])
def test_padding_in_a_state_that_is_carried_changes_nothing(cell, path, span):
    """Two padded windows, and a step after them, give each row what it gets in one piece and without padding."""
    first, second = mask_of([4, 1, 2], 5), mask_of([2, 3, 0], 4)
    tensors = tensors_of(cell, 3, 10, 1)
    parts = 1 + cell.heads + cell.tapes
    inputs, starts, weights = tensors[0], tensors[1:parts], tensors[parts:]
    pieces, mask = inputs.split([5, 4, 1], dim=1), torch.cat([first, second, mask_of([1] * 3, 1)], dim=1)
    state: tuple[Tensor, ...] = (*starts, torch.ones(3, 1, dtype=torch.bool))
    found = []
    for piece, part in zip(pieces, mask.split([5, 4, 1], dim=1), strict=True):
        given = [piece, *state[:-1], *weights]
        states, state, _ = passed(cell, path, part, state[-1], given, span=span)
        found.append(states)
    for row in range(3):
        own = [inputs[row : row + 1, mask[row]], *(start[row : row + 1] for start in starts), *weights]
        alone = torch.ones(1, int(mask[row].sum()), dtype=torch.bool)
        states, last, _ = passed(cell, path, alone, alone[:, :1], own, span=span)
        torch.testing.assert_close(torch.cat(found, dim=1)[row, mask[row]], states[0], **tolerance(path))
        torch.testing.assert_close(written(cell, state, row), written(cell, last, 0), **tolerance(path))


@every_recurrence
@every_path
def test_a_span_is_respected_and_alpha_is_a_distribution_over_it(cell, path):
    run = running(cell, path, mask_of([6, 6], 6), torch.ones(2, 0, dtype=torch.bool), span=2)
    _, alpha, *last = run(*tensors_of(cell, 2, 6, 0))
    own = 0 if cell.asks else 1
    for t in range(6):
        end = t + own
        inside = torch.arange(6) < end
        inside &= torch.arange(6) >= end - 2
        assert ((alpha[:, t] > 0) == inside).all()
        total = alpha[:, t].sum(dim=-1)
        torch.testing.assert_close(total, torch.full_like(total, float(inside.any())), **tolerance(path))
    assert all(tape.shape[1] == 2 for tape in last[cell.heads :])


@every_recurrence
@every_path
def test_the_first_word_reads_nothing(cell, path):
    """An empty tape gives s_1 = 0; what sums up after the update finds its own state there."""
    states, alpha, *last = running(cell, path, mask_of([1], 1), torch.ones(1, 0, dtype=torch.bool))(
        *tensors_of(cell, 1, 1, 0)
    )
    summary = last[cell.heads - 1]
    if cell.asks:
        assert torch.equal(summary, torch.zeros_like(summary))
        assert not alpha.any()
    else:
        torch.testing.assert_close(summary, states[:, 0], rtol=0, atol=0)
        assert alpha.tolist() == [[[1.0]]]


def test_the_lstmn_of_two_words_by_hand():
    """c_2 = f ∘ c_1 + i ∘ c̃, for at the second word all weight is on the first."""
    cell = RECURRENCES["lstmn"]
    tensors = tensors_of(cell, 1, 2, 0)
    inputs, _, (W, U, b, *_) = apart(cell, tensors, torch.ones(1, 0, dtype=torch.bool))
    states, _, _, c, *_ = running(cell, "naive", mask_of([2], 2), torch.ones(1, 0, dtype=torch.bool))(
        *tensors
    )
    h_before, c_before = torch.zeros(N, dtype=torch.float64), torch.zeros(N, dtype=torch.float64)
    for t in range(2):
        i, f, candidate, o = (W[: 4 * N] @ inputs[0, t] + U @ h_before + b).chunk(4)
        c_before = f.sigmoid() * c_before + i.sigmoid() * candidate.tanh()
        h_before = o.sigmoid() * c_before.tanh()
        torch.testing.assert_close(states[0, t], h_before, rtol=0, atol=1e-15)
    torch.testing.assert_close(c[0], c_before, rtol=0, atol=1e-15)


class _Own:
    """An energy without a fused form: the negative squared distance."""

    def keys(self, states: Tensor) -> Tensor:
        return states

    def values(self, states: Tensor) -> Tensor:
        return 2 * states

    def attend(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        energies = -(query.unsqueeze(2) - keys.unsqueeze(1)).square().sum(dim=-1)
        alpha = masked_softmax(energies, mask)
        return alpha @ values, alpha


@every_recurrence
def test_which_path_runs(cell):
    tensors = tensors_of(cell, 1, 2, 1)
    mask, valid = mask_of([2], 2), torch.ones(1, 1, dtype=torch.bool)
    with explain() as choices:
        for scoring in SCORINGS.values():
            running(cell, "chosen", mask, valid, scoring)(*tensors)
        with naive_only():
            running(cell, "chosen", mask, valid)(*tensors)
        _, alpha, *_ = running(cell, "chosen", mask, valid, lambda U_a, v_a: _Own())(*tensors)
    assert [choice.backend for choice in choices] == ["torch"] * len(SCORINGS) + ["naive", "naive"]
    assert choices[-1].reasons["torch"] == "its energy is neither additive nor a dot product"
    assert alpha[0, 1, :2].sum() == pytest.approx(1.0 if cell.asks else 1 - alpha[0, 1, 2].item())
