"""The baseline: the same model as an ordinary loop over `torch.nn` modules, trained and searched without Regard's code.

BiLSTM encoder, LSTMCell decoder, additive attention, input feeding: Regard's ``luong`` decoder, parameter for
parameter. Training starts from Regard's initial weights and uses the same batches, so that the losses must agree; Adam
and clipping are torch's, called as the tutorials call them. Search is a batched beam that keeps all rows to the end,
repeats the source for every hypothesis and computes the whole softmax: a good loop before any profiling. Float32 only.
"""

import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.process import run_in_subprocess
from benchmarks.search_cases import SearchCase, SearchTiming, check_work
from benchmarks.settings import CLIP, LEARNING_RATE, SEED, Setting, build_task
from benchmarks.training import TrainingResult, batches, time_updates
from regard.batches import batch_by_length, pad_sources
from regard.checkpoint import ModelFolder
from regard.models import Seq2Seq
from regard.text.specials import BOS, EOS, PAD

NAME = "plain PyTorch loop"


class PlainModel(nn.Module):
    """An encoder–decoder made of torch's modules.

    Args:
        vocabulary: V of both sides.
        embedding_size: m.
        encoder_size: units per direction; the decoder has twice as many.
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
            if "bias_hh" in name:  # torch's cells have two biases of which only the sum matters
                nn.init.zeros_(parameter).requires_grad_(False)

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Annotations and keys, (B, Tx, n) both, and the decoder's initial state, a pair of (B, n)."""
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
        """The attentional state, (B, n), input of the output layer and of the next step; and the next state."""
        h, c = self.cell(torch.cat([embedded, fed], 1), state)
        energies = self.energy(torch.tanh(keys + self.query(h).unsqueeze(1))).squeeze(2)  # (B, Tx)
        alpha = energies.masked_fill(~source_mask, -torch.inf).softmax(1)
        context = torch.bmm(alpha.unsqueeze(1), annotations).squeeze(1)
        return self.dropout(torch.tanh(self.mix(torch.cat([context, h], 1)))), (h, c)

    def forward(
        self, source_ids: Tensor, source_mask: Tensor, previous_ids: Tensor, target_ids: Tensor
    ) -> Tensor:
        """The loss, summed over target words and end symbols."""
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
    """The plain model with the weights of Regard's ``luong`` model of the setting."""
    plain = PlainModel(setting.vocabulary, setting.embedding_size, setting.encoder_size, setting.dropout)
    weights = dict(model.named_parameters())
    cell, attention = "decoder.stack.cells.0", "decoder.attention"
    copied = {
        "source_embedding.weight": weights["encoder.embedding.E"],
        "target_embedding.weight": weights["decoder.embedding.E"],
        "cell.weight_ih": torch.cat([weights[f"{cell}.W"], weights["decoder.F"]], 1),
        "cell.weight_hh": weights[f"{cell}.U"],
        "cell.bias_ih": weights[f"{cell}.b"],
        "key.weight": weights[f"{attention}.U_a"],
        "query.weight": weights[f"{attention}.W_a"],
        "energy.weight": weights[f"{attention}.v_a"].unsqueeze(0),
        "mix.weight": weights["decoder.readout.W_c.weight"],
        "output.weight": weights["decoder.output.W_o"],
        "output.bias": weights["decoder.output.b_o"],
    }
    for suffix, direction in (("", "forward"), ("_reverse", "backward")):
        layer = f"encoder.stack.{direction}_layers.0.cells.0"
        for name, letter in (("weight_ih", "W"), ("weight_hh", "U"), ("bias_ih", "b")):
            copied[f"encoder.{name}_l0{suffix}"] = weights[f"{layer}.{letter}"]
    zero_biases = {name: value for name, value in plain.state_dict().items() if "bias_hh" in name}
    plain.load_state_dict({**{name: value.detach() for name, value in copied.items()}, **zero_biases})
    return plain


def measure_training(setting: Setting, *, threads: int) -> TrainingResult:
    """Train the baseline in a subprocess; see `benchmarks.training.measure`."""
    result = run_in_subprocess("benchmarks.plain:train", {"setting": setting.to_json()}, threads=threads)
    return TrainingResult(**result, warmup=setting.warmup)


