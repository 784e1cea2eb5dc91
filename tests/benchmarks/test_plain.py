from dataclasses import replace

import pytest
import torch
from benchmarks.floor import products
from benchmarks.plain import plain_copy
from benchmarks.settings import Setting, task_of
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import plain, training
from regard.batches import PairBatch
from regard.ops.paths import naive_only


@pytest.fixture
def exact(toy: Setting) -> Setting:
    """Nothing drawn but the first weights."""
    return replace(toy, dropout=0.0)


def test_it_has_our_parameters_and_no_others(exact):
    ours = task_of(exact, "luong").build()
    copy = plain_copy(ours, exact)
    assert sum(p.numel() for p in copy.parameters() if p.requires_grad) == ours.num_parameters


def test_its_loss_is_ours_and_stays_ours_update_by_update(exact):
    longer = replace(exact, updates=25)
    ours = training.train(longer.to_json(), "luong", "32")
    theirs = plain.train(longer.to_json())
    assert theirs["tokens"] == ours["tokens"]
    # float32: rounding grows a little with every update
    assert theirs["losses"] == pytest.approx(ours["losses"], rel=5e-4)
    assert sum(ours["losses"][-5:]) < sum(ours["losses"][:5]) - 0.1


def test_its_products_are_ours_and_those_of_the_floor(exact):
    task = task_of(exact, "luong")
    ours = task.build()
    copy, objective = plain_copy(ours, exact), task.objective()
    B, Tx, Ty, V = exact.batch, 16, 12, exact.vocabulary
    source, previous, target = (torch.randint(4, V, (B, T)) for T in (Tx, Ty, Ty))
    batch = PairBatch(source, torch.ones(B, Tx).bool(), previous, target, torch.ones(B, Ty).bool())
    with FlopCounterMode(display=False) as counted, naive_only():
        objective(batch).backward()
    with FlopCounterMode(display=False) as plainly:
        copy(source, batch.source_mask, previous, target).backward()
    each = products(exact, "luong", Tx, Ty)
    whole = sum(product.operations for product in each)
    h, n = exact.encoder_size, exact.decoder_size
    # states and fed vectors that begin at zero need no gradient
    assert counted.get_total_flops() == whole - 2 * B * (2 * h * 4 * h + n * 4 * n)
    # torch's own LSTM is one call to who counts, and v_a, a product here, is none of the floor's
    encoder = sum(product.operations for product in each if product.name.startswith("encoder"))
    assert plainly.get_total_flops() == whole - encoder + 6 * B * Ty * Tx * n
