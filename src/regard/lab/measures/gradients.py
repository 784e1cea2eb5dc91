"""How much of a gradient arrives how far back, and how it grows or falls a step.

In: a loss and the states before it; norms. Out: norms by lag, growth factors, quartiles over seeds. It knows
no cells.

A reader whose loss stands at the last step alone, so that a gradient's way back can be followed step by step.

In: ids, and any cell. Out: the states h_1 … h_T one by one, and logits at T from h_T, or from h_T and a context over
all states with h_T as the query. It does not know what the ids mean.

The GRU that attends to its own past: the papers have none, so it is made here as their RNN and LSTM were.

In: as every cell of `regard.layers`. Out: likewise. In the place of h_{t−1} stands s_t = Σ_{i<t} α_i h_i.

The task that needs memory and nothing else: which symbol came first?

In: a reader, sizes, a rate, a clip. Out: what each update did, and how often the reader is right afterwards. Lines are
drawn anew for every update, all symbols alike, so nothing but the symbol asked for says anything about the answer.

What the size of the recurrent matrix does to a gradient: the barest recurrence, its spectral radius swept.

In: radii, sizes, seeds. Out: the growth of ∂(v·h_T)/∂h_t a step. For the linear recurrence it is (Uᵀ)^{T−t} v, so its
growth tends to the radius; with tanh every step is also multiplied by 1 − h², which is at most 1.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from regard.batches import LabelledBatch
from regard.errors import RegardError
from regard.layers import ENERGIES, Attention, Cell, Embedding, Head, SelfAttentive
from regard.ops.gru import gru_step
from regard.ops.rnn import rnn_step
from regard.ops.tape import Scoring, extend, kept, read_tape
from regard.ops.unroll import State, unroll_attending
from regard.tasks.config import TrainingConfig
from regard.tasks.loss import sequence_loss
from regard.training.fabric import build_fabric
from regard.training.loop import update


def norms_by_lag(loss: Tensor, states: Sequence[Tensor]) -> Tensor:
    """‖∂loss/∂h_t‖ of each row through every path that leads from h_t to the loss.

    Args:
        loss: a sum over rows, each row's part depending on that row's states alone.
        states: h_1 … h_T, each (B, n); the tensors that were used, not copies of them.

    Returns:
        (T, B); first the lag 0, which is h_T's, last the lag T − 1, which is h_1's. Zero where no path leads.
    """
    found = torch.autograd.grad(loss, list(states), allow_unused=True)
    rows = [
        torch.zeros_like(h) if grad is None else grad for h, grad in zip(states, found, strict=True)
    ]  # (B, n) each
    norms: Tensor = torch.linalg.vector_norm(torch.stack(rows[::-1]), dim=-1)  # (T, B)
    return norms


def geometric_mean(values: Tensor) -> Tensor:
    """The geometric mean over the last axis, for numbers that lie orders of magnitude apart; 0 if one is 0."""
    return values.log().mean(dim=-1).exp()


def growth_per_step(norms: Sequence[float], first: int = 0) -> float:
    """The factor g of norm ∝ g^lag, by least squares on the logarithms.

    Args:
        norms: by lag from 0 on.
        first: the lag from which on they count.

    Returns:
        Below 1 where the gradient vanishes, above 1 where it explodes; not a number where a norm is 0 or infinite.
    """
    logs = [math.log(norm) if 0 < norm < math.inf else math.nan for norm in norms[first:]]
    lags = np.arange(first, len(norms), dtype=float)
    slope = np.polyfit(lags, np.array(logs), 1)[0] if all(map(math.isfinite, logs)) else math.nan
    return math.exp(slope)


def rate_ratio(growth: float, other: float) -> float:
    """How many times as fast one gradient vanishes or explodes as another; 0 where it does neither.

    Args:
        growth: a factor a step, from `growth_per_step`.
        other: likewise; where it is 1, the question has no answer.
    """
    return abs(math.log(growth) / math.log(other)) if other != 1 else math.nan


def arrived(norms: Sequence[float]) -> float:
    """The norm at the first word over that at the last; not a number where there is none at the last.

    Args:
        norms: by lag from 0 on.
    """
    return norms[-1] / norms[0] if norms[0] else math.nan


@dataclass(frozen=True)
class Quartiles:
    """What lies in the middle of several rows of numbers, column by column.

    Attributes:
        low: a quarter of the rows lie below it.
        median: half of them.
        high: three quarters.
    """

    low: list[float]
    median: list[float]
    high: list[float]

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]]) -> "Quartiles":
        """The quartiles over rows of one length, one a seed."""
        low, median, high = np.quantile(np.array(rows), (0.25, 0.5, 0.75), axis=0).tolist()
        return cls(low, median, high)


class LastStepReader(nn.Module):
    """Embedding, cell and head; with attention or without.

    Args:
        cell: makes the cell of an input's and a state's width, as a class of `layers.CELLS`.
        num_symbols: how many different ids there are.
        num_labels: how many there are to choose from at the end.
        size: of embedding and state, m = n.
        attends: whether the head sees, beside h_T, a context over h_1 … h_T, attended to with h_T as query.
        seed: of the first weights, which are the toolkit's own (``glorot``).
    """

    def __init__(
        self,
        cell: Callable[[int, int], Cell],
        num_symbols: int,
        num_labels: int,
        size: int,
        *,
        attends: bool,
        seed: int,
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = Embedding(num_symbols, size)
            self.cell = cell(size, size)
            self.head = Head(2 * size if attends else size, num_labels)
            self.attention: Attention | None = ENERGIES["additive"](size, size, size) if attends else None

    def steps(self, ids: Tensor) -> list[Tensor]:
        """h_1 … h_T, each (B, n), one step after the other: whatever uses h_t uses the tensor in this list."""
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
        everywhere = torch.ones(states.shape[:2], dtype=torch.bool)
        keys, values = self.attention.keys(states), self.attention.values(states)
        context = self.attention.attend(last.unsqueeze(1), keys, values, everywhere).context[:, 0]  # (B, n)
        return self.head(torch.cat([last, context], dim=-1))  # type: ignore[no-any-return]

    def forward(self, ids: Tensor) -> Tensor:
        """Logits at T, all steps by the quicker path."""
        embedded = self.embedding(ids)
        everywhere = torch.ones(ids.shape, dtype=torch.bool)
        states, _ = self.cell(embedded, everywhere, self.cell.zero_state(ids.shape[0], embedded))
        return self.logits(states)

    def gradient_norms(self, ids: Tensor, answers: Tensor) -> list[float]:
        """‖∂loss_T/∂h_t‖ by lag, the geometric mean over rows.

        In double precision, which the reader keeps: single would call 10⁻⁴⁶ zero.
        """
        self.double()
        states = self.steps(ids)
        loss = sequence_loss(self.logits(torch.stack(states, dim=1)), answers)
        found: list[float] = geometric_mean(norms_by_lag(loss, states)).tolist()
        return found


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
    """One step of a GRU over s_t = Σ_{i<t} α_i h_i in the place of h_{t−1}, α from x_t, s_{t−1} and h_i.

    The same exchange as in `ops.self_attentive_rnn.read_step`, and with the same arguments:

    Args:
        projected: [W x_t + b; P x_t], (B, 3n + p).
        previous_state: (h_{t−1}, s_{t−1}, keys and values of the tape, its mask).
        U: the matrices of s_t, stacked update, reset, candidate, (3n, n).
        S: the matrix of s_{t−1} in the query, (p, n).
        scoring: how the query is compared with what was written.
        span: how many real slots the tape keeps; 0 for all.
        state_mask: dropout of s_t where it meets U, (B, n).
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
    """The GRU with the state before replaced by what it reads of its own past, as `RNNRead` replaces the RNN's."""

    num_gates = 3
    step_op = staticmethod(gru_read_step)

    def read(
        self,
        inputs: Tensor,
        mask: Tensor,
        initial: State,
        reverse: bool = False,
        state_mask: Tensor | None = None,
    ) -> tuple[Tensor, State, Tensor]:
        """As `sequence`, and alpha: a row for each word, a column for each slot in the order of writing."""
        assert self.S is not None, "it asks before its update"
        projected, S = self.project(inputs), self.S  # (B, T, 3n + p)

        def step(x: Tensor, state: State, real: Tensor) -> tuple[State, Tensor]:
            return gru_read_step(x, state, self.U, S, self.scoring, self.span, state_mask, real)

        return unroll_attending(step, projected, mask, initial, reverse)


