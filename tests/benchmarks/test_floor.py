import pytest
import torch
from benchmarks.floor import (
    Product,
    copied_per_second,
    floor_of,
    floor_section,
    mean_lengths,
    product_seconds,
    products,
    traffic,
)
from benchmarks.settings import SETTINGS, run_of, task_of

from regard.models import Seq2Seq

MT = SETTINGS["mt"]


def test_operations_and_bytes_of_a_product_follow_their_formulas():
    product = Product("it", rows=2, positions=3, inner=5, columns=7)
    assert product.operations == 3 * 2 * (2 * 3 * 5 * 7)
    assert product.bytes == 3 * 4 * (2 * 3 * (5 + 7) + 5 * 7)
    own = Product("it", 2, 3, 5, 7, shared=False)
    assert own.operations == product.operations
    assert own.bytes == 3 * 4 * (2 * 3 * (5 + 7) + 2 * 5 * 7)
    assert (product.weights, own.weights) == (35, 0)


@pytest.mark.parametrize("decoder", ["luong", "bahdanau"])
def test_every_matrix_of_the_model_is_a_product_of_the_floor(decoder):
    with torch.device("meta"):
        model = Seq2Seq(run_of(MT, decoder).model, MT.vocabulary, MT.vocabulary)
    matrices = {
        name: p.numel() for name, p in model.named_parameters() if p.dim() == 2 and "embedding" not in name
    }
    # of RNNsearch the first state of c is 0, and of both, the products of one position are few
    assert sum(product.weights for product in products(MT, decoder, 20, 20)) == sum(matrices.values())


def test_an_update_of_mt_is_some_seventy_gigaflop():
    # 64 pairs of 20 and 21 positions: twice the multiplications of 12.9 million weights less embeddings, three times
    total = sum(product.operations for product in products(MT, "luong", 20, 21))
    assert total / 1e9 == pytest.approx(70.7, abs=0.1)


def test_bytes_grow_with_what_they_are_of():
    small, long = (traffic(MT, "luong", Tx, 20, 10**6) for Tx in (20, 40))
    assert long["energies"] == 2 * small["energies"] == 4 * 4 * 64 * 20 * 40 * 512
    assert long["softmax"] == small["softmax"] == 2 * 4 * 64 * 20 * 8004
    assert small["clipping and Adam"] == 32 * 10**6


def test_mean_lengths_count_end_marks(toy):
    train, _ = toy.corpus.pairs()
    assert mean_lengths(toy)[0] == round(sum(len(s.split()) for s, _ in train) / len(train)) + 1


@pytest.mark.parametrize("stepped", [False, True])
def test_bare_products_do_the_operations_that_are_counted(toy, stepped):
    from torch.utils.flop_counter import FlopCounterMode

    each = products(toy, "luong", 4, 3)
    with FlopCounterMode(display=False) as counted:
        product_seconds(each, stepped=stepped, dtype=torch.float32, least=0)
    # once to warm up and three times by the clock
    assert counted.get_total_flops() == 4 * sum(product.operations for product in each)


def test_a_floor_has_all_its_ways_and_a_section_all_its_models(toy):
    found = {f"toy, {d}": floor_of(toy.to_json(), d, 1000, least=0) for d in ("luong", "bahdanau")}
    for floor in found.values():
        assert list(floor["seconds"]) == ["at once", "stepped", "stepped, bf16"]
        assert floor["tokens"] == toy.batch * floor["lengths"][1]
        for way, seconds in floor["seconds"].items():
            assert floor["tokens_per_second"][way] == floor["tokens"] / seconds
    section = floor_section(found)
    assert [row[0] for row in section.tables[0].rows] == list(found)
    assert all(len(row) == len(section.tables[0].columns) for row in section.tables[0].rows)
    assert copied_per_second(0, 1000) > 0
    assert task_of(toy, "luong").build().num_parameters > 0
