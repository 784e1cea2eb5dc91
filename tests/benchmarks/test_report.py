import json

import pytest
from benchmarks.report import Figure, Section, Table, load_section, save_section, write_report

from regard.errors import DataError

MACHINE = {"processor": "abacus", "cores": "2", "memory": "1 GiB"}


def section(key, **more):
    table = Table("A table.", ["who", "a|b"], [["<it>", "1|2"]])
    return Section(key, f"Title of {key}", ["Words & such."], [table], machine=MACHINE, **more)


def test_a_section_is_equal_after_saving_and_loading(tmp_path):
    first = section("scaling", figures=[Figure("p", "caption")], numbers={"x": [1, 2]})
    save_section(first, tmp_path)
    assert load_section(tmp_path / "scaling.json") == first
    assert {"date", "torch", "regard", "python"} <= set(first.versions)


def test_the_report_holds_every_section_in_its_order(tmp_path):
    png = b"\x89PNG not really"
    (tmp_path / "p.png").write_bytes(png)
    save_section(section("scaling", figures=[Figure("p", "caption")]), tmp_path)
    for key in ("other", "search", "training"):
        save_section(section(key), tmp_path)
    order = [section.key for section in write_report(tmp_path)]
    assert order == ["training", "search", "scaling", "other"]
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
    assert [
        section.key for section in write_report(tmp_path)
    ] == order  # results.json is not read as a section


def test_gpu_figures_become_a_section(tmp_path):
    rows = [{"recurrence": "gru", "ms": 1.23456}, {"recurrence": "lstm", "graph_ms": 2}]
    (tmp_path / "gpu-figures.json").write_text(json.dumps({"gpu": "an H200", "torch": "9", "timing": rows}))
    (gpu,) = write_report(tmp_path)
    assert (gpu.key, gpu.machine) == ("gpu", {"gpu": "an H200", "torch": "9"})
    assert gpu.tables == [
        Table("Timing.", ["recurrence", "ms", "graph ms"], [["gru", "1.235", ""], ["lstm", "", "2"]])
    ]
    assert "an H200" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("name", ["training.json", "gpu-figures.json"])
def test_a_file_of_another_form_is_named(tmp_path, name):
    (tmp_path / name).write_text("[1]")
    with pytest.raises(DataError, match=name):
        write_report(tmp_path)
