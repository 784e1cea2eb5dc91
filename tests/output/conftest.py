"""Searches made up for trees to be drawn of: every beginning with its parent, as a beam would have left them."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from regard.output.search_tree import Beginning, SearchTree
from regard.output.translation import Translation

_WORDS = [
    "ein",
    "Donaudampfschiff",
    "a",
    "the",
    "comfortable",
    ".",
    "is",
    "where",
    "of",
    "l'",
    "grandfather",
    "we",
]


def _translation(way: list[Beginning], source: list[str]) -> Translation:
    tokens = tuple(one.token for one in way)
    return Translation(
        source=" ".join(source[:-1]),
        text=" ".join(tokens[:-1]),
        source_tokens=tuple(source),
        tokens=tokens,
        score=way[-1].score,
        log_prob=way[-1].total,
        token_log_probs=tuple(one.log_prob for one in way),
        alpha=None if way[0].alpha is None else np.stack([one.alpha for one in way]),
        source_words=(*range(len(source) - 1), None),
        target_words=(*range(len(tokens) - 1), None),
    )


@pytest.fixture
def grown() -> Callable[..., SearchTree]:
    """A beam search over made-up probabilities: of so many steps, so wide, the same for the same seed."""

    def grow(num_steps: int = 6, width: int = 5, seed: int = 0, *, attends: bool = True) -> SearchTree:
        rng = random.Random(seed)
        source = [*rng.choices(_WORDS, k=4), "</s>"]
        everyone: list[Beginning] = []
        steps: list[tuple[Beginning, ...]] = []
        alive: list[Beginning | None] = [None]
        num_finished = 0
        for t in range(num_steps):
            candidates = []
            for parent in alive:
                words = ["</s>"] if t == num_steps - 1 else rng.sample(_WORDS, width) + ["</s>"] * (t > 1)
                for word in words:
                    log_prob = math.log(rng.uniform(0.001, 0.05 if word == "</s>" else 0.9))
                    candidates.append(((parent.total if parent else 0.0) + log_prob, log_prob, word, parent))
            candidates.sort(key=lambda one: -one[0])
            step = []
            for rank, (total, log_prob, word, parent) in enumerate(candidates[: 2 * width]):
                fate = "finished" if word == "</s>" else "kept"
                fate = fate if rank < width - num_finished else "pruned"
                alpha = np.full(5, 0.1) + 0.5 * np.eye(5)[rng.randrange(5)] if attends else None
                number = len(everyone)
                origin = None if parent is None else parent.id
                one = Beginning(
                    number, origin, word, log_prob, total, total / (t + 1), fate, ((word, log_prob),), alpha
                )
                everyone.append(one)
                step.append(one)
            steps.append(tuple(step))
            num_finished += sum(one.fate == "finished" for one in step)
            alive = [one for one in step if one.fate == "kept"]
            if not alive:
                break
        best = max((one for one in everyone if one.fate == "finished"), key=lambda one: one.score)
        way = [best]
        while way[0].parent is not None:
            way.insert(0, everyone[way[0].parent])
        return SearchTree(_translation(way, source), tuple(steps))

    return grow
