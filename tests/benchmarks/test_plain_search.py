from itertools import product

import pytest
import torch
from benchmarks.plain import plain_copy
from benchmarks.plain_search import plain_beam
from benchmarks.settings import task_of

from regard.batches import pad_sources
from regard.search.beam import search
from regard.search.options import SearchOptions
from regard.text.specials import BOS, EOS, PAD

WORDS = 3


@pytest.fixture
def pair(toy):
    """Regard's model and its plain copy, with sources of several lengths; weights drawn wide, so that words matter."""
    torch.manual_seed(3)
    ours = task_of(toy, "luong").build()
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.normal_(0, 0.7)
        ours.decoder.output.b_o[EOS] += 9  # an end would come at once, were it not kept off
    batch = pad_sources([[5, 7, 9, 11], [6], [8, 8, 4], [10, 12]])
    return ours.eval(), plain_copy(ours, toy).eval(), batch


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_it_finds_what_regard_finds(pair, beam):
    ours, copy, batch = pair
    limit = {"max_ratio": 0, "max_extra": WORDS + 1}
    with torch.inference_mode():
        encoded = ours.encode(batch.source_ids, batch.source_mask)
        found = search(ours.decoder, encoded, SearchOptions(beam=beam, min_length=WORDS, **limit))
    expected = [list(each.hypotheses[0].ids) for each in found]
    got = plain_beam(copy, batch.source_ids, batch.source_mask, beam, WORDS).tolist()
    assert got == expected
    assert len({tuple(ids) for ids in got}) > 1


def test_a_beam_as_wide_as_all_outputs_finds_the_best_of_them(pair, toy):
    _, copy, batch = pair
    V = toy.vocabulary
    legal = [k for k in range(V) if k not in (PAD, BOS, EOS)]
    got = plain_beam(copy, batch.source_ids[:1], batch.source_mask[:1], len(legal), 2).tolist()[0]

    def loss(words):
        ids = torch.tensor([[*words, EOS]])
        previous = torch.tensor([[BOS, *words]])
        return float(copy(batch.source_ids[:1], batch.source_mask[:1], previous, ids).detach())

    assert got == [*min(product(legal, repeat=2), key=loss), EOS]
