"""Search with RNNsearch-50 on a GPU: n 1000, m 620, 30,000 words per side, random weights.

In: the batch size, the beam width, a precision. Out: target tokens per second, source and target tokens per second,
memory, and the fraction of time that the GPU is busy. Sources have 50 words, and every output is forced to 50; the end
symbols are computed and not counted. The time is that from padded ids on the GPU to hypotheses on the host.
"""

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
from regard.search.beam import search
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


def sources(sentences: int, device: str) -> SourceBatch:
    """Random sentences of `WORDS` words."""
    ids = torch.randint(len(SPECIAL_PIECES), VOCABULARY, (sentences, WORDS))
    return pad_sources(ids.tolist()).to(device)


def build_search(model: Seq2Seq, batch: SourceBatch, beam: int, words: int) -> Callable[[], list[Any]]:
    """A function that searches for outputs of `words` words and returns them on the host."""
    options = SearchOptions(beam=beam, min_length=words, max_ratio=0, max_extra=words + 1)

    @torch.inference_mode()
    def run() -> list[Any]:
        encoded = model.encode(batch.source_ids, batch.source_mask)
        return search(model.decoder, encoded, options)

    return run


def measure(sentences: int, beam: int, precision: str, repeats: int = 5) -> dict[str, Any]:
    """A row of figures; the time is the median of several by the wall clock, because the host takes part."""
    model, batch = rnnsearch(precision, "cuda"), sources(sentences, "cuda")
    run = build_search(model, batch, beam, WORDS)
    results = [run() for _ in range(2)][-1]
    lengths = {len(result.hypotheses[0].ids) for result in results}
    assert lengths == {WORDS + 1}, f"outputs of {sorted(lengths)} words and EOS"
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    seconds, tokens = median(times), sentences * WORDS
    return {"beam": beam, "sentences": sentences, "precision": precision, "ms": 1000 * seconds,
            "target_tokens_per_second": tokens / seconds, "source_and_target": 2 * tokens / seconds,
            "sentences_per_second": sentences / seconds, "gpu_busy": _busy_seconds(run) / seconds,
            "peak_mib": peak_mib(run)}  # fmt: skip


def _busy_seconds(run: Callable[[], object]) -> float:
    """The seconds of the GPU's kernels in one search."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        run()
        torch.cuda.synchronize()
    events = [event for event in profiled.key_averages() if str(event.device_type) == "DeviceType.CUDA"]
    return float(sum(event.self_device_time_total for event in events)) / 1e6
