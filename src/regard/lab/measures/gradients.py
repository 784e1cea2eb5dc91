"""Gradients along the time axis: how much arrives how far back, for any cell, and for a bare recurrence.

`LastStepReader` has its loss at the last step only, so that the gradient can be followed back step by step; it takes
any cell, `GRURead` (a GRU that attends to its own past) among them. `train_reader` trains it to recall one symbol of a
line of random symbols, a task that needs memory and nothing else. `growths_by_radius` varies the spectral radius of the
recurrent matrix of h_t = f(p_t + U h_{t−1}): for the linear recurrence ∂(v·h_T)/∂h_t is (Uᵀ)^{T−t} v, so its growth
tends to the radius; with tanh every step is also multiplied by 1 − h², which is at most 1.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from regard.batches import LabelledBatch
from regard.layers import Additive, Attention, Cell, Embedding, Head, Output, SelfAttentive
from regard.ops import Outputs
from regard.ops.gru import gru_step
from regard.ops.rnn import rnn_step
from regard.ops.tape import Scoring, extend, kept, read_tape
from regard.ops.unroll import State, unroll_attending
from regard.tasks.base import sequence_loss
from regard.tasks.config import TrainingConfig
from regard.training.fabric import build_fabric
from regard.training.loop import update


def norms_by_lag(loss: Tensor, states: Sequence[Tensor]) -> Tensor:
    """‖∂loss/∂h_t‖ of each row through every path from h_t to the loss.

    Args:
        loss: a sum over rows, each row's part depending on that row's states alone.
        states: h_1 … h_T, each (B, n); the tensors that were used, not copies of them.

    Returns:
        (T, B); first the lag 0, which is h_T's, last the lag T − 1, which is h_1's. Zero if there is no path.
    """
    gradients = torch.autograd.grad(loss, list(states), allow_unused=True)
    rows = [
        torch.zeros_like(h) if gradient is None else gradient
        for h, gradient in zip(states, gradients, strict=True)
    ]  # (B, n) each
    norms: Tensor = torch.linalg.vector_norm(torch.stack(rows[::-1]), dim=-1)  # (T, B)
    return norms


def geometric_mean(values: Tensor) -> Tensor:
    """The geometric mean over the last axis, for numbers orders of magnitude apart; 0 if one is 0."""
    return values.log().mean(dim=-1).exp()


def growth_per_step(norms: Sequence[float], first: int = 0) -> float:
    """The factor g of norm ∝ g^lag, by least squares on the logarithms.

    Args:
        norms: by lag, from 0 on.
        first: the first lag that counts.

    Returns:
        Below 1 if the gradient vanishes, above 1 if it explodes; nan if a norm is 0 or infinite.
    """
    logs = [math.log(norm) if 0 < norm < math.inf else math.nan for norm in norms[first:]]
    lags = np.arange(first, len(norms), dtype=float)
    slope = np.polyfit(lags, np.array(logs), 1)[0] if all(map(math.isfinite, logs)) else math.nan
    return math.exp(slope)


def log_growth_ratio(growth: float, other: float) -> float:
    """How many times as fast one gradient vanishes or explodes as another; 0 if it does neither.

    Args:
        growth: a factor per step, from `growth_per_step`.
        other: the same of the other; if it is 1, the ratio is nan.
    """
    return abs(math.log(growth) / math.log(other)) if other != 1 else math.nan


def remaining(norms: Sequence[float]) -> float:
    """The norm at the first word over that at the last; nan if that is 0.

    Args:
        norms: by lag, from 0 on.
    """
    return norms[-1] / norms[0] if norms[0] else math.nan


@dataclass(frozen=True)
class Quartiles:
    """The quartiles of several rows of numbers, column by column.

    Attributes:
        low: the first quartile.
        median: the second.
        high: the third.
    """

    low: list[float]
    median: list[float]
    high: list[float]

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]]) -> "Quartiles":
        """The quartiles over rows of one length, one per seed."""
        low, median, high = np.quantile(np.array(rows), (0.25, 0.5, 0.75), axis=0).tolist()
        return cls(low, median, high)


class LastStepReader(nn.Module):
    """Embedding, cell and head, with or without attention; logits at the last step only.

    Args:
        cell: makes a cell from the sizes of an input and a state, such as a class of `layers.CELLS`.
        num_symbols: the number of different ids.
        num_labels: the number of answers.
        size: of embedding and state, m = n.
        attends: whether the head sees, besides h_T, a context over h_1 … h_T with h_T as the query.
        bias: whether cell and head have biases; the RNN of lecture 5 has none.
        seed: of the initial weights, which are the toolkit's own (``glorot``).
    """

    def __init__(
        self,
        cell: Callable[..., Cell],
        num_symbols: int,
        num_labels: int,
        size: int,
        *,
        attends: bool,
        seed: int,
        bias: bool = True,
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = Embedding(num_symbols, size)
            self.cell = cell(size, size) if bias else cell(size, size, bias=False)
            width = 2 * size if attends else size
            self.head = Head(width, num_labels) if bias else Output(width, num_labels, bias=False)
            self.attention: Attention | None = Additive(size, size, size) if attends else None

    def steps(self, ids: Tensor) -> list[Tensor]:
        """h_1 … h_T, each (B, n), step by step: whatever uses h_t uses the tensor in this list."""
        projected = self.cell.project(self.embedding(ids))  # (B, T, gn)
        state = self.cell.zero_state(ids.shape[0], projected)
        states = []
        for t in range(ids.shape[1]):
            state = self.cell.step(projected[:, t], state)
            states.append(state[0])
        return states

    def logits(self, states: Tensor) -> Tensor:
        """States (B, T, n) → logits at T, (B, labels)."""
        last = states[:, -1]
        if self.attention is None:
            return self.head(last)  # type: ignore[no-any-return]
        mask = torch.ones(states.shape[:2], dtype=torch.bool)
        keys, values = self.attention.keys(states), self.attention.values(states)
        context = self.attention.attend(last.unsqueeze(1), keys, values, mask).context[:, 0]  # (B, n)
        return self.head(torch.cat([last, context], dim=-1))  # type: ignore[no-any-return]

    def forward(self, ids: Tensor) -> Tensor:
        """Logits at T, all steps by the fused path."""
        embedded = self.embedding(ids)
        mask = torch.ones(ids.shape, dtype=torch.bool)
        states, _ = self.cell(embedded, mask, self.cell.zero_state(ids.shape[0], embedded))
        return self.logits(states)

    def gradient_norms(self, ids: Tensor, answers: Tensor) -> list[float]:
        """‖∂loss_T/∂h_t‖ by lag, the geometric mean over rows.

        The reader is converted to double precision, and stays so: in single precision 10⁻⁴⁶ is zero.
        """
        self.double()
        states = self.steps(ids)
        loss = sequence_loss(self.logits(torch.stack(states, dim=1)), answers)
        norms: list[float] = geometric_mean(norms_by_lag(loss, states)).tolist()
        return norms


def gru_read_step(
    projected: Tensor,
    previous_state: State,
    U: Tensor,
    S: Tensor,
    scoring: Scoring,
    span: int = 0,
    state_mask: Tensor | None = None,
    real: Tensor | None = None,
) -> tuple[State, Tensor]:
    """One step of a GRU with s_t = Σ_{i<t} α_i h_i instead of h_{t−1}, α from x_t, s_{t−1} and h_i.

    The papers have no such GRU; the replacement and the arguments are those of `ops.self_attentive_rnn.read_step`.

    Args:
        projected: [W x_t + b; P x_t], (B, 3n + p).
        previous_state: (h_{t−1}, s_{t−1}, keys and values of the tape, its mask).
        U: the matrices of s_t, stacked update, reset, candidate, (3n, n).
        S: the matrix of s_{t−1} in the query, (p, n).
        scoring: of the query with what is on the tape.
        span: how many real slots the tape keeps; 0 for all.
        state_mask: dropout of s_t where it is multiplied by U, (B, n).
        real: (B, 1), False where the position is padding.

    Returns:
        The state after the step, and alpha over the slots of the tape before it.
    """
    h, s, keys, values, valid = previous_state
    gates, query = torch.split(projected, [U.shape[0], S.shape[0]], dim=-1)
    summary, alpha = read_tape(scoring, query + s @ S.T, keys, values, valid)  # (B, n), (B, t)
    (hidden,) = gru_step(gates, (summary,), U, state_mask)  # (B, n)
    written = hidden.unsqueeze(1)
    slots = scoring.keys(written)[:, 0], scoring.values(written)[:, 0]
    tapes = extend((keys, values), valid, slots, real, span)
    return (kept(real, hidden, h), kept(real, summary, s), *tapes), alpha


class GRURead(SelfAttentive):
    """The GRU whose previous state is replaced by what it reads of its own past, as `RNNRead` replaces the RNN's."""

    num_gates = 3

    def step(self, projected: Tensor, previous_state: State, state_mask: Tensor | None = None) -> State:
        """See `Cell.step`."""
        assert self.S is not None, "the query is computed before the update"
        arguments = (self.U, self.S, self.scoring, self.span, state_mask)
        return gru_read_step(projected, previous_state, *arguments)[0]

    def _run(
        self, inputs: Tensor, mask: Tensor, initial: State, reverse: bool, state_mask: Tensor | None
    ) -> Outputs:
        """All steps in turn; see `Cell._run`."""
        assert self.S is not None, "the query is computed before the update"
        projected, S = self.project(inputs), self.S  # (B, T, 3n + p)

        def step(x: Tensor, state: State, real: Tensor) -> tuple[State, Tensor]:
            return gru_read_step(x, state, self.U, S, self.scoring, self.span, state_mask, real)

        return Outputs(*unroll_attending(step, projected, mask, initial, reverse))


