"""Every notebook is well formed and runs from its first cell to its last, with the package alone.

The code cells are run here in one namespace, as Jupyter would: the last expression of a cell is shown. That needs no
Jupyter, and what a notebook is not allowed to use (magics, IPython) fails. Notebooks are kept without outputs: they run
in seconds, an output would be stale after the next change, and a diff of them would be unreadable.
"""

import ast
import json
import re
import sys
import time

import lightning  # noqa: F401  # its libraries look for matplotlib when they are imported
import pytest

from regard.exercises.catalogue import EXERCISES, notebooks
from regard.lab import EXPERIMENTS

NOTEBOOKS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in notebooks()}
SECONDS = 60
"""CPU time that a notebook may take."""


def code_of(notebook):
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run_cell(text, namespace):
    """Run a cell; the value of its last line, if that is an expression."""
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace) if last else None


def test_there_is_one_for_each_lecture():
    assert list(NOTEBOOKS) == [f"lecture-{number}" for number in range(1, 6)]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_has_the_form_of_one_and_no_outputs(name):
    notebook = NOTEBOOKS[name]
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        keys = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            keys |= {"outputs", "execution_count"}
        assert cell.keys() == keys
        assert cell["cell_type"] in ("code", "markdown")
        assert all(line.endswith("\n") for line in cell["source"][:-1])


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_names_exercises_and_experiments_that_exist(name):
    text = "".join(line for cell in NOTEBOOKS[name]["cells"] for line in cell["source"])
    exercises = re.findall(r"regard check exercises/(\w+)\.py", text)
    assert exercises
    assert {*exercises} <= {*EXERCISES}
    experiments = re.findall(r"`regard lab (\w+)`", text)
    assert experiments
    assert {*experiments} <= {*EXPERIMENTS}


def test_every_exercise_is_named_in_a_notebook():
    text = json.dumps(list(NOTEBOOKS.values()))
    assert not [name for name in EXERCISES if f"exercises/{name}.py" not in text]


@pytest.mark.journey
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name, monkeypatch):
    for module in ("matplotlib", "IPython", "babel"):
        monkeypatch.setitem(sys.modules, module, None)  # the package alone
    namespace, shown = {"__name__": "__main__"}, []
    begin = time.process_time()
    for text in code_of(NOTEBOOKS[name]):
        value = run_cell(text, namespace)
        shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    assert time.process_time() - begin < SECONDS
    assert sum("<div" in each for each in shown) >= 2, "a notebook shows pictures"
    close = [one for each in shown for one in re.findall(r"tensor\((\S+e-\d\d), dtype=torch.float64", each)]
    assert all(float(one) < 1e-12 for one in close), "the code of the notebook is not that of the ops"
