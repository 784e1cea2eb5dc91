"""The benchmark of the service: its tables, its page, and one short load on a small model."""

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from benchmarks.report import markdown_table

from benchmarks import serve
from regard.errors import RegardError

MODEL = Path(__file__).parents[1] / "fixtures" / "format-2" / "translate"


def test_quantiles_and_throughput():
    load = serve.Load([0.1 * k for k in range(1, 11)], serve.Counter({200: 10}), 2.0)
    assert load.throughput == 5
    assert load.quantile(0.5) == pytest.approx(600)
    assert load.quantile(0.99) == pytest.approx(1000)


def test_the_page_is_written_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# a\n\n<!-- load -->\n\nold\n\n<!-- end of load -->\n\nb\n")
    serve.write_docs(page, ["| new |"])
    serve.write_docs(page, ["| newer |"])
    assert page.read_text() == "# a\n\n<!-- load -->\n\n| newer |\n\n<!-- end of load -->\n\nb\n"
    page.write_text("# a\n")
    with pytest.raises(RegardError, match="no <!-- load -->"):
        serve.write_docs(page, [])


@pytest.mark.journey
def test_a_short_load(tmp_path):
    texts = ["der hund schläft .", "ein kind singt", "der kleine hund"] * 20
    of_load, of_overload, loads = serve.measure(str(MODEL), texts, [1, 4], 0.5, 1, 8)
    assert [row[0] for row in of_load.rows] == [
        *("batches, 1 clients", "batches, 4 clients"),
        *("one at a time, 1 clients", "one at a time, 4 clients"),
    ]
    assert all(row[-1] == "0" for row in of_load.rows)  # errors
    assert all(load.throughput > 1 for of_way in loads.values() for load in of_way)
    assert of_overload.rows[1][1].endswith(", 0")  # neither answered nor refused
    assert of_overload.rows[-1][1] == "0"
    assert len(markdown_table(of_overload)) == 7
    serve.plot_load([1, 4], loads, tmp_path / "load.png")
    assert (tmp_path / "load.png").stat().st_size > 1000


def test_a_service_that_does_not_start(tmp_path):
    with pytest.raises(RegardError, match="did not start"), serve.service(str(tmp_path / "none"), 1):
        pass
