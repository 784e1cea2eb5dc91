import pytest
import torch
from benchmarks.lower_bound import (
    PRECISIONS,
    Product,
    copied_per_second,
    lower_bound_section,
    mean_lengths,
    measure_search,
    measure_training,
    product_seconds,
    products,
    search_products,
    traffic,
)
from benchmarks.search_cases import SearchCase
from benchmarks.settings import SETTINGS, build_run, build_task

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
def test_every_matrix_of_the_model_is_a_product_of_the_bound(decoder):
    with torch.device("meta"):
        model = Seq2Seq(build_run(MT, decoder).model, MT.vocabulary, MT.vocabulary)
    matrices = {
        name: p.numel() for name, p in model.named_parameters() if p.dim() == 2 and "embedding" not in name
    }
    # RNNsearch's initial cell state is 0 and has no matrix
    assert sum(product.weights for product in products(MT, decoder, 20, 20)) == sum(matrices.values())


def test_an_update_of_mt_is_about_seventy_gigaflop():
    # 64 pairs of 20 and 21 positions: twice the multiplications of 12.9 million weights without embeddings, three times
    total = sum(product.operations for product in products(MT, "luong", 20, 21))
    assert total / 1e9 == pytest.approx(70.7, abs=0.1)


def test_bytes_grow_with_the_lengths_they_depend_on():
    small, long = (traffic(MT, "luong", Tx, 20, 10**6) for Tx in (20, 40))
    assert long["energies"] == 2 * small["energies"] == 4 * 4 * 64 * 20 * 40 * 512
    assert long["softmax"] == small["softmax"] == 2 * 4 * 64 * 20 * 8004
    assert small["clipping and Adam"] == 32 * 10**6


def test_mean_lengths_count_end_symbols(toy):
    train, _ = toy.corpus.pairs()
    assert mean_lengths(toy)[0] == round(sum(len(s.split()) for s, _ in train) / len(train)) + 1


@pytest.mark.parametrize("stepwise", [False, True])
def test_timed_products_do_the_operations_that_are_counted(toy, stepwise):
    from torch.utils.flop_counter import FlopCounterMode

    parts = products(toy, "luong", 4, 3)
    with FlopCounterMode(display=False) as counted:
        product_seconds(parts, stepwise=stepwise, dtype=torch.float32, min_seconds=0)
    # once to warm up and three times by the clock
    assert counted.get_total_flops() == 4 * sum(product.operations for product in parts)


def test_a_bound_has_all_ways_and_a_section_all_models(toy):
    bounds = {
        f"toy, {d}": measure_training(toy.to_json(), d, 1000, min_seconds=0) for d in ("luong", "bahdanau")
    }
    for bound in bounds.values():
        assert list(bound["seconds"]) == ["at once", "stepwise", "stepwise, bf16"]
        assert bound["tokens"] == toy.batch * bound["lengths"][1]
        for way, seconds in bound["seconds"].items():
            assert bound["tokens_per_second"][way] == bound["tokens"] / seconds
    section = lower_bound_section(bounds)
    assert [row[0] for row in section.tables[0].rows] == list(bounds)
    assert all(len(row) == len(section.tables[0].columns) for row in section.tables[0].rows)
    assert copied_per_second(0, 1000) > 0
    assert build_task(toy, "luong").build().num_parameters > 0


def test_sources_are_encoded_once_and_every_hypothesis_is_a_row(toy):
    encoding, decoding = search_products(toy, SearchCase("some", 3, 2, 1))
    assert {product.rows for product in encoding} == {2}
    rows = {product.name: product.rows for product in decoding}
    assert rows.pop("context") == 2  # one product per sentence, for all its hypotheses
    assert set(rows.values()) == {6}
    assert {product.positions for product in decoding} == {5}
    assert all(product.stepwise for product in decoding)
    assert "output" in rows


def test_operations_of_a_step_are_those_of_the_formula():
    m, n, V = 256, 512, 8004
    _, decoding = search_products(SETTINGS["mt"], SearchCase("one", 1, 1, 1))
    operations = sum(product.inner * product.columns for product in decoding)
    Tx = 21
    assert operations == m * 4 * n + 2 * n * 4 * n + n * n + Tx * n + 2 * n * n + n * V


def test_search_products_are_timed_in_both_precisions(toy):
    bound = measure_search(toy.to_json(), SearchCase("some", 3, 2, 1).to_json(), 0)
    assert set(bound["sentences_per_second"]) == set(PRECISIONS)
    assert min(bound["sentences_per_second"].values()) > 0


@pytest.mark.parametrize("beam", [1, 5])
def test_a_wider_beam_is_more_work(beam):
    def operations(width):
        return sum(
            p.rows * p.inner * p.columns for p in search_products(SETTINGS["mt"], width)[1] if p.shared
        )

    assert operations(SearchCase("some", beam, 4, 1)) == beam * operations(SearchCase("one", 1, 4, 1))
