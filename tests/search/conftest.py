"""A decoder whose probabilities are written by hand, and every output a vocabulary allows."""

from collections.abc import Callable, Mapping
from itertools import product

import pytest
import torch
from torch import Tensor

from regard.models import DecoderState, EncodedSource, StepOutput
from regard.text.specials import BOS, EOS, UNK

Prefix = tuple[int, ...]


class Scripted:
    """Steps like a decoder; what follows a prefix is looked up, sentence by sentence.

    The state of a row is its prefix, the source of a row is its sentence's number, and alpha points at the
    source word whose place is the prefix's length, so that a mixed-up row shows.

    Attributes:
        steps: how many rows each step was given.
    """

    def __init__(self, scripts: list[Mapping[Prefix, Mapping[int, float]]], vocabulary_size: int = 8) -> None:
        self.scripts = scripts
        self.vocabulary_size = vocabulary_size
        self.steps: list[int] = []

    def encode(self, lengths: list[int]) -> EncodedSource:
        """One source for each script, `lengths` real words each."""
        mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
        numbers = torch.arange(len(lengths), dtype=torch.float32).view(-1, 1, 1)
        return EncodedSource(numbers.expand(-1, mask.shape[1], 1), mask, None, (), ())

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        return DecoderState(((torch.zeros(encoded.mask.shape[0], 0, dtype=torch.long),),))

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        (prefixes,) = state.cells[0]
        self.steps.append(len(previous_ids))
        assert len(prefixes) == len(previous_ids)
        assert len(previous_ids) % encoded.mask.shape[0] == 0
        prefixes = torch.cat([prefixes, previous_ids.unsqueeze(1)], dim=1)
        hypotheses = len(previous_ids) // encoded.mask.shape[0]
        rows = []
        for row, (start, *prefix) in enumerate(prefixes.tolist()):
            assert start == BOS
            sentence = int(encoded.annotations[row // hypotheses, 0, 0])
            # a prefix nobody wrote down ends: only the end mark may follow
            following = self.scripts[sentence].get(tuple(prefix), {EOS: 1.0})
            probs = torch.zeros(self.vocabulary_size)
            for token, p in following.items():
                probs[token] = p
            rows.append(probs.clamp_min(1e-30).log())
        place = min(prefixes.shape[1] - 1, encoded.mask.shape[1] - 1)
        alpha = torch.zeros(len(rows), encoded.mask.shape[1])
        alpha[:, place] = 1.0
        return StepOutput(torch.stack(rows), DecoderState(((prefixes,),)), alpha)


@pytest.fixture(scope="session")
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def all_outputs() -> Callable[[list[int], int], list[Prefix]]:
    """Every output of at most `limit` tokens, its end mark counted, over UNK and some words."""

    def enumerate_outputs(words: list[int], limit: int) -> list[Prefix]:
        return [(*body, EOS) for size in range(limit) for body in product([UNK, *words], repeat=size)]

    return enumerate_outputs
