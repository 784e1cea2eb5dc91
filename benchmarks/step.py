"""A training step on a batch of exactly the lengths wanted, nothing of it padding: what `growth` measures.

In: sizes. Out: a function that takes the step, again and again. For cost the words do not matter, so they are drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.settings import CLIP, RATE, SEED, model_of
from regard.batches import Batch, LineBatch, PairBatch
from regard.models import LanguageModelConfig, LanguageModelNetwork, ModelConfig, Seq2Seq
from regard.tasks.config import TrainingConfig
from regard.tasks.language_model.task import LanguageModelObjective
from regard.tasks.translate.objective import TranslationObjective
from regard.training.fabric import build_fabric
from regard.training.loop import update
from regard.training.optimizer import build_optimizer

_DROPOUT = 0.2


@dataclass(frozen=True)
class Sizes:
    """What a step's cost may grow with.

    Attributes:
        Tx: source positions.
        Ty: target positions.
        n: units of the decoder; the encoder has half of them each way, and embeddings stay as they are.
        B: sentences.
        V: words of either vocabulary.
        m: the width of embeddings.
    """

    Tx: int
    Ty: int
    n: int
    B: int
    V: int
    m: int = 128

    def but(self, name: str, value: int) -> "Sizes":
        """The same with one size changed."""
        return replace(self, **{name: value})


def translating(sizes: Sizes, decoder: str) -> Callable[[], None]:
    """A step of a translator: `decoder` as in `settings`."""
    config = ModelConfig.from_mapping(model_of(decoder, sizes.m, sizes.n // 2, _DROPOUT), "model")
    torch.manual_seed(SEED)
    objective = TranslationObjective(Seq2Seq(config, sizes.V, sizes.V), 0.0)
    source, previous, target = (torch.randint(sizes.V, (sizes.B, T)) for T in (sizes.Tx, sizes.Ty, sizes.Ty))
    batch = PairBatch(
        source, torch.ones_like(source).bool(), previous, target, torch.ones_like(target).bool()
    )
    return _step(objective, batch, lambda loss: loss)


def reading(sizes: Sizes, cell: str) -> Callable[[], None]:
    """A step of a language model with a cell such as ``lstmn``, over `Ty` words."""
    torch.manual_seed(SEED)
    config = LanguageModelConfig(cell=cell, embedding_size=sizes.m, state_size=sizes.n)
    objective = LanguageModelObjective(LanguageModelNetwork(config, sizes.V), 0.0)
    previous, target = (torch.randint(sizes.V, (sizes.B, sizes.Ty)) for _ in range(2))
    batch = LineBatch(previous, target, torch.ones_like(previous).bool())
    return _step(objective, batch, lambda result: result[0])


def _step(objective: nn.Module, batch: Batch, loss: Callable[[Any], Tensor]) -> Callable[[], None]:
    """An update on one batch; `loss` finds the loss in what the objective returns."""
    training = TrainingConfig(learning_rate=RATE, clip=CLIP, device="cpu", max_updates=1)
    fabric = build_fabric(training)
    model, optimizer = fabric.setup(objective, build_optimizer(objective, training))

    def step() -> None:
        update(fabric, model, optimizer, [batch], lambda each: loss(model(each)), clip=CLIP)

    return step
