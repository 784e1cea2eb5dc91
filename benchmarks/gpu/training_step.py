"""An update of RNNsearch-50 on a GPU: n 1000, m 620, 30,000 words per side, with Regard's model and objective.

In: the number of sentences and their lengths. Out: source and target tokens per second, peak memory, and the time by
kernel. An update is what training does: bfloat16 by autocast, clipping by the norm of the gradient, fused Adam, and
reading the loss back.
"""

import random
from contextlib import AbstractContextManager, nullcontext
from itertools import cycle
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from benchmarks.gpu.stopwatch import median_ms, peak_mib
from regard.batches import Batch, PairBatch, pad_pairs
from regard.models import ModelConfig, Seq2Seq
from regard.tasks.translate.objective import TranslationObjective
from regard.text import EncodedPair
from regard.training.configure import PRESETS
from regard.training.loop import update

VOCABULARY, LONGEST = 30_000, 50


def batches(sentences: int, full_length: bool, count: int, seed: int = 1) -> list[PairBatch]:
    """Batches of pairs of similar length, as bucketing makes them; with `full_length`, all sentences have 50 words.

    Lengths follow a gamma distribution of mean 22, as in a corpus of up to 50 words; targets differ by up to a fifth.
    """
    rng = random.Random(seed)

    def pair() -> EncodedPair:
        length = LONGEST - 1
        if not full_length:
            length = 0
            while not 1 <= length < LONGEST:
                length = round(rng.gammavariate(3.0, 22 / 3))
        target_length = (
            length if full_length else min(LONGEST - 1, max(1, round(length * rng.uniform(0.8, 1.2))))
        )
        words = [[rng.randrange(4, VOCABULARY) for _ in range(size)] for size in (length, target_length)]
        return EncodedPair(*words)

    pairs = sorted((pair() for _ in range(sentences * count)), key=lambda pair: len(pair.target_ids))
    padded = [pad_pairs(pairs[i : i + sentences]).to("cuda") for i in range(0, len(pairs), sentences)]
    rng.shuffle(padded)
    return padded


class Device:
    """The methods of Fabric that an update calls, for one GPU in bfloat16."""

    def no_backward_sync(self, model: Any, enabled: bool) -> AbstractContextManager[None]:
        """Nothing: there is one process."""
        return nullcontext()

    def backward(self, loss: Tensor) -> None:
        """Compute the gradients."""
        loss.backward()

    def clip_gradients(self, model: Any, optimizer: Any, max_norm: float, error_if_nonfinite: bool) -> Tensor:
        """Clip the gradient; its norm before that."""
        return torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm, foreach=True)


class Training:
    """A model, its objective and its optimizer; `update` trains on the next batch."""

    def __init__(self, data: list[PairBatch]) -> None:
        torch.manual_seed(1)
        config = ModelConfig.from_mapping(PRESETS["rnnsearch-50"]()["model"], "model")
        self.objective = TranslationObjective(Seq2Seq(config, VOCABULARY, VOCABULARY), 0.0).cuda()
        self.optimizer = torch.optim.Adam(self.objective.parameters(), lr=1e-3, fused=True)
        self.data = cycle(data)
        self.loss = 0.0

    def update(self) -> None:
        """One update."""
        batch = next(self.data)
        self.loss = update(Device(), self.objective, self.optimizer, [batch], self._loss, clip=1.0).loss

    def _loss(self, batch: Batch) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss: Tensor = self.objective(batch)
        return loss


def throughput(sentences: int, full_length: bool, count: int = 8) -> dict[str, Any]:
    """Source and target tokens per second, without padding, over `count` batches."""
    data = batches(sentences, full_length, count)
    tokens = sum(int(batch.source_mask.sum() + batch.target_mask.sum()) for batch in data)
    training = Training(data)

    def all_batches() -> None:
        for _ in data:
            training.update()

    milliseconds = median_ms(all_batches, warmup=1, repeats=3)
    lengths = "all 50" if full_length else "as in a corpus"
    return {"sentences": sentences, "lengths": lengths, "tokens": tokens / count, "ms": milliseconds / count,
            "tokens_per_second": 1000 * tokens / milliseconds, "peak_mib": peak_mib(training.update),
            "loss": training.loss}  # fmt: skip


def profile_update(sentences: int, rows: int = 25) -> list[dict[str, Any]]:
    """The kernels of an update by their time on the GPU, largest first; then the idle time and the total."""
    training = Training(batches(sentences, True, 1))
    for _ in range(3):
        training.update()
    milliseconds = median_ms(training.update, warmup=0, repeats=5)
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiled:
        training.update()
        torch.cuda.synchronize()
    kernels = [event for event in profiled.key_averages() if str(event.device_type) == "DeviceType.CUDA"]
    kernels.sort(key=lambda event: -event.self_device_time_total)
    busy = sum(event.self_device_time_total for event in kernels) / 1000
    table = [
        {"kernel": event.key[:90], "calls": event.count, "ms": event.self_device_time_total / 1000}
        for event in kernels
    ]
    rest = {"kernel": "all others", "calls": sum(row["calls"] for row in table[rows:]),
            "ms": sum(row["ms"] for row in table[rows:])}  # fmt: skip
    idle = {"kernel": "(the GPU idle)", "calls": 0, "ms": milliseconds - busy}
    return [*table[:rows], rest, idle, {"kernel": "(the whole update)", "calls": 1, "ms": milliseconds}]
