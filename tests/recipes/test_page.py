"""The page of results: what it says of measured arms and of others, and that the repository's is up to date."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import regard.recipes
from regard.cli.app import app
from regard.errors import ConfigError
from regard.recipes import RECIPES, Arm, Figure, Measured, Recipe, Results, Row
from regard.recipes.page import draw_validation, measured_table, read_notes, read_results, results_page
from regard.recipes.results import ENSEMBLE, Point

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("results", ROOT / "tools" / "results.py")
tool = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tool)

SINGLE, SEVERAL = Figure(40.0, "a paper | its table"), Figure(45.0, "five", ensemble=True)
TOY = Recipe(
    name="toy",
    title="A toy",
    conditions="as there",
    metric="bleu",
    others=("chrf",),
    arms=[
        Arm(name="a", corpus=lambda data, made: None, figures={"2016": [SINGLE, SEVERAL]}, milestone=38.0),
        Arm(name="b", corpus=lambda data, made: None, figures={"test": [SINGLE]}),
    ],
)


def row(model, bleu, curve=()):
    tests = {"2016": {"bleu": bleu, "chrf": 60.0}}
    return Row("a", model, {"bleu": bleu}, tests, 12.0, 7, "bleu", [Point(*point) for point in curve])


ROWS = [
    row("seed-1", 41.0, [(100, 2.5, 30.0), (200, 5.0, 38.5), (300, 7.5, 41.0)]),
    row("seed-2", 43.0, [(100, 2.0, 29.0), (200, 4.0, 39.0), (300, 6.0, 43.0)]),
    row(ENSEMBLE, 44.0),
]
MEASURED = Measured(
    ROWS,
    command="regard recipe toy --data DATA --only a",
    commit="abcdef1234",
    hardware="a processor, 2 cores",
    threads=2,
    torch="2.11",
    date="2026-01-02",
    assignments=[],
)
RESULTS = {"toy": Results("toy", {"a": MEASURED})}


def test_measured_arms_and_others():
    page = results_page([TOY], RESULTS, {"toy": "A note.\n"})
    line = next(line for line in page.splitlines() if line.startswith("| a, 2016 |"))
    assert line == (
        "| a, 2016 | 42.0 ± 1.4 | 60.0 | 44.0 | ✓ ≥ 40.0 (one model; a paper \\| its table)<br>✗ ≥ 45.0 "
        "(ensemble; five) | 2 | 12.0; 5.0 to 38.0 in validation | a processor, 2 cores, 2 threads | abcdef1234 |"
    )
    assert "| b | not measured |  |  | ≥ 40.0 (one model; a paper \\| its table) |  |  |  |  |" in page
    assert "| [toy](#toy) | 3 | 1 | 1 | 1 |" in page
    assert "A toy. As there." in page
    assert "](results/toy.svg)" in page
    assert page.endswith("A note.\n")
    nothing = results_page([TOY], {})
    assert "| [toy](#toy) | 3 | 0 | 0 | 3 |" in nothing
    assert "| a, 2016 | not measured |" in nothing
    assert ".svg" not in nothing


def test_every_table_of_a_page_has_as_many_cells_as_columns():
    for line in results_page(list(RECIPES.values()), {}).splitlines():
        if line.startswith("|"):
            assert line.endswith("|")
    page = results_page([replace(TOY, figures=[SINGLE])], RESULTS)
    widths = {line.replace("\\|", "").count("|") for line in page.splitlines() if line.startswith("|")}
    assert widths == {6, 10}  # the overview's, and the recipe's


def test_options_that_are_not_the_recipes_are_on_the_page():
    changed = Results("toy", {"a": replace(MEASURED, assignments=["training.clip=3"], commit="")})
    page = results_page([TOY], {"toy": changed})
    assert "| 42.0 ± 1.4 `--set training.clip=3` |" in page
    assert "| unknown |" in page


def test_the_table_of_the_readme():
    assert measured_table([TOY], {}) == "No recipe was measured with this version yet.\n"
    assert measured_table([TOY], RESULTS).splitlines()[2] == (
        "| A toy | `regard recipe toy` | BLEU: a, 2016 42.0 / 44.0 (✓ ≥ 40.0, ✗ ensemble ≥ 45.0) |"
    )


def test_curves_of_the_first_seed():
    assert draw_validation(TOY, Results("toy")) is None
    (axes,) = draw_validation(TOY, RESULTS["toy"]).axes
    assert axes.get_ylabel() == "validation BLEU"
    assert [list(line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == 3] == [
        [30.0, 38.5, 41.0]
    ]


def test_results_and_notes_are_read_from_their_folder(tmp_path):
    RESULTS["toy"].write(tmp_path / "toy.json")
    (tmp_path / "toy.md").write_text("A note.")
    assert read_results(tmp_path, [TOY, replace(TOY, name="other")]) == RESULTS
    assert read_notes(tmp_path, [TOY, replace(TOY, name="other")]) == {"toy": "A note."}


def test_the_pages_of_the_repository_have_the_stored_results():
    for path, text in tool.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run python tools/results.py"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert tool.SECTION.search(readme)


def test_stored_results_are_of_whole_recipes():
    """Nothing that was measured with other options, or of an arm that is gone, is in the repository."""
    for name, results in read_results(ROOT / "results", list(RECIPES.values())).items():
        assert set(results.arms) <= {arm.name for arm in RECIPES[name].arms}
        for measured in results.arms.values():
            assert not measured.assignments
            assert "--smoke" not in measured.command
            assert "/" not in measured.command


def test_the_command_records_what_it_measured(tmp_path, monkeypatch):
    monkeypatch.setitem(RECIPES, "toy", TOY)
    monkeypatch.setattr(regard.recipes, "run_recipe", lambda recipe, options: RESULTS["toy"])
    arguments = ["recipe", "toy", "--data", str(tmp_path), "--record", str(tmp_path / "stored")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.exception
    assert Results.read(tmp_path / "stored" / "toy.json", "toy") == RESULTS["toy"]
    for other in (["--smoke"], ["--set", "training.clip=3"]):
        refused = CliRunner().invoke(app, [*arguments, *other])
        assert isinstance(refused.exception, ConfigError)
        with pytest.raises(
            ConfigError, match=r"--record .*stored: with --.* the results are not the recipe's"
        ):
            raise refused.exception
