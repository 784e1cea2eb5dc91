"""Searching with RNNsearch-50 on a GPU: n 1000, m 620, 30,000 words a side, weights as they were drawn.

In: how many sentences at a time, how wide a beam, a precision. Out: target tokens a second, source and target tokens a
second, memory, and the share of the time the GPU was busy. Sources have 50 words, and every output is forced to 50;
the end marks are computed and not counted. From padded ids on the GPU to hypotheses on the host, nothing left out.
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
from regard.search.options import SearchOptions
from regard.text.specials import SPECIAL_PIECES
from regard.training.configure import PRESETS

WORDS = 50
PRECISIONS = {"bf16": torch.bfloat16, "float32 (TF32)": torch.float32}


def rnnsearch(precision: str, device: str) -> Seq2Seq:
    """The preset's model, frozen, all of it in one precision."""
    torch.manual_seed(1)
    config = ModelConfig.from_mapping(PRESETS["rnnsearch-50"]()["model"], "model")
    model = Seq2Seq(config, VOCABULARY, VOCABULARY).to(device, PRECISIONS[precision])
    return pack_model(model.eval())


def sources(sentences: int, device: str) -> SourceBatch:
    """Sentences of `WORDS` words, none like another."""
    drawn = torch.randint(len(SPECIAL_PIECES), VOCABULARY, (sentences, WORDS))
    return pad_sources(drawn.tolist()).to(device)


def searching(model: Seq2Seq, batch: SourceBatch, beam: int, words: int) -> Callable[[], list[Any]]:
    """A search for outputs of so many words, again and again; what it returns is on the host."""
    options = SearchOptions(beam=beam, min_length=words, max_ratio=0, max_extra=words + 1)

    @torch.inference_mode()
    def search() -> list[Any]:
        encoded = model.encode(batch.source_ids, batch.source_mask)
        return search(model.decoder, encoded, options)

    return search


def decoding(sentences: int, beam: int, precision: str, repeats: int = 5) -> dict[str, Any]:
    """A row of figures; a time is the median of several, by the clock, for the host decides too."""
    model, batch = rnnsearch(precision, "cuda"), sources(sentences, "cuda")
    search = searching(model, batch, beam, WORDS)
    found = [search() for _ in range(2)][-1]
    lengths = {len(each.hypotheses[0].ids) for each in found}
    assert lengths == {WORDS + 1}, f"outputs of {sorted(lengths)} words and end mark"
    taken = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        started = time.perf_counter()
        search()
        taken.append(time.perf_counter() - started)
    seconds, tokens = median(taken), sentences * WORDS
    return {"beam": beam, "sentences": sentences, "precision": precision, "ms": 1000 * seconds,
            "target_tokens_per_second": tokens / seconds, "source_and_target": 2 * tokens / seconds,
            "sentences_per_second": sentences / seconds, "gpu_busy": _busy(search) / seconds,
            "peak_mib": peak_mib(search)}  # fmt: skip


def _busy(search: Callable[[], object]) -> float:
    """The seconds that the GPU's kernels take in one search."""
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        search()
        torch.cuda.synchronize()
    events = [one for one in seen.key_averages() if str(one.device_type) == "DeviceType.CUDA"]
    return float(sum(one.self_device_time_total for one in events)) / 1e6
