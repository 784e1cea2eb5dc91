"""Where the time of an update goes: embeddings, encoder, keys, recurrence, readout, loss, their backward passes, ….

In: a setting and a decoder. Out: seconds per part, medians over updates, and beside them the time of tokenising and
padding a batch. The update is the real one: parts are timed by hooks on the model's modules and, backwards, on the
tensors between them, whose gradients arrive in reverse order. A readout inside the decoder's loop counts as
recurrence; the output matrix counts as loss.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import torch

from benchmarks.report import Section, Table
from benchmarks.settings import SEED, Setting, build_task
from benchmarks.training import batches
from regard.batches import Batch, pad_pairs
from regard.models import Seq2Seq
from regard.tasks.translate.task import TranslateTask
from regard.text import SentencePair, encode_pairs
from regard.training.fabric import build_fabric
from regard.training.loop import update
from regard.training.optimizer import build_optimizer

PARTS = (
    "source embedding",
    "encoder",
    "keys",
    "target embedding",
    "recurrence",
    "readout",
    "output and loss",
)
AFTER = ("clipping", "optimizer")


class UpdateTimer:
    """Times of one update by part.

    Args:
        model: the model whose parts are timed.
        clock: returns seconds.
    """

    def __init__(self, model: Seq2Seq, clock: Callable[[], float] = time.perf_counter) -> None:
        self._model, self._clock = model, clock
        self.reset()

    def reset(self) -> None:
        """Discard the previous update."""
        self.forward: dict[str, float] = {}
        self._backward: list[tuple[str, float]] = []
        self.after: dict[str, float] = {}
        self._started: dict[str, float] = {}
        self._num_readouts = 0

    @contextmanager
    def attached(self, fabric: Any, optimizer: torch.optim.Optimizer) -> Iterator[None]:
        """Register the hooks; they are removed when the block ends."""
        model, decoder = self._model, self._model.decoder
        assert decoder.attention is not None, "every decoder of the benchmark has attention"
        modules: dict[str, Any] = {
            "source embedding": model.encoder.embedding,
            "encoder": model.encoder.stack,
            "target embedding": decoder.embedding,
            "readout": decoder.readout,
            "decoder": decoder,
        }
        hooks = []
        for name, module in modules.items():
            hooks.append(module.register_forward_pre_hook(self._start_hook(name)))
            hooks.append(module.register_forward_hook(self._end_hook(name)))
        replaced = [
            (decoder.attention, "keys", self._timed("keys", decoder.attention.keys)),
            (fabric, "backward", self._timed("backward", fabric.backward)),
            (fabric, "clip_gradients", self._timed("clipping", fabric.clip_gradients)),
            (optimizer, "step", self._timed("optimizer", optimizer.step)),
        ]
        for owner, name, timed in replaced:
            setattr(owner, name, timed)
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
            for owner, name, _ in replaced:
                delattr(owner, name)

    def _start_hook(self, name: str) -> Callable[..., None]:
        def start(module: Any, inputs: tuple[Any, ...]) -> None:
            if name == "readout":
                self._num_readouts += 1
                # the gradient of the readout's input arrives when the readout's backward pass is done
                if self._num_readouts == 1:
                    self._mark("readout", inputs[0])
            self._started[name] = self._clock()

        return start

    def _end_hook(self, name: str) -> Callable[..., None]:
        def end(module: Any, inputs: tuple[Any, ...], result: Any) -> None:
            self.forward[name] = self.forward.get(name, 0.0) + self._clock() - self._started[name]
            if name in ("source embedding", "target embedding"):
                self._mark({"source embedding": "encoder", "target embedding": "recurrence"}[name], result)
            elif name == "encoder":
                self._mark("keys", result[0])
            elif name == "decoder":
                self._mark("output and loss", result.readout)

        return end

    def _mark(self, name: str, tensor: Any) -> None:
        """Record when this tensor's gradient arrives: then the backward pass of the part `name` is done."""
        tensor.register_hook(lambda _: self._backward.append((name, self._clock())))

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            started = self._started[name] = self._clock()
            result = function(*arguments, **options)
            (self.forward if name == "keys" else self.after)[name] = self._clock() - started
            if name == "keys":
                self._mark("target embedding", result)
            return result

        return timed

    def durations(self, total: float) -> dict[str, float]:
        """Seconds by part and ``backward of`` each part; the rest is what no hook covers.

        Args:
            total: seconds of the update.
        """
        in_loop = self._num_readouts > 1  # called at every step: part of the recurrence
        forward = dict(self.forward)
        decoder = forward.pop("decoder")
        if in_loop:
            forward.pop("readout")
        forward["recurrence"] = decoder - forward["target embedding"] - forward.get("readout", 0.0)
        forward["output and loss"] = self._started["backward"] - self._started["decoder"] - decoder
        backward: dict[str, float] = {}
        last = self._started["backward"]
        for name, stamp in self._backward:
            if not (in_loop and name == "readout"):
                backward[f"backward of {name}"] = stamp - last
                last = stamp
        backward["backward of source embedding"] = self._started["backward"] + self.after["backward"] - last
        after = {name: self.after[name] for name in AFTER}
        parts = {name: forward[name] for name in PARTS if name in forward}
        backwards = {f"backward of {name}": backward.get(f"backward of {name}", 0.0) for name in parts}
        covered = {**parts, **backwards, **after}
        return {**covered, "rest": total - sum(covered.values())}


