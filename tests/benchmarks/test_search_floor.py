import pytest
from benchmarks.demands import Demand
from benchmarks.search_floor import PRECISIONS, floor_of, search_products
from benchmarks.settings import SETTINGS


def test_sources_are_read_once_and_every_hypothesis_steps(toy):
    reading, deciding = search_products(toy, Demand("some", 3, 2, 1))
    assert {product.rows for product in reading} == {2}
    rows = {product.name: product.rows for product in deciding}
    assert rows.pop("context") == 2  # one product a sentence, for all its hypotheses
    assert set(rows.values()) == {6}
    assert {product.positions for product in deciding} == {5}
    assert all(product.stepwise for product in deciding)
    assert "output" in rows


def test_operations_of_a_step_are_those_of_the_formula():
    m, n, V = 256, 512, 8004
    _, deciding = search_products(SETTINGS["mt"], Demand("one", 1, 1, 1))
    each = sum(product.inner * product.columns for product in deciding)
    Tx = 21
    assert each == m * 4 * n + 2 * n * 4 * n + n * n + Tx * n + 2 * n * n + n * V


def test_it_is_timed_in_both_precisions(toy):
    found = floor_of(toy.to_json(), Demand("some", 3, 2, 1).to_json(), 0)
    assert set(found["sentences_per_second"]) == set(PRECISIONS)
    assert min(found["sentences_per_second"].values()) > 0


@pytest.mark.parametrize("beam", [1, 5])
def test_a_wider_beam_is_more_work(beam):
    def operations(width):
        return sum(
            p.rows * p.inner * p.columns for p in search_products(SETTINGS["mt"], width)[1] if p.shared
        )

    assert operations(Demand("some", beam, 4, 1)) == beam * operations(Demand("one", 1, 4, 1))