@dataclass(frozen=True)
class TrainingCurve:
    """What each update did.

    Attributes:
        losses: in nats, one per update.
        norms: of the gradient before clipping, one per update.
        diverged: whether training stopped because the loss or the gradient was not a number.
    """

    losses: tuple[float, ...]
    norms: tuple[float, ...]
    diverged: bool

    @property
    def final_loss(self) -> float:
        """The mean loss of the last tenth of updates; infinite if training diverged."""
        tail = self.losses[-max(1, len(self.losses) // 10) :]
        return float("inf") if self.diverged else sum(tail) / len(tail)


def sample_lines(
    generator: torch.Generator, rows: int, length: int, symbols: int, position: int = 0
) -> tuple[Tensor, Tensor]:
    """Lines of independent symbols and their answers: ids (rows, length), and the symbol at the position."""
    ids = torch.randint(symbols, (rows, length), generator=generator)
    return ids, ids[:, position]


def stream_lines(
    seed: int, rows: int, length: int, symbols: int, position: int = 0
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches without end, the same for equal seeds; see `sample_lines`."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield sample_lines(generator, rows, length, symbols, position)


def marked_lines(
    generator: torch.Generator, rows: int, length: int, symbols: int, position: int | None = None
) -> tuple[Tensor, Tensor]:
    """Lines of independent symbols, one of them marked; the answer is that symbol.

    Args:
        generator: of symbols and positions.
        rows: the number of lines.
        length: T.
        symbols: S; a marked symbol's id is S higher.
        position: of the marked one; by default each line's own, any of them equally likely.

    Returns:
        Ids below 2S, (rows, T), and answers, (rows,).
    """
    ids = torch.randint(symbols, (rows, length), generator=generator)
    low, high = (0, length) if position is None else (position, position + 1)
    marked = torch.arange(rows), torch.randint(low, high, (rows,), generator=generator)
    answers = ids[marked]
    ids[marked] += symbols
    return ids, answers


def train_reader(
    reader: nn.Module,
    optimizer: Optimizer,
    lines: Iterator[tuple[Tensor, Tensor]],
    *,
    updates: int,
    clip: float,
) -> TrainingCurve:
    """Train a reader in place, by the toolkit's own update.

    Args:
        reader: the model.
        optimizer: over its parameters.
        lines: batches of ids and answers.
        updates: how many.
        clip: the greatest norm of the gradient; 0 for no limit.
    """
    fabric = build_fabric(TrainingConfig(device="cpu", max_updates=updates))
    model, ready = fabric.setup(reader, optimizer)

    def batch_loss(batch: LabelledBatch) -> Tensor:
        return sequence_loss(model(batch.ids[0]), batch.label_ids)

    losses: list[float] = []
    norms: list[float] = []
    for _ in range(updates):
        ids, answers = next(lines)
        batch = LabelledBatch((ids,), (), answers)
        done = update(fabric, model, ready, [batch], batch_loss, clip=clip)
        if done.skipped:
            return TrainingCurve(tuple(losses), tuple(norms), diverged=True)
        losses.append(done.loss)
        norms.append(done.gradient_norm)
    return TrainingCurve(tuple(losses), tuple(norms), diverged=False)


def accuracy(reader: nn.Module, ids: Tensor, answers: Tensor) -> float:
    """How often the reader's most probable answer is right, from 0 to 1."""
    with torch.no_grad():
        return float((reader(ids).argmax(dim=-1) == answers).double().mean())


def bare_recurrence(projected: Tensor, U: Tensor, *, linear: bool) -> list[Tensor]:
    """h_t = f(p_t + U h_{t−1}) from a zero state.

    Args:
        projected: p_1 … p_T, (B, T, n).
        U: (n, n).
        linear: whether f is the identity instead of tanh.

    Returns:
        h_1 … h_T, each (B, n).
    """
    h = projected.new_zeros(projected.shape[0], U.shape[0])
    states = []
    for p in projected.unbind(dim=1):
        (h,) = (p + h @ U.T,) if linear else rnn_step(p, (h,), U, "tanh")
        states.append(h)
    return states


def with_spectral_radius(matrix: Tensor, radius: float) -> Tensor:
    """A square matrix scaled so that its largest eigenvalue has that absolute value."""
    largest = float(torch.linalg.eigvals(matrix).abs().max())
    return matrix * (radius / largest)


def growths_by_radius(
    radii: Sequence[float], *, seed: int, length: int, size: int, rows: int, linear: bool
) -> list[float]:
    """The growth of the gradient per step at each radius, for one Gaussian matrix that is scaled.

    Args:
        radii: of the recurrent matrix.
        seed: of the matrix, the inputs and v.
        length: T.
        size: n.
        rows: B, over which norms are averaged geometrically.
        linear: see `bare_recurrence`.
    """
    generator = torch.Generator().manual_seed(seed)
    # inputs as long as the toolkit's initial word vectors: 1 on average
    words = torch.randn((rows, length, size), generator=generator, dtype=torch.float64) / math.sqrt(size)
    matrix = torch.randn((size, size), generator=generator, dtype=torch.float64)
    v = torch.randn(size, generator=generator, dtype=torch.float64)
    growths = []
    for radius in radii:
        states = bare_recurrence(words.requires_grad_(), with_spectral_radius(matrix, radius), linear=linear)
        norms = geometric_mean(norms_by_lag((states[-1] @ v).sum(), states))
        growths.append(growth_per_step(norms.tolist()))
    return growths
