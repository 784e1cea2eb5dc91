"""The yardstick's search: a batched beam as anyone would write it with torch, without a line of Regard in it.

In: the plain model with Regard's weights, padded sources, how wide, how many words. Out: the words of the best
hypothesis of each sentence. All rows are kept to the end, sources are repeated for every hypothesis, and the whole
softmax is taken: what a good loop does before anyone has measured it. It reads the batches that Regard reads.
"""

import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.demands import Demand
from benchmarks.plain import PlainModel, plain_copy
from benchmarks.process import in_own_process
from benchmarks.searched import Searched, searched
from benchmarks.settings import Setting
from regard.batches import batch_by_length, pad_sources
from regard.checkpoint import ModelFolder
from regard.text.specials import BOS, EOS, PAD


@torch.no_grad()
def plain_beam(model: PlainModel, source_ids: Tensor, source_mask: Tensor, beam: int, words: int) -> Tensor:
    """Search for so many words and the end mark behind them.

    Args:
        model: in evaluation mode.
        source_ids: (B, Tx).
        source_mask: (B, Tx).
        beam: K.
        words: how many words every output has.

    Returns:
        The ids of the best, (B, words + 1).
    """
    B = source_ids.shape[0]
    annotations, keys, (h, c) = model.encode(source_ids, source_mask)
    annotations, keys, source_mask, h, c = (
        each.repeat_interleave(beam, 0) for each in (annotations, keys, source_mask, h, c)
    )
    fed, previous = torch.zeros_like(h), torch.full((B * beam,), BOS)
    scores = torch.full((B, beam), -torch.inf)  # all begin alike: one of them is enough
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


def measure(setting: Setting, demand: Demand, folder: Path, lines: Path, *, threads: int) -> Searched:
    """Search in a process of its own.

    Args:
        setting: sizes.
        demand: what to search for.
        folder: Regard's model, whose weights and tokenizers are taken.
        lines: the file of sources.
        threads: how many it computes with.

    Raises:
        RegardError: the run failed.
    """
    given = {"setting": setting.to_json(), "demand": demand.to_json()}
    paths = {"folder": str(folder.absolute()), "lines": str(lines.absolute())}
    started = time.perf_counter()
    seen = in_own_process("benchmarks.plain_search:search", {**given, **paths}, threads=threads)
    outputs = seen.pop("outputs")
    return searched({**seen, "whole": time.perf_counter() - started}, demand, setting.output_words, outputs)


def search(setting: dict[str, Any], demand: dict[str, Any], folder: str, lines: str) -> dict[str, Any]:
    """Search in this process; what `measure` calls in its child."""
    chosen, wanted = Setting.from_json(setting), Demand(**demand)
    loaded = ModelFolder(folder).load()
    model = plain_copy(loaded.model, chosen).eval()
    source, target = loaded.tokenizers["source"], loaded.tokenizers["target"]
    encoded = source.encode_batch(Path(lines).read_text(encoding="utf-8").splitlines())
    outputs, seconds = [""] * len(encoded), []
    for members in batch_by_length([len(ids) + 1 for ids in encoded], wanted.batch, 10**9):
        started = time.perf_counter()
        batch = pad_sources([encoded[k] for k in members])
        found = plain_beam(model, batch.source_ids, batch.source_mask, wanted.beam, chosen.output_words)
        ids = found.tolist()
        seconds.append(time.perf_counter() - started)
        for k, words in zip(members, ids, strict=True):
            outputs[k] = target.decode(words)
    return {"seconds": seconds, "outputs": outputs}
