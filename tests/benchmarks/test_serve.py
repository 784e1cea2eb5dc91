"""The benchmark of the service: its tables, its page, and one short load on a small model."""

import os
import re
import shutil
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
    serve.write_docs(page, "load", ["| new |"])
    serve.write_docs(page, "load", ["| newer |"])
    assert page.read_text() == "# a\n\n<!-- load -->\n\n| newer |\n\n<!-- end of load -->\n\nb\n"
    page.write_text("# a\n")
    with pytest.raises(RegardError, match="no <!-- load -->"):
        serve.write_docs(page, "load", [])


def test_the_command_writes_both_pages_and_the_plot(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    for name, marker in (("serving", "load"), ("studio", "page")):
        (tmp_path / "docs" / f"{name}.md").write_text(f"<!-- {marker} -->\n<!-- end of {marker} -->\n")
    load = serve.Load([0.1, 0.2], serve.Counter({200: 2}), 1.0)
    slow = serve.Load([0.1], serve.Counter({200: 1}), 1.0)
    loads = {("batches", 5): [load, load], ("one at a time", 5): [slow, slow]}
    tables = [
        serve.Table("", ["a", "b"], [["x", name]]) for name in ("load", "overload", "replacement", "page")
    ]
    given = []
    monkeypatch.setattr(serve, "ROOT", tmp_path)
    monkeypatch.setattr(
        serve, "measure", lambda *values: given.append(values) or serve.Measured(*tables[:3], loads)
    )
    monkeypatch.setattr(serve, "measure_page", lambda *values: tables[3])
    monkeypatch.setattr("sys.argv", ["serve", "folder", "--clients", "1", "8", "--docs"])
    serve.main()
    assert given[0][2:] == ([1, 8], 20.0, len(os.sched_getaffinity(0)), 32, [1, 5])
    serving = (tmp_path / "docs" / "serving.md").read_text()
    for text in (
        "| x | load |",
        "| x | overload |",
        "| x | replacement |",
        "![throughput and latency](serving.png)",
    ):
        assert text in serving
    assert "With 8 clients, batches give 2.0 times (beam 5) the throughput" in serving
    assert (tmp_path / "docs" / "serving.png").exists()
    assert "| x | page |" in (tmp_path / "docs" / "studio.md").read_text()
    assert "| x | page |" in capsys.readouterr().out


@pytest.mark.journey
def test_a_short_load(tmp_path):
    texts = ["der hund schläft .", "ein kind singt", "der kleine hund"] * 20
    of_load, of_overload, replaced, loads = serve.measure(str(MODEL), texts, [1, 4], 0.5, 1, 8, [1, 3])
    assert [row[0] for row in of_load.rows] == [
        f"{way}, beam {beam}, {clients}"
        for way in ("batches", "one at a time")
        for beam in (1, 3)
        for clients in ("1 client", "4 clients")
    ]
    assert re.fullmatch(r"[\d.]+ times \(beam 1\) and [\d.]+ times \(beam 3\)", serve.gains(loads))
    assert all(row[-1] == "0" for row in of_load.rows)  # errors
    assert all(load.throughput > 1 for of_way in loads.values() for load in of_way)
    assert of_overload.rows[1][1].endswith(", 0")  # neither answered nor refused
    assert of_overload.rows[-1][1] == "0"
    assert len(markdown_table(of_overload)) == 7
    assert [row[1] for row in replaced.rows[1:3]] == ["3", "0"]  # so often, and no request failed
    serve.plot_load([1, 4], loads, tmp_path / "load.png")
    assert (tmp_path / "load.png").stat().st_size > 1000


@pytest.mark.journey
def test_the_page_is_measured():
    pytest.importorskip("playwright", reason="playwright is not installed")
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("no chromium on this machine")
    table = serve.measure_page(str(MODEL), ["der Hund schläft .", "die Katze singt ."] * 10, 1)
    paint, ready, answer, size = (float(row[3].split()[0].replace(",", "")) for row in table.rows)
    assert 0 < paint <= ready
    assert answer > 0
    assert 50 < size < 500  # kB, and the same on every machine


def test_a_service_that_does_not_start(tmp_path):
    with pytest.raises(RegardError, match="did not start"), serve.service(str(tmp_path / "none"), 1):
        pass
