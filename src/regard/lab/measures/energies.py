"""The microworld with fewer words: so few that a small model knows them all after some hundred updates.

In: how much to draw, and how many words to keep. Out: `Splits` without extra sets. The words kept are the commonest
English ones of what is drawn for training, so the held-out parts have no say in the choice.

Times taken in turn: the same work done several ways, each way once a round, so that noise falls on all alike.

In: by name, what to do in a round, such as an update of a translator. Out: seconds a round, by name, and how they stand
to one of them. The clock counts this process's own seconds, so that what else the machine does is left out as far as
can be.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import torch

from regard.batches import pad_pairs
from regard.datasets import Splits
from regard.datasets.microworld import Microworld
from regard.tasks.translate.objective import TranslationObjective
from regard.tasks.translate.predictor import Translator
from regard.text import SentencePair, encode_pairs


def common_splits(train: int, test: int, words: int, seed: int, *, longest: int) -> Splits:
    """Those of the drawn pairs all of whose English words are common.

    Args:
        train: how many pairs to draw for training; fewer are kept.
        test: how many to draw for testing, and for validation.
        words: how many English words are kept, the commonest.
        seed: of the drawing.
        longest: the most English words in a pair.
    """
    drawn = Microworld().splits(train=train, valid=test, test=test, seed=seed, longest=longest)
    counts = Counter(word for example in drawn.train for word in example.source.split())
    common = {word for word, _ in counts.most_common(words)}
    train_pairs, valid_pairs, test_pairs = (
        [example for example in part if common.issuperset(example.source.split())]
        for part in (drawn.train, drawn.valid, drawn.test)
    )
    return Splits(train_pairs, valid_pairs, test_pairs, extra={})


_PAIRS = 64  # in a batch


def take_turns(
    ways: Mapping[str, Callable[[int], None]],
    rounds: int,
    *,
    warmup: int = 2,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, list[float]]:
    """Time every way once a round, each round beginning with another one.

    Args:
        ways: by name: given the number of the round, does the work; all do the same work in the same round.
        rounds: how many are counted.
        warmup: how many go before and are not.
        clock: seconds.
    """
    names = list(ways)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for k in range(-warmup, rounds):
        first = k % len(names)
        for name in names[first:] + names[:first]:
            started = clock()
            ways[name](k % rounds)
            if k >= 0:
                taken[name].append(clock() - started)
    return taken


def ratios(taken: Mapping[str, Sequence[float]], to: str) -> dict[str, float]:
    """The median over rounds of a way's seconds over those of the way `to` in the same round."""
    return {
        name: median(ours / theirs for ours, theirs in zip(seconds, taken[to], strict=True))
        for name, seconds in taken.items()
    }


def updating(folder: Path, pairs: Sequence[SentencePair]) -> Callable[[int], None]:
    """An update of a trained translator on the k-th batch of 64 pairs: forward, backward, Adam.

    Args:
        folder: of the model; it stays as it is.
        pairs: what the batches are made of, in order; the last of them may be smaller.
    """
    translator = Translator.load(folder)
    encoded = list(encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer))
    batches = [pad_pairs(encoded[k : k + _PAIRS]) for k in range(0, len(encoded), _PAIRS)]
    objective = TranslationObjective(translator.model.train(), 0.0)
    optimizer = torch.optim.Adam(objective.parameters(), lr=1e-5)

    def update(k: int) -> None:
        batch = batches[k % len(batches)]
        (objective(batch) / batch.target_mask.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()

    return update
