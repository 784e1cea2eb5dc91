import json

import pytest
from benchmarks.report import write_report
from benchmarks.section import Picture, Section, Table, keep, kept

from regard.errors import DataError

MACHINE = {"processor": "abacus", "cores": "2", "memory": "1 GiB"}


def section(key, **more):
    table = Table("A table.", ["who", "a|b"], [["<it>", "1|2"]])
    return Section(key, f"Title of {key}", ["Words & such."], [table], machine=MACHINE, **more)


def test_a_section_survives_its_file(tmp_path):
    first = section("growth", pictures=[Picture("p", "caption")], numbers={"x": [1, 2]})
    keep(first, tmp_path)
    assert kept(tmp_path / "growth.json") == first
    assert {"date", "torch", "regard", "python"} <= set(first.made)


def test_the_report_holds_every_section_in_its_order(tmp_path):
    png = b"\x89PNG not really"
    (tmp_path / "p.png").write_bytes(png)
    keep(section("growth", pictures=[Picture("p", "caption")]), tmp_path)
    for key in ("other", "decoding", "training"):
        keep(section(key), tmp_path)
    order = [each.key for each in write_report(tmp_path)]
    assert order == ["training", "decoding", "growth", "other"]
    assert list(json.loads((tmp_path / "results.json").read_text())) == order
    text = (tmp_path / "report.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        f"## Title of {key}" for key in order
    ]
    assert "| <it> | 1\\|2 |" in text
    assert "![caption](p.svg)" in text
    assert "processor abacus, cores 2, memory 1 GiB" in text
    page = (tmp_path / "report.html").read_text()
    assert page.count("<section") == 4
    assert "&lt;it&gt;" in page
    assert "Words &amp; such." in page
    assert 'src="data:image/png;base64,' in page
    assert [each.key for each in write_report(tmp_path)] == order  # its own results are no section


def test_a_gpus_figures_become_a_section(tmp_path):
    rows = [{"recurrence": "gru", "ms": 1.23456}, {"recurrence": "lstm", "graph_ms": 2}]
    (tmp_path / "gpu-figures.json").write_text(
        json.dumps({"gpu": "a large one", "torch": "9", "timing": rows})
    )
    (found,) = write_report(tmp_path)
    assert (found.key, found.machine) == ("gpu", {"gpu": "a large one", "torch": "9"})
    assert found.tables == [
        Table("Timing.", ["recurrence", "ms", "graph ms"], [["gru", "1.235", ""], ["lstm", "", "2"]])
    ]
    assert "a large one" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("name", ["training.json", "gpu-figures.json"])
def test_a_foreign_file_is_named(tmp_path, name):
    (tmp_path / name).write_text("[1]")
    with pytest.raises(DataError, match=name):
        write_report(tmp_path)
