"""A reader whose loss stands at the last step alone, so that a gradient's way back can be followed step by step.

In: ids, and any cell. Out: the states h_1 … h_T one by one, and logits at T from h_T, or from h_T and a context over
all states with h_T as the query. It does not know what the ids mean.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.lab.measures.gradient_flow import geometric_mean, norms_by_lag
from regard.layers import ENERGIES, Attention, Cell, Embedding, Head
from regard.training.loss import sequence_loss


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
        context = self.attention(last.unsqueeze(1), keys, values, everywhere).context[:, 0]  # (B, n)
        return self.head(torch.cat([last, context], dim=-1))  # type: ignore[no-any-return]

    def forward(self, ids: Tensor) -> Tensor:
        """Logits at T, all steps by the quicker path."""
        embedded = self.embedding(ids)
        everywhere = torch.ones(ids.shape, dtype=torch.bool)
        states, _ = self.cell.sequence(embedded, everywhere, self.cell.zero_state(ids.shape[0], embedded))
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