def measure(setting: dict[str, Any], decoder: str) -> dict[str, Any]:
    """Time the parts of one model's update, in this process."""
    chosen = Setting.from_json(setting)
    task = build_task(chosen, decoder)
    fabric = build_fabric(task.config.training)
    torch.manual_seed(SEED)
    timer = UpdateTimer(task.build())
    model, optimizer = fabric.setup(task.objective(), build_optimizer(task.model, task.config.training))
    model.train()
    upcoming, rows = batches(task), []

    def loss(batch: Batch) -> torch.Tensor:
        return task.loss(model, batch, 0.0)

    with timer.attached(fabric, optimizer):
        for k in range(chosen.updates):
            batch = next(upcoming)
            timer.reset()
            started = time.perf_counter()
            update(fabric, model, optimizer, [batch], loss, clip=task.config.training.clip)
            if k >= chosen.warmup:
                rows.append(timer.durations(time.perf_counter() - started))
    seconds = {name: median(row[name] for row in rows) for name in rows[0]}
    return {"seconds": seconds, "input": _input_seconds(task, chosen)}


def _input_seconds(task: TranslateTask, setting: Setting) -> dict[str, float]:
    """Seconds per batch: text to ids, and ids to padded tensors."""
    train, _ = setting.corpus.pairs()
    plan = task.plan(0)[: max(3, setting.updates // 2)]
    tokenised, padded = [], []
    for members in plan:
        pairs = [SentencePair(*train[k]) for k in members]
        started = time.perf_counter()
        encoded = list(encode_pairs(pairs, task.tokenizers["source"], task.tokenizers["target"]))
        tokenised_at = time.perf_counter()
        pad_pairs(encoded)
        tokenised.append(tokenised_at - started)
        padded.append(time.perf_counter() - tokenised_at)
    return {"tokenising": median(tokenised), "batching": median(padded)}


def breakdown_section(results: dict[str, dict[str, Any]]) -> Section:
    """The breakdown of several models, each under ``setting, decoder``."""
    tables = []
    for model, row in results.items():
        seconds = row["seconds"]
        total = sum(seconds.values())
        rows = []
        for name in (*PARTS, *AFTER, "rest"):
            if name in seconds:
                backward = seconds.get(f"backward of {name}")
                both = seconds[name] + (backward or 0.0)
                cells = [_milliseconds(seconds[name]), "" if backward is None else _milliseconds(backward)]
                rows.append([name, *cells, f"{both / total:.1%}"])
        rows.append(["update", _milliseconds(total), "", "100.0%"])
        for name, duration in row["input"].items():
            rows.append(
                [f"besides: {name} per batch", _milliseconds(duration), "", f"{duration / total:.1%}"]
            )
        tables.append(
            Table(f"{model}: milliseconds per part.", ["part", "forward", "backward", "share"], rows)
        )
    return Section(
        "breakdown",
        "Where the time goes",
        [
            "Medians over the updates of one run, from hooks on the real update. A readout inside the decoder’s loop "
            "is part of the recurrence; the output matrix is part of the loss. Tokenising happens once, before "
            "training; if it were repeated for each batch, it would add the share given. A batch is padded while the "
            "model waits, so this share is time that the model loses.",
        ],
        tables,
        numbers=results,
    )


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.1f}"
