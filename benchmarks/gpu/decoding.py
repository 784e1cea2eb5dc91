"""Search with RNNsearch-50 on a GPU: n 1000, m 620, 30,000 words per side, random weights.

In: the batch size, the beam width, a precision, lengths, and where the choice is made. Out: target tokens per second,
source and target tokens per second, memory, the fraction of time that the GPU is busy, and how many sentences have the
same output as with the choice on the host. Every output is forced to the length of its source, 50 words or as in a
corpus; the end symbols are computed and not counted. The time is that from padded ids on the GPU to hypotheses on the
host.
"""

import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.gpu.stopwatch import peak_mib
from benchmarks.gpu.training_step import VOCABULARY
from regard.batches import SourceBatch, pad_sources
from regard.inference.packing import pack_model
from regard.models import ModelConfig, Seq2Seq
from regard.ops import explain
from regard.search.beam import search, search_on_host
from regard.search.on_device import DeviceSearch
from regard.search.options import SearchOptions
from regard.text.specials import SPECIAL_PIECES
from regard.training.configure import PRESETS

WORDS = 50
PRECISIONS = {"bf16": torch.bfloat16, "float32 (TF32)": torch.float32}


def rnnsearch(precision: str, device: str) -> Seq2Seq:
    """The preset's model with random weights, packed, in one precision."""
    torch.manual_seed(1)
    config = ModelConfig.from_mapping(PRESETS["rnnsearch-50"]()["model"], "model")
    model = Seq2Seq(config, VOCABULARY, VOCABULARY).to(device, PRECISIONS[precision])
    return pack_model(model.eval())


def sources(sentences: int, device: str, lengths: str = "all 50") -> SourceBatch:
    """Random sentences of `WORDS` words; or of lengths as in a corpus, gamma-distributed with a mean of 22."""
    rng = random.Random(1)
    sizes = [WORDS] * sentences
    if lengths != "all 50":
        sizes = [min(WORDS, max(1, round(rng.gammavariate(3.0, 22 / 3)))) for _ in range(sentences)]
    return pad_sources(
        [[rng.randrange(len(SPECIAL_PIECES), VOCABULARY) for _ in range(size)] for size in sizes]
    ).to(device)


@torch.inference_mode()
def _eagerly(decoder: Any, encoded: Any, options: SearchOptions) -> list[Any]:
    return DeviceSearch(decoder, encoded, options).run()


PATHS: dict[str, Callable[..., list[Any]]] = {
    "graph": search,
    "eager": _eagerly,
    "host": search_on_host,
}
"""Where the choice is made: on the device, with steps captured or not, or on the host."""


def build_search(
    model: Seq2Seq, batch: SourceBatch, options: SearchOptions, path: str = "graph"
) -> Callable[[], list[Any]]:
    """A function that encodes, searches and returns hypotheses on the host."""

    @torch.inference_mode()
    def run() -> list[Any]:
        encoded = model.encode(batch.source_ids, batch.source_mask)
        return PATHS[path](model.decoder, encoded, options)

    return run


def options_of(beam: int) -> SearchOptions:
    """Every output as long as its source."""
    return SearchOptions(beam=beam, min_ratio=1, max_ratio=1, max_extra=1)


def measure(
    sentences: int, beam: int, precision: str, lengths: str = "all 50", path: str = "graph", repeats: int = 7
) -> dict[str, Any]:
    """A row of figures; the time is the median of several by the wall clock, because the host takes part."""
    model, batch = rnnsearch(precision, "cuda"), sources(sentences, "cuda", lengths)
    options = options_of(beam)
    run = build_search(model, batch, options, path)
    with explain() as choices:
        results = [run() for _ in range(3)][-1]
    (chosen,) = {str(choice) for choice in choices if choice.op == "beam search"} or {path}
    real = batch.source_mask.sum(dim=1).tolist()
    assert [len(result.best.ids) for result in results] == real, "every output is as long as its source"
    expected = build_search(model, batch, options, "host")()
    same = sum(one.best.ids == other.best.ids for one, other in zip(results, expected, strict=True))
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    seconds, tokens = median(times), sum(real) - sentences
    return {"beam": beam, "sentences": sentences, "precision": precision, "lengths": lengths, "path": path,
            "ms": 1000 * seconds, "target_tokens_per_second": tokens / seconds,
            "source_and_target": 2 * tokens / seconds, "sentences_per_second": sentences / seconds,
            "gpu_busy": sum(row["ms"] for row in kernels(run)) / 1000 / seconds, "as_on_the_host": same / sentences,
            "explained": chosen, "peak_mib": peak_mib(run)}  # fmt: skip


def kernels(run: Callable[[], object]) -> list[dict[str, Any]]:
    """The kernels of one search by their time on the GPU, largest first."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        run()
        torch.cuda.synchronize()
    events = [event for event in profiled.key_averages() if str(event.device_type) == "DeviceType.CUDA"]
    events.sort(key=lambda event: -event.self_device_time_total)
    return [
        {"kernel": event.key[:90], "calls": event.count, "ms": event.self_device_time_total / 1000}
        for event in events
    ]


def profile_search(beam: int, precision: str = "bf16", sentences: int = 128) -> list[dict[str, Any]]:
    """The kernels of one search, and the time of its parts by the wall clock."""
    model, batch = rnnsearch(precision, "cuda"), sources(sentences, "cuda")
    run = build_search(model, batch, options_of(beam))
    encode = torch.inference_mode()(lambda: model.encode(batch.source_ids, batch.source_mask))
    parts = {"(encoding alone, by the wall clock)": encode, "(the whole search, by the wall clock)": run}
    rows = []
    for name, part in parts.items():
        times = []
        for _ in range(5):
            torch.cuda.synchronize()
            started = time.perf_counter()
            part()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - started)
        rows.append({"kernel": name, "calls": 1, "ms": 1000 * median(times)})
    found = kernels(run)
    rows.append({"kernel": "(all kernels)", "calls": sum(row["calls"] for row in found),
                 "ms": sum(row["ms"] for row in found)})  # fmt: skip
    return [{"beam": beam, **row} for row in (*rows, *found[:30])]
