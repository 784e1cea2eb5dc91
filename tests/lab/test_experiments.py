"""Every experiment is one file and one line: those of the lab, and the worked example of the documentation."""

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from pkgutil import iter_modules

import pytest

from regard import lab
from regard.datasets import Copy
from regard.errors import ConfigError
from regard.lab import EXPERIMENTS, find_experiment
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_SEEN
from regard.lab.runner.run import run_experiment
from regard.tasks.translate.predictor import Translator

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_files_are_the_experiments_and_what_they_share():
    assert {module.name for module in iter_modules(lab.__path__)} == {*EXPERIMENTS, "runner", "measures"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_is_named_as_its_file_and_has_two_sizes(name):
    experiment = find_experiment(name)
    assert experiment.name == name
    assert experiment.measure.__module__ == f"regard.lab.{name}"
    assert type(experiment.usual) is type(experiment.full)
    assert experiment.usual != experiment.full
    assert experiment.seconds > 0


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'length'"):
        find_experiment("lenght")


@pytest.fixture
def copying(monkeypatch):
    """The example of docs/extending.md, which registers itself."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, "my_experiment", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr(lab, "EXPERIMENTS", dict(EXPERIMENTS))
        yield importlib.import_module("my_experiment")


def test_a_new_experiment_is_one_file_and_one_line(copying, tmp_path):
    assert find_experiment("copying") is copying.EXPERIMENT
    toy = replace(copying.EXPERIMENT, usual=copying.CopySizes(train=64, test=8, updates=3, units=8))
    result = run_experiment(toy, Bench(tmp_path, seed=2), "regard lab copying")
    assert set(result.numbers["exact_match"]) == {"fixed vector", "attention"}
    assert [check["value"] for check in result.verdict["checks"]] == [
        result.numbers["exact_match"][name] for name in ("attention", "fixed vector")
    ]
    assert {"result.json", "copies.png", "copies.svg", "page.html"} <= {
        path.name for path in tmp_path.iterdir()
    }
    translator = Translator.load(tmp_path / "models" / "attention")
    lines = Copy().splits(train=64, valid=20, test=8, seed=2).test
    copies = [translator.translate([line.source], beam=1)[0].text for line in lines]
    exact = sum(copy == line.target for copy, line in zip(copies, lines, strict=True))
    assert result.numbers["exact_match"]["attention"] == pytest.approx(100 * exact / 8)


@pytest.mark.parametrize(
    ("fixed", "attention", "word"),
    [(50, 80, HELD), (51, 80, IN_PART), (10, 79, NOT_SEEN), (90, 90, IN_PART)],
)
def test_its_verdict_follows_from_the_shares(copying, fixed, attention, word):
    assert copying.verdict({"fixed vector": fixed, "attention": attention}).word == word


def test_its_page_quotes_it():
    example = (EXAMPLES / "my_experiment.py").read_text(encoding="utf-8")
    page = (EXAMPLES.parent / "docs" / "extending.md").read_text(encoding="utf-8")
    page = page.partition("\n## A lab experiment\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    assert all(block.strip() in example for block in blocks)
