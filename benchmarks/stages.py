"""Where an update's time goes: embeddings, encoder, keys, recurrence, readout, loss, their backward passes, and so on.

In: a setting and a decoder. Out: seconds a stage, medians over updates, and beside them what a batch takes to be
tokenised and padded. The update is the real one: parts are timed through hooks on the model's modules and, backwards,
on the tensors between them, whose gradients arrive in the opposite order. A decoder whose readout is inside its loop
has it counted there; the output matrix counts as loss.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import torch

from benchmarks.section import Section, Table
from benchmarks.settings import SEED, Setting, task_of
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


class Stages:
    """Stamps of one update, and what lies between them.

    Args:
        model: whose parts are watched.
        clock: seconds.
    """

    def __init__(self, model: Seq2Seq, clock: Callable[[], float] = time.perf_counter) -> None:
        self._model, self._clock = model, clock
        self.begin()

    def begin(self) -> None:
        """Forget the update before."""
        self.forward: dict[str, float] = {}
        self._backward: list[tuple[str, float]] = []
        self.after: dict[str, float] = {}
        self._opened: dict[str, float] = {}
        self._readouts = 0

    @contextmanager
    def watching(self, fabric: Any, optimizer: torch.optim.Optimizer) -> Iterator[None]:
        """Hooks in place; they are gone when the block ends."""
        model, decoder = self._model, self._model.decoder
        assert decoder.attention is not None, "every decoder of the benchmark attends"
        watched: dict[str, Any] = {
            "source embedding": model.encoder.embedding,
            "encoder": model.encoder.stack,
            "target embedding": decoder.embedding,
            "readout": decoder.readout,
            "decoder": decoder,
        }
        hooks = []
        for name, module in watched.items():
            hooks.append(module.register_forward_pre_hook(self._open(name)))
            hooks.append(module.register_forward_hook(self._close(name)))
        swaps = [
            (decoder.attention, "keys", self._timed("keys", decoder.attention.keys)),
            (fabric, "backward", self._timed("backward", fabric.backward)),
            (fabric, "clip_gradients", self._timed("clipping", fabric.clip_gradients)),
            (optimizer, "step", self._timed("optimizer", optimizer.step)),
        ]
        for owner, name, timed in swaps:
            setattr(owner, name, timed)
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
            for owner, name, _ in swaps:
                delattr(owner, name)

    def _open(self, name: str) -> Callable[..., None]:
        def opened(module: Any, given: tuple[Any, ...]) -> None:
            if name == "readout":
                self._readouts += 1
                if (
                    self._readouts == 1
                ):  # what the readout reads: its gradient comes when the readout's is done
                    self._mark("readout", given[0])
            self._opened[name] = self._clock()

        return opened

    def _close(self, name: str) -> Callable[..., None]:
        def closed(module: Any, given: tuple[Any, ...], result: Any) -> None:
            self.forward[name] = self.forward.get(name, 0.0) + self._clock() - self._opened[name]
            if name in ("source embedding", "target embedding"):
                self._mark({"source embedding": "encoder", "target embedding": "recurrence"}[name], result)
            elif name == "encoder":
                self._mark("keys", result[0])
            elif name == "decoder":
                self._mark("output and loss", result.readout)

        return closed

    def _mark(self, name: str, tensor: Any) -> None:
        """When this tensor's gradient arrives, the backward pass of the part `name` is done."""
        tensor.register_hook(lambda _: self._backward.append((name, self._clock())))

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **options: Any) -> Any:
            started = self._opened[name] = self._clock()
            result = function(*given, **options)
            (self.forward if name == "keys" else self.after)[name] = self._clock() - started
            if name == "keys":
                self._mark("target embedding", result)
            return result

        return timed

    def told(self, whole: float) -> dict[str, float]:
        """Seconds by stage; ``backward of`` a part stands beside it, and the rest is what no hook saw.

        Args:
            whole: the update's seconds.
        """
        inside = self._readouts > 1  # once a step: part of the recurrence
        ahead = dict(self.forward)
        decoder = ahead.pop("decoder")
        if inside:
            ahead.pop("readout")
        ahead["recurrence"] = decoder - ahead["target embedding"] - ahead.get("readout", 0.0)
        ahead["output and loss"] = self._opened["backward"] - self._opened["decoder"] - decoder
        back: dict[str, float] = {}
        last = self._opened["backward"]
        for name, stamp in self._backward:
            if not (inside and name == "readout"):
                back[f"backward of {name}"] = stamp - last
                last = stamp
        back["backward of source embedding"] = self._opened["backward"] + self.after["backward"] - last
        after = {name: self.after[name] for name in AFTER}
        parts = {name: ahead[name] for name in PARTS if name in ahead}
        backwards = {f"backward of {name}": back.get(f"backward of {name}", 0.0) for name in parts}
        seen = {**parts, **backwards, **after}
        return {**seen, "rest": whole - sum(seen.values())}