@dataclass(frozen=True)
class Course:
    """How a training went.

    Attributes:
        losses: in nats, one an update.
        norms: of the gradient before clipping, one an update.
        diverged: whether it stopped because the loss or the gradient was no number any more.
    """

    losses: tuple[float, ...]
    norms: tuple[float, ...]
    diverged: bool

    @property
    def end(self) -> float:
        """The mean loss of the last tenth of updates; infinite where it diverged."""
        tail = self.losses[-max(1, len(self.losses) // 10) :]
        return float("inf") if self.diverged else sum(tail) / len(tail)


def draw_lines(
    generator: torch.Generator, rows: int, length: int, symbols: int, asked: int = 0
) -> tuple[Tensor, Tensor]:
    """Some lines and their answers: ids (rows, length), and of each line the symbol at the place asked for."""
    ids = torch.randint(symbols, (rows, length), generator=generator)
    return ids, ids[:, asked]


def endless_lines(
    seed: int, rows: int, length: int, symbols: int, asked: int = 0
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches for ever, the same for equal seeds; see `draw_lines`."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield draw_lines(generator, rows, length, symbols, asked)


def teach(
    reader: LastStepReader,
    optimizer: Optimizer,
    lines: Iterator[tuple[Tensor, Tensor]],
    *,
    updates: int,
    clip: float,
) -> Course:
    """Train a reader in place, by the toolkit's own update.

    Args:
        reader: what learns.
        optimizer: over its parameters.
        lines: batches of ids and answers.
        updates: how many.
        clip: the greatest norm of the gradient; 0 for no limit.
    """
    fabric = build_fabric(TrainingConfig(device="cpu", max_updates=updates))
    model, ready = fabric.setup(reader, optimizer)

    def loss(batch: LabelledBatch) -> Tensor:
        return sequence_loss(model(batch.ids[0]), batch.label_ids)

    losses: list[float] = []
    norms: list[float] = []
    for _ in range(updates):
        ids, answers = next(lines)
        batch = LabelledBatch((ids,), (), answers)
        try:
            done = update(fabric, model, ready, [batch], loss, clip=clip)
        except RegardError:
            return Course(tuple(losses), tuple(norms), diverged=True)
        losses.append(done.loss)
        norms.append(done.gradient_norm)
    return Course(tuple(losses), tuple(norms), diverged=False)


def accuracy(reader: LastStepReader, ids: Tensor, answers: Tensor) -> float:
    """How often the reader's likeliest answer is right."""
    with torch.no_grad():
        return float((reader(ids).argmax(dim=-1) == answers).double().mean())


def recurrence(projected: Tensor, U: Tensor, *, linear: bool) -> list[Tensor]:
    """The barest recurrence from a zero state: h_t = f(p_t + U h_{t−1}).

    Args:
        projected: p_1 … p_T, (B, T, n).
        U: (n, n).
        linear: whether f is nothing at all, rather than tanh.

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
    """The growth of the gradient a step at each radius, one Gaussian matrix being scaled.

    Args:
        radii: of the recurrent matrix.
        seed: of the matrix, the inputs and v.
        length: T.
        size: n.
        rows: B, over which norms are averaged geometrically.
        linear: see `recurrence`.
    """
    dice = torch.Generator().manual_seed(seed)
    # inputs as long as the toolkit's first word vectors: 1 on average
    words = torch.randn((rows, length, size), generator=dice, dtype=torch.float64) / math.sqrt(size)
    matrix = torch.randn((size, size), generator=dice, dtype=torch.float64)
    v = torch.randn(size, generator=dice, dtype=torch.float64)
    found = []
    for radius in radii:
        states = recurrence(words.requires_grad_(), with_spectral_radius(matrix, radius), linear=linear)
        norms = geometric_mean(norms_by_lag((states[-1] @ v).sum(), states))
        found.append(growth_per_step(norms.tolist()))
    return found
