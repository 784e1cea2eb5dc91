"""A whole update of RNNsearch-50: n 1000, m 620, 30,000 words a side, through Regard's own model and objective.

In: how many sentences, and how long they are. Out: source and target tokens a second, the memory at the peak, and where
the time goes by kernel. An update is what training does: bfloat16 by autocast, the gradient's norm clipped, Adam in one
fused kernel, the loss read back.
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


def batches(sentences: int, whole: bool, count: int, seed: int = 1) -> list[PairBatch]:
    """Batches as bucketing leaves them: pairs of like length together. With `whole`, every sentence is 50 words.

    Lengths are drawn as a corpus of up to 50 words has them: a gamma of mean 22, targets within a fifth of sources.
    """
    draw = random.Random(seed)

    def pair() -> EncodedPair:
        length = LONGEST - 1
        if not whole:
            length = 0
            while not 1 <= length < LONGEST:
                length = round(draw.gammavariate(3.0, 22 / 3))
        other = length if whole else min(LONGEST - 1, max(1, round(length * draw.uniform(0.8, 1.2))))
        words = [[draw.randrange(4, VOCABULARY) for _ in range(size)] for size in (length, other)]
        return EncodedPair(*words)

    pairs = sorted((pair() for _ in range(sentences * count)), key=lambda one: len(one.target_ids))
    made = [pad_pairs(pairs[i : i + sentences]).to("cuda") for i in range(0, len(pairs), sentences)]
    draw.shuffle(made)
    return made


class Device:
    """What an update asks of Fabric, for one GPU in bfloat16."""

    def no_backward_sync(self, model: Any, enabled: bool) -> AbstractContextManager[None]:
        """There are no other processes."""
        return nullcontext()

    def backward(self, loss: Tensor) -> None:
        """From the loss to gradients."""
        loss.backward()

    def clip_gradients(self, model: Any, optimizer: Any, max_norm: float, error_if_nonfinite: bool) -> Tensor:
        """The gradient's norm before it is clipped."""
        return torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm, foreach=True)


class Training:
    """A model, its objective and its optimizer; `update` learns from the next batch."""

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
        self.loss = update(
            Device(), self.objective, self.optimizer, [batch], self._compute_loss, clip=1.0
        ).loss

    def _compute_loss(self, batch: Batch) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss: Tensor = self.objective(batch)
        return loss


def throughput(sentences: int, whole: bool, count: int = 8) -> dict[str, Any]:
    """Source and target tokens a second, padding not counted, over all of `count` batches."""
    data = batches(sentences, whole, count)
    tokens = sum(int(one.source_mask.sum() + one.target_mask.sum()) for one in data)
    training = Training(data)

    def all_batches() -> None:
        for _ in data:
            training.update()

    milliseconds = median_ms(all_batches, warmup=1, repeats=3)
    lengths = "all 50" if whole else "as in a corpus"
    return {"sentences": sentences, "lengths": lengths, "tokens": tokens / count, "ms": milliseconds / count,
            "tokens_per_second": 1000 * tokens / milliseconds, "peak_mib": peak_mib(training.update),
            "loss": training.loss}  # fmt: skip


def where_time_goes(sentences: int, rows: int = 25) -> list[dict[str, Any]]:
    """The kernels of an update by their time on the GPU, largest first; then the whole, and the time idle."""
    training = Training(batches(sentences, True, 1))
    for _ in range(3):
        training.update()
    milliseconds = median_ms(training.update, warmup=0, repeats=5)
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as seen:
        training.update()
        torch.cuda.synchronize()
    kernels = [one for one in seen.key_averages() if str(one.device_type) == "DeviceType.CUDA"]
    kernels.sort(key=lambda one: -one.self_device_time_total)
    busy = sum(one.self_device_time_total for one in kernels) / 1000
    table = [
        {"kernel": one.key[:90], "calls": one.count, "ms": one.self_device_time_total / 1000}
        for one in kernels
    ]
    rest = {"kernel": "all others", "calls": sum(one["calls"] for one in table[rows:]),
            "ms": sum(one["ms"] for one in table[rows:])}  # fmt: skip
    idle = {"kernel": "(the GPU idle)", "calls": 0, "ms": milliseconds - busy}
    return [*table[:rows], rest, idle, {"kernel": "(the whole update)", "calls": 1, "ms": milliseconds}]
