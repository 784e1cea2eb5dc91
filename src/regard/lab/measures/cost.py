"""Small models that differ in attention alone, asked for their loss at any two lengths, by either path.

In: which model, which path, sizes. Out: the model, and a function of l₁ and l₂. Nothing is padding, so that every
position is work.

What a computation costs, counted instead of timed: operations, and bytes kept for the backward pass.

In: something that computes with torch. Out: numbers that do not depend on the machine or on what else runs on it.
torch's own kernels for whole recurrences would count as one operation; give the paths that are written out.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from regard.batches import PairBatch
from regard.models import LanguageModelConfig, LanguageModelNetwork, ModelConfig, Seq2Seq
from regard.ops.native import native_off
from regard.ops.paths import naive_only
from regard.tasks.loss import sequence_loss

FIXED, ATTENTION, GRU, LSTMN = "fixed vector", "attention", "GRU", "LSTMN"
"""Two translators and two readers."""
NAIVE, FUSED = "naive", "fused"
VOCABULARY = 50


@dataclass(frozen=True)
class Arm:
    """A model that is measured on one path."""

    model: str
    path: str

    @property
    def name(self) -> str:
        """As in the numbers."""
        return f"{self.model}, {self.path}"


def work_of(arm: Arm, *, size: int, rows: int, seed: int) -> tuple[nn.Module, Callable[[int, int], Tensor]]:
    """A model, and what gives its loss on a random batch of two lengths; a reader minds the second alone.

    Args:
        arm: which, and by which path.
        size: units of embeddings, of encoder states each way, of the energies and of the readout.
        rows: pairs in a batch.
        seed: of the weights and the words.
    """
    model = _build(arm.model, size, seed)

    def loss(l1: int, l2: int) -> Tensor:
        batch = _batch(rows, l1, l2, seed)
        with naive_only() if arm.path == NAIVE else nullcontext():
            if isinstance(model, LanguageModelNetwork):
                logits = model(batch.previous_ids, batch.target_mask).logits
            else:
                logits = model(batch).logits
            return sequence_loss(logits, batch.target_ids.flatten())

    return model, loss


def _build(name: str, n: int, seed: int) -> Seq2Seq | LanguageModelNetwork:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if name in (GRU, LSTMN):
            reader = LanguageModelConfig(cell=name.lower(), embedding_size=n, state_size=n)
            return LanguageModelNetwork(reader, VOCABULARY)
        part = {"cell": "gru", "embedding_size": n}
        decoder: dict[str, Any] = {**part, "state_size": 2 * n, "readout_size": n}
        if name == ATTENTION:
            decoder |= {"kind": "bahdanau", "attention": {"energy": "additive", "size": n}}
        else:
            decoder |= {"kind": "cho"}
        mapping = {"encoder": {**part, "state_size": n}, "decoder": decoder}
        return Seq2Seq(ModelConfig.from_mapping(mapping, "model"), VOCABULARY, VOCABULARY)


def _batch(rows: int, l1: int, l2: int, seed: int) -> PairBatch:
    generator = torch.Generator().manual_seed(seed)
    source, previous, target = (
        torch.randint(VOCABULARY, (rows, length), generator=generator) for length in (l1, l2, l2)
    )
    return PairBatch(
        source, torch.ones(source.shape).bool(), previous, target, torch.ones(target.shape).bool()
    )


_LEFT_FACTOR = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}
"""Products, by name: which argument is the left factor; each element of the result is a sum over its last axis."""
_IDLE = ("empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "lift_fresh")


class _Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds up multiply-adds of products, and elements written by everything else; views are free."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__.removesuffix("_")
        if name in _IDLE or func.is_view:
            return result
        written = sum(each.numel() for each in _tensors(result))
        self.operations += written * (args[_LEFT_FACTOR[name]].shape[-1] if name in _LEFT_FACTOR else 1)
        return result


def _tensors(result: Any) -> Iterable[Tensor]:
    parts = result if isinstance(result, list | tuple) else [result]
    return [part for part in parts if isinstance(part, Tensor)]


@dataclass(frozen=True)
class Work:
    """What a forward and a backward pass take.

    Attributes:
        operations: multiply-adds of products, and elements written by everything else.
        bytes: what the forward pass keeps for the backward pass, each storage once, parameters left out: they are there
            however long the sentences are.
    """

    operations: int
    bytes: int


def count_work(compute: Callable[[], Tensor], parameters: Iterable[Tensor]) -> Work:
    """Count a forward and a backward pass.

    Args:
        compute: gives the loss.
        parameters: of what computes it; their gradients are cleared first, since adding to one is work.
    """
    known = set()
    for parameter in parameters:
        parameter.grad = None
        known.add(parameter.untyped_storage().data_ptr())
    kept: dict[int, torch.UntypedStorage] = {}  # alive, so that no address stands for two storages

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage
        return tensor

    with native_off(), _Counter() as counter:  # inside a C kernel nothing could be counted
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = compute()
        loss.backward()  # type: ignore[no-untyped-call]
    num_bytes = sum(storage.nbytes() for address, storage in kept.items() if address not in known)
    return Work(counter.operations, num_bytes)


def processor_seconds(compute: Callable[[], Tensor]) -> float:
    """Seconds the processor works on a forward and a backward pass; waiting for it is not counted."""
    started = time.process_time()
    compute().backward()  # type: ignore[no-untyped-call]
    return time.process_time() - started
