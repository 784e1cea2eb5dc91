"""The yardstick: the same model as a loop that anyone would write with `torch.nn`, without a line of Regard in it.

BiLSTM encoder, LSTMCell decoder, additive attention, input feeding: Regard's ``luong`` decoder, parameter for
parameter. It starts from Regard's own first weights and reads the very batches, so that after as many updates its
loss must be as low; Adam and clipping are torch's, called as the tutorials call them. Full precision only.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.process import in_own_process
from benchmarks.settings import CLIP, RATE, SEED, Setting, task_of
from benchmarks.training import Measured, batches, stopwatch
from regard.models import Seq2Seq
from regard.text.specials import PAD


class PlainModel(nn.Module):
    """An encoder–decoder of torch's own parts.

    Args:
        vocabulary: V of both sides.
        embedding_size: m.
        encoder_size: units each way; the decoder has twice as many.
        dropout: on embeddings and attentional states.
    """

    def __init__(self, vocabulary: int, embedding_size: int, encoder_size: int, dropout: float) -> None:
        super().__init__()
        m, n = embedding_size, 2 * encoder_size
        self.source_embedding = nn.Embedding(vocabulary, m)
        self.target_embedding = nn.Embedding(vocabulary, m)
        self.encoder = nn.LSTM(m, encoder_size, bidirectional=True, batch_first=True)
        self.cell = nn.LSTMCell(m + n, n)
        self.key = nn.Linear(n, n, bias=False)
        self.query = nn.Linear(n, n, bias=False)
        self.energy = nn.Linear(n, 1, bias=False)
        self.mix = nn.Linear(2 * n, n, bias=False)
        self.output = nn.Linear(n, vocabulary)
        self.dropout = nn.Dropout(dropout)
        for name, parameter in self.named_parameters():
            if "bias_hh" in name:  # torch's cells have two biases that only ever appear as their sum
                nn.init.zeros_(parameter).requires_grad_(False)

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Annotations and keys, (B, Tx, n) both, and the decoder's first state, two of (B, n)."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(self.source_embedding(source_ids)),
            source_mask.sum(1),
            batch_first=True,
            enforce_sorted=False,
        )
        states, last = self.encoder(packed)
        annotations, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)  # (B, Tx, n)
        h, c = (both.transpose(0, 1).flatten(1) for both in last)  # (B, n)
        return annotations, self.key(annotations), (h, c)

    def step(
        self,
        embedded: Tensor,
        fed: Tensor,
        state: tuple[Tensor, Tensor],
        annotations: Tensor,
        keys: Tensor,
        source_mask: Tensor,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The attentional state that the output layer reads and the next step is fed, (B, n), and the next state."""
        h, c = self.cell(torch.cat([embedded, fed], 1), state)
        energies = self.energy(torch.tanh(keys + self.query(h).unsqueeze(1))).squeeze(2)  # (B, Tx)
        alpha = energies.masked_fill(~source_mask, -torch.inf).softmax(1)
        context = torch.bmm(alpha.unsqueeze(1), annotations).squeeze(1)
        return self.dropout(torch.tanh(self.mix(torch.cat([context, h], 1)))), (h, c)

    def forward(
        self, source_ids: Tensor, source_mask: Tensor, previous_ids: Tensor, target_ids: Tensor
    ) -> Tensor:
        """The loss, summed over target words and end marks."""
        annotations, keys, state = self.encode(source_ids, source_mask)
        embedded = self.dropout(self.target_embedding(previous_ids))
        fed = torch.zeros_like(state[0])
        readouts = []
        for t in range(previous_ids.shape[1]):
            fed, state = self.step(embedded[:, t], fed, state, annotations, keys, source_mask)
            readouts.append(fed)
        logits = self.output(torch.stack(readouts, 1)).flatten(0, 1)
        return functional.cross_entropy(logits, target_ids.flatten(), ignore_index=PAD, reduction="sum")


def plain_copy(model: Seq2Seq, setting: Setting) -> PlainModel:
    """The plain model with the weights of one of Regard's, of the setting's ``luong`` kind."""
    plain = PlainModel(setting.vocabulary, setting.embedding_size, setting.encoder_size, setting.dropout)
    ours = dict(model.named_parameters())
    cell, attention = "decoder.stack.cells.0", "decoder.attention"
    taken = {
        "source_embedding.weight": ours["encoder.embedding.E"],
        "target_embedding.weight": ours["decoder.embedding.E"],
        "cell.weight_ih": torch.cat([ours[f"{cell}.W"], ours["decoder.F"]], 1),
        "cell.weight_hh": ours[f"{cell}.U"],
        "cell.bias_ih": ours[f"{cell}.b"],
        "key.weight": ours[f"{attention}.U_a"],
        "query.weight": ours[f"{attention}.W_a"],
        "energy.weight": ours[f"{attention}.v_a"].unsqueeze(0),
        "mix.weight": ours["decoder.readout.W_c.weight"],
        "output.weight": ours["decoder.output.W_o"],
        "output.bias": ours["decoder.output.b_o"],
    }
    for suffix, way in (("", "forward"), ("_reverse", "backward")):
        layer = f"encoder.stack.{way}_layers.0.cells.0"
        for name, letter in (("weight_ih", "W"), ("weight_hh", "U"), ("bias_ih", "b")):
            taken[f"encoder.{name}_l0{suffix}"] = ours[f"{layer}.{letter}"]
    kept = {name: value for name, value in plain.state_dict().items() if "bias_hh" in name}
    plain.load_state_dict({**{name: value.detach() for name, value in taken.items()}, **kept})
    return plain


def measure(setting: Setting, *, threads: int) -> Measured:
    """Train the yardstick in a process of its own; see `benchmarks.training.measure`."""
    result = in_own_process("benchmarks.plain:train", {"setting": setting.to_json()}, threads=threads)
    return Measured(**result, warmup=setting.warmup)


def train(setting: dict[str, Any]) -> dict[str, Any]:
    """Train in this process; what `measure` calls in its child."""
    chosen = Setting.from_json(setting)
    task = task_of(chosen, "luong")
    torch.manual_seed(SEED)
    model = plain_copy(task.build(), chosen).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)

    def do(batch: Any) -> float:
        loss = model(batch.source_ids, batch.source_mask, batch.previous_ids, batch.target_ids)
        loss = loss / batch.num_tokens
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        return float(loss.detach())

    return stopwatch(batches(task), do, chosen.updates)