def train(setting: dict[str, Any]) -> dict[str, Any]:
    """Train in this process; `measure_training` calls this in a subprocess."""
    chosen = Setting.from_json(setting)
    task = build_task(chosen, "luong")
    torch.manual_seed(SEED)
    model = plain_copy(task.build(), chosen).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    def train_on(batch: Any) -> float:
        loss = model(batch.source_ids, batch.source_mask, batch.previous_ids, batch.target_ids)
        loss = loss / batch.num_tokens
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        return float(loss.detach())

    return time_updates(batches(task), train_on, chosen.updates)


@torch.no_grad()
def plain_beam(model: PlainModel, source_ids: Tensor, source_mask: Tensor, beam: int, words: int) -> Tensor:
    """Search for outputs of a fixed length, and the end symbol after it.

    Args:
        model: in evaluation mode.
        source_ids: (B, Tx).
        source_mask: (B, Tx).
        beam: K.
        words: the number of words of every output.

    Returns:
        The ids of the best hypotheses, (B, words + 1).
    """
    B = source_ids.shape[0]
    annotations, keys, (h, c) = model.encode(source_ids, source_mask)
    annotations, keys, source_mask, h, c = (
        tensor.repeat_interleave(beam, 0) for tensor in (annotations, keys, source_mask, h, c)
    )
    fed, previous = torch.zeros_like(h), torch.full((B * beam,), BOS)
    scores = torch.full((B, beam), -torch.inf)  # all hypotheses start equal: only one may count
    scores[:, 0] = 0
    ids = torch.zeros(B * beam, 0, dtype=torch.long)
    for t in range(words + 1):
        fed, (h, c) = model.step(
            model.target_embedding(previous), fed, (h, c), annotations, keys, source_mask
        )
        log_probs = model.output(fed).log_softmax(1)  # (B·K, V)
        log_probs[:, [PAD, BOS]] = -torch.inf
        if t < words:
            log_probs[:, EOS] = -torch.inf
        else:
            end = log_probs[:, EOS].clone()
            log_probs.fill_(-torch.inf)
            log_probs[:, EOS] = end
        totals = (scores.view(-1, 1) + log_probs).view(B, -1)  # (B, K·V)
        scores, choice = totals.topk(beam, dim=1)
        parents = (torch.arange(B).unsqueeze(1) * beam + choice // log_probs.shape[1]).flatten()
        previous = (choice % log_probs.shape[1]).flatten()
        ids = torch.cat([ids[parents], previous.unsqueeze(1)], 1)
        fed, h, c = fed[parents], h[parents], c[parents]
    return ids.view(B, beam, -1)[:, 0]


def measure_search(
    setting: Setting, case: SearchCase, folder: Path, lines: Path, *, threads: int
) -> SearchTiming:
    """Search in a subprocess.

    Args:
        setting: the sizes.
        case: the beam and the batch size.
        folder: Regard's model, whose weights and tokenizers are used.
        lines: the file of sources.
        threads: the number of threads.

    Raises:
        RegardError: the run failed.
    """
    arguments = {"setting": setting.to_json(), "case": case.to_json()}
    paths = {"folder": str(folder.absolute()), "lines": str(lines.absolute())}
    started = time.perf_counter()
    measured = run_in_subprocess("benchmarks.plain:search", {**arguments, **paths}, threads=threads)
    outputs = measured.pop("outputs")
    measured["total_seconds"] = time.perf_counter() - started
    return check_work(measured, case, setting.output_words, outputs)


def search(setting: dict[str, Any], case: dict[str, Any], folder: str, lines: str) -> dict[str, Any]:
    """Search in this process; `measure_search` calls this in a subprocess."""
    chosen, search_case = Setting.from_json(setting), SearchCase(**case)
    loaded = ModelFolder(folder).load()
    model = plain_copy(loaded.model, chosen).eval()
    source, target = loaded.tokenizers["source"], loaded.tokenizers["target"]
    encoded = source.encode_batch(Path(lines).read_text(encoding="utf-8").splitlines())
    outputs, seconds = [""] * len(encoded), []
    for members in batch_by_length([len(ids) + 1 for ids in encoded], search_case.batch, 10**9):
        started = time.perf_counter()
        batch = pad_sources([encoded[k] for k in members])
        best = plain_beam(model, batch.source_ids, batch.source_mask, search_case.beam, chosen.output_words)
        ids = best.tolist()
        seconds.append(time.perf_counter() - started)
        for k, words in zip(members, ids, strict=True):
            outputs[k] = target.decode(words)
    return {"seconds": seconds, "outputs": outputs}
