"""Decoders whose probabilities are written by hand, or random; and every output a vocabulary allows."""

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
            # a prefix nobody wrote down ends: only EOS may follow
            following = self.scripts[sentence].get(tuple(prefix), {EOS: 1.0})
            probs = torch.zeros(self.vocabulary_size)
            for token, p in following.items():
                probs[token] = p
            rows.append(probs.clamp_min(1e-30).log())
        place = min(prefixes.shape[1] - 1, encoded.mask.shape[1] - 1)
        alpha = torch.zeros(len(rows), encoded.mask.shape[1])
        alpha[:, place] = 1.0
        return StepOutput(torch.stack(rows), DecoderState(((prefixes,),)), alpha)


class Network:
    """Steps like a decoder: a small random network over eight words, in float64 so that nothing ties.

    Attributes:
        steps: how many rows each step was given.
    """

    def __init__(self, seed: int, size: int = 5) -> None:
        generator = torch.Generator().manual_seed(seed)

        def weights(*shape: int) -> Tensor:
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        self.W, self.E, self.O = weights(size, size), weights(8, size), weights(size, 8)
        self.size = size
        self.steps: list[int] = []

    def encode(self, lengths: list[int]) -> EncodedSource:
        """Random sources, `lengths` real words each of at most seven."""
        generator = torch.Generator().manual_seed(0)
        annotations = torch.randn(len(lengths), 7, self.size, generator=generator, dtype=torch.float64)
        mask = torch.arange(7) < torch.tensor(lengths).unsqueeze(1)
        return EncodedSource(annotations, mask, None, (), ())

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        return DecoderState(((encoded.annotations[:, 0],),))

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        self.steps.append(len(previous_ids))
        hypotheses = len(previous_ids) // len(encoded.mask)
        h = torch.tanh(state.cells[0][0] @ self.W + self.E[previous_ids])  # (R, n)
        annotations = encoded.annotations.repeat_interleave(hypotheses, dim=0)
        energies = torch.einsum("rn,rtn->rt", 2 * h, annotations)
        mask = encoded.visible.repeat_interleave(hypotheses, dim=0)
        alpha = energies.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        context = torch.einsum("rt,rtn->rn", alpha, annotations)
        logits = 1.5 * torch.tanh(h + context) @ self.O
        return StepOutput(logits, DecoderState(((h,),)), alpha)


@pytest.fixture(scope="session")
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def all_outputs() -> Callable[[list[int], int], list[Prefix]]:
    """Every output of at most `limit` tokens, its EOS counted, over UNK and some words."""

    def enumerate_outputs(words: list[int], limit: int) -> list[Prefix]:
        return [(*body, EOS) for size in range(limit) for body in product([UNK, *words], repeat=size)]

    return enumerate_outputs


@pytest.fixture(scope="session")
def network() -> type[Network]:
    return Network