def stages_of(setting: dict[str, Any], decoder: str) -> dict[str, Any]:
    """Measure the stages of one model, for a process of its own."""
    chosen = Setting.from_json(setting)
    task = task_of(chosen, decoder)
    fabric = build_fabric(task.config.training)
    torch.manual_seed(SEED)
    stages = Stages(task.build())
    model, optimizer = fabric.setup(task.objective(), build_optimizer(task.model, task.config.training))
    model.train()
    coming, rows = batches(task), []

    def compute_loss(batch: Batch) -> torch.Tensor:
        return task.loss(model, batch, 0.0)

    with stages.watching(fabric, optimizer):
        for k in range(chosen.updates):
            batch = next(coming)
            stages.begin()
            started = time.perf_counter()
            update(fabric, model, optimizer, [batch], compute_loss, clip=task.config.training.clip)
            if k >= chosen.warmup:
                rows.append(stages.told(time.perf_counter() - started))
    seconds = {name: median(row[name] for row in rows) for name in rows[0]}
    return {"seconds": seconds, "input": _input_seconds(task, chosen)}


def _input_seconds(task: TranslateTask, setting: Setting) -> dict[str, float]:
    """Seconds a batch: text to ids, and ids to padded tensors."""
    train, _ = setting.corpus.pairs()
    plan = task.plan(0)[: max(3, setting.updates // 2)]
    tokenised, padded = [], []
    for members in plan:
        pairs = [SentencePair(*train[k]) for k in members]
        started = time.perf_counter()
        encoded = list(encode_pairs(pairs, task.prepared.tokenizers["source"], task.prepared.tokenizers["target"]))
        between = time.perf_counter()
        pad_pairs(encoded)
        tokenised.append(between - started)
        padded.append(time.perf_counter() - between)
    return {"tokenising": median(tokenised), "batching": median(padded)}


def stages_section(found: dict[str, dict[str, Any]]) -> Section:
    """The stages of several models, each under ``setting, decoder``."""
    tables = []
    for model, row in found.items():
        seconds = row["seconds"]
        whole = sum(seconds.values())
        rows = []
        for name in (*PARTS, *AFTER, "rest"):
            if name in seconds:
                back = seconds.get(f"backward of {name}")
                both = seconds[name] + (back or 0.0)
                cells = [_milliseconds(seconds[name]), "" if back is None else _milliseconds(back)]
                rows.append([name, *cells, f"{both / whole:.1%}"])
        rows.append(["update", _milliseconds(whole), "", "100.0%"])
        for name, taken in row["input"].items():
            rows.append([f"beside it: {name} a batch", _milliseconds(taken), "", f"{taken / whole:.1%}"])
        tables.append(
            Table(f"{model}: milliseconds a stage.", ["stage", "forward", "backward", "share"], rows)
        )
    return Section(
        "stages",
        "Where the time goes",
        [
            "Medians over the updates of one run, taken by hooks on the real update. A readout inside the decoder’s "
            "loop is part of the recurrence; the output matrix is part of the loss. Tokenising happens once, before "
            "training; were it done anew for each batch, it would add the share that stands beside it. A batch is "
            "padded while the model waits, so that share is what the model starves.",
        ],
        tables,
        numbers=found,
    )


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.1f}"
