"""Results on disk: read back as they were written, nan as null, and other files refused."""

import json
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from regard.errors import DataError
from regard.lab.runner import CaptionedFigure, Check, Experiment, Finding, Table, Verdict
from regard.lab.runner.experiment import RESULT, read_result, write_result
from regard.plots.figures.curves import Curve, Panel, draw_curves

EXPERIMENT = Experiment(
    name="tried",
    title="A title",
    claim="It holds – α ≥ ½.",
    source="Lecture 0",
    method="Tested.",
    decides="One number.",
    measure=lambda bench, sizes: FINDING,
    usual=None,
    full=None,
    seconds=1,
)
CHECKS = [Check("kept", 91.0, "at least", 80.0, " %")]
FINDING = Finding(
    {"1": [1, 2.5], "words": ["a", "ü"], "nested": {"deep": {"seed": 3}}, "yes": True, "none": None},
    Verdict(CHECKS, "It kept 91 %."),
    [
        CaptionedFigure("one", "First.", draw_curves([Panel([Curve("a", [0, 1], [0, 1])], "x", "y")])),
        CaptionedFigure("two", "Second.", draw_curves([Panel([Curve("b", [0, 1], [1, 0])], "x", "y")])),
    ],
    [Table("Words", ("a", "b"), [("1", "2"), ("3", "4")])],
    ("One remark.", "Another."),
)


def write(folder, finding=FINDING):
    return write_result(
        folder, EXPERIMENT, finding, command="regard lab tried", full=True, seed=4, seconds=1.234
    )


def test_what_is_read_back_is_what_was_written(tmp_path):
    written, read = write(tmp_path / "new"), read_result(tmp_path / "new")
    assert (read.name, read.claim, read.command) == ("tried", "It holds – α ≥ ½.", "regard lab tried")
    assert (read.full, read.seed, read.seconds) == (True, 4, 1.2)
    assert read.numbers == FINDING.numbers == written.numbers
    assert read.verdict == written.verdict == FINDING.verdict.to_json()
    assert read.figures == [{"name": "one", "caption": "First."}, {"name": "two", "caption": "Second."}]
    assert read.tables == [{"caption": "Words", "columns": ["a", "b"], "rows": [["1", "2"], ["3", "4"]]}]
    assert read.remarks == ["One remark.", "Another."]
    assert read.versions == written.versions
    assert {"regard", "python", "torch", "numpy"} <= set(read.versions)
    # what is handed on is what a later reading gives, so a page made later is the same page
    assert written == read


def test_figures_stand_beside_it_as_pictures(tmp_path):
    write(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {RESULT, "one.png", "one.svg", "two.png", "two.svg"}
    for name in ("one", "two"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n")
        assert ET.parse(tmp_path / f"{name}.svg").getroot().tag.endswith("svg")


def test_what_json_has_no_number_for_is_null_or_a_sign(tmp_path):
    numbers = {"lost": math.nan, "far": [1.0, math.inf, (-math.inf,)], "per": {3: math.nan}}
    checks = [Check("found", math.nan, "at least", 1.0)]
    written = write(tmp_path, Finding(numbers, Verdict(checks, "Nothing was found.")))
    text = (tmp_path / RESULT).read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "Infinity" not in text
    read = read_result(tmp_path)
    assert read.numbers == {"lost": None, "far": [1.0, "∞", ["−∞"]], "per": {"3": None}}
    assert read.verdict["checks"][0]["value"] is None
    assert read.verdict["word"] == "not seen here"
    assert written == read


def test_numbers_of_numpy_are_numbers(tmp_path):
    numbers = {"mean": np.float32(0.5), "all": np.array([[1.0, np.nan]]), "count": np.int64(3)}
    written = write(tmp_path, Finding(numbers, Verdict(CHECKS, "So.")))
    assert read_result(tmp_path).numbers == {"mean": 0.5, "all": [[1.0, None]], "count": 3}
    assert written == read_result(tmp_path)


def test_half_a_result_is_refused_with_the_remedy(tmp_path):
    folder = tmp_path / "tried"
    write(folder)
    path = folder / RESULT
    path.write_text(path.read_text()[:200])
    with pytest.raises(
        DataError, match=r"result\.json: is not a result .* run the experiment again: .*lab tried"
    ):
        read_result(folder)


def test_no_result_and_a_foreign_one_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"tried.result\.json: is not a result of this lab"):
        read_result(tmp_path / "tried")
    write(tmp_path)
    known = json.loads((tmp_path / RESULT).read_text())
    for foreign in ({**known, "colour": "red"}, {"name": "tried"}, ["name"], None):
        (tmp_path / RESULT).write_text(json.dumps(foreign))
        with pytest.raises(DataError, match="is not a result of this lab"):
            read_result(tmp_path)


def test_a_figure_that_cannot_be_written_leaves_no_result(tmp_path):
    figure = FINDING.figures[0].figure
    with pytest.raises(DataError, match=r"figure\.png"):
        write(tmp_path, Finding({}, FINDING.verdict, [CaptionedFigure("no/such/figure", "Lost.", figure)]))
    assert not (tmp_path / RESULT).exists()
