from dataclasses import replace
from itertools import product

import pytest
import torch
from benchmarks.lower_bound import products
from benchmarks.plain import plain_beam, plain_copy
from benchmarks.settings import Setting, build_task
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import plain, training
from regard.batches import PairBatch, pad_sources
from regard.ops.paths import naive_only
from regard.search.beam import search
from regard.search.options import SearchOptions
from regard.text.specials import BOS, EOS, PAD


@pytest.fixture
def exact(toy: Setting) -> Setting:
    """Without dropout, so that only the initial weights are random."""
    return replace(toy, dropout=0.0)


def test_the_plain_model_has_the_same_parameters(exact):
    model = build_task(exact, "luong").build()
    copy = plain_copy(model, exact)
    assert sum(p.numel() for p in copy.parameters() if p.requires_grad) == model.num_parameters


def test_losses_agree_update_by_update(exact):
    longer = replace(exact, updates=25)
    regard = training.train(longer.to_json(), "luong", "32")
    baseline = plain.train(longer.to_json())
    assert baseline["tokens"] == regard["tokens"]
    # float32: rounding grows a little with every update
    assert baseline["losses"] == pytest.approx(regard["losses"], rel=5e-4)
    assert sum(regard["losses"][-5:]) < sum(regard["losses"][:5]) - 0.1


def test_both_do_the_operations_of_the_lower_bound(exact):
    task = build_task(exact, "luong")
    model = task.build()
    copy, objective = plain_copy(model, exact), task.objective()
    B, Tx, Ty, V = exact.batch, 16, 12, exact.vocabulary
    source, previous, target = (torch.randint(4, V, (B, T)) for T in (Tx, Ty, Ty))
    batch = PairBatch(source, torch.ones(B, Tx).bool(), previous, target, torch.ones(B, Ty).bool())
    with FlopCounterMode(display=False) as counted, naive_only():
        objective(batch).backward()
    with FlopCounterMode(display=False) as counted_plain:
        copy(source, batch.source_mask, previous, target).backward()
    parts = products(exact, "luong", Tx, Ty)
    total = sum(product.operations for product in parts)
    h, n = exact.encoder_size, exact.decoder_size
    # initial states of zero need no gradient
    assert counted.get_total_flops() == total - 2 * B * (2 * h * 4 * h + n * 4 * n)
    # the counter does not see into torch's LSTM; the product with v_a is not part of the lower bound
    encoder = sum(product.operations for product in parts if product.name.startswith("encoder"))
    assert counted_plain.get_total_flops() == total - encoder + 6 * B * Ty * Tx * n


WORDS = 3


@pytest.fixture
def pair(toy):
    """Regard's model and its plain copy, with sources of several lengths; weights are large, so that words matter."""
    torch.manual_seed(3)
    model = build_task(toy, "luong").build()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7)
        model.decoder.output.b_o[EOS] += 9  # outputs would end at once without the minimum length
    batch = pad_sources([[5, 7, 9, 11], [6], [8, 8, 4], [10, 12]])
    return model.eval(), plain_copy(model, toy).eval(), batch


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_the_plain_beam_finds_the_outputs_of_regard(pair, beam):
    model, copy, batch = pair
    options = SearchOptions(beam=beam, min_length=WORDS, max_ratio=0, max_extra=WORDS + 1)
    with torch.inference_mode():
        encoded = model.encode(batch.source_ids, batch.source_mask)
        results = search(model.decoder, encoded, options)
    expected = [list(result.hypotheses[0].ids) for result in results]
    outputs = plain_beam(copy, batch.source_ids, batch.source_mask, beam, WORDS).tolist()
    assert outputs == expected
    assert len({tuple(ids) for ids in outputs}) > 1


def test_a_beam_as_wide_as_all_outputs_finds_the_best_of_them(pair, toy):
    _, copy, batch = pair
    V = toy.vocabulary
    legal = [k for k in range(V) if k not in (PAD, BOS, EOS)]
    outputs = plain_beam(copy, batch.source_ids[:1], batch.source_mask[:1], len(legal), 2).tolist()[0]

    def loss(words):
        ids = torch.tensor([[*words, EOS]])
        previous = torch.tensor([[BOS, *words]])
        return float(copy(batch.source_ids[:1], batch.source_mask[:1], previous, ids).detach())

    assert outputs == [*min(product(legal, repeat=2), key=loss), EOS]
