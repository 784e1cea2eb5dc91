"""The pages of docs/: every snippet is part of an example, every command runs, every link exists.

Commands are run as those of the README, with toy data under the names that the pages use.
"""

import importlib.util
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.evaluation import METRICS, measure_quality
from regard.evaluation.metrics import display_name, format_score
from regard.layers import CELLS, ENERGIES
from regard.plots.page import Report, render_report

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
TRAINING_EXAMPLES = [
    path
    for path in EXAMPLES
    if path.name.startswith("my_") and "regard.train(" in path.read_text(encoding="utf-8")
]

_spec = importlib.util.spec_from_file_location("readme_harness", ROOT / "tests" / "test_readme.py")
harness = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(harness)

TOYS = {
    "pairs.tsv": [f"{source}\t{target}" for source, target in harness.toy_pairs()],
    "eflomal.links": [
        " ".join(f"{k}-{k}" for k in range(len(source.split()))) for source, _ in harness.toy_pairs()
    ],
    "gold.wa": [
        f"{number} {k} {k} S"
        for number, (source, _) in enumerate(harness.toy_pairs(), start=1)
        for k in range(1, len(source.split()) + 1)
    ],
    "forms.tsv": [
        f"{lemma}\tV;{tense}\t{lemma}{suffix}"
        for lemma in ("walk", "talk", "call", "ask", "look", "cook", "fill", "kill")
        for tense, suffix in (("PRS", "s"), ("PST", "ed"), ("V.PTCP", "ing"))
    ],
    "text.txt": ["one two three .", "two one .", "three two one .", "one ."] * 6,
    "labelled.tsv": ["good\ta fine film .", "bad\ta dull film .", "good\tfine .", "bad\tdull ."] * 6,
    "words.txt": ["the film ends .", "a film starts ."] * 12,
    "tags.txt": ["DET NOUN VERB PUNCT", "DET NOUN VERB PUNCT"] * 12,
    "captions.txt": [f"a {size} square ." for size in ("small", "large")] * 12,
}


class TaskSandbox(harness.Sandbox):
    """A folder with a toy for every task."""

    def __init__(self, folder, monkeypatch):
        super().__init__(folder, monkeypatch)
        for name, lines in TOYS.items():
            harness.write(folder / name, lines)
        np.save(folder / "features.npy", np.arange(72, dtype=np.float32).reshape(24, 3))

    def prepare(self, command, arguments):
        """Everything exists, or was made by the commands before."""


@pytest.mark.journey
def test_every_command_of_the_tasks_page(tmp_path, monkeypatch):
    sandbox = TaskSandbox(tmp_path, monkeypatch)
    commands = list(harness.commands((ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")))
    tasks = {words[words.index("--task") + 1] for words in commands if "--task" in words}
    assert tasks == {"language_model", "classify", "tag", "caption", "align"}
    for words in commands:
        sandbox.run(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_snippet_is_part_of_an_example(page):
    files = [path.read_text(encoding="utf-8") for path in EXAMPLES]
    for code in harness.blocks(page.read_text(encoding="utf-8"), "python"):
        assert any(code.strip() in text for text in files), f"{page.name}: in no example:\n{code}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_exists(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert re.match(r"https?://", target) or (page.parent / target).exists(), target


@pytest.fixture
def tables():
    """Restores the tables that examples add to."""
    saved = [(table, dict(table)) for table in (CELLS, ENERGIES, METRICS)]
    yield
    for table, before in saved:
        table.clear()
        table.update(before)


@pytest.mark.journey
@pytest.mark.parametrize("path", TRAINING_EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs_and_trains(path, tables, capsys):
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert "one two → TWO ONE" in printed
    assert "five three → THREE FIVE" in printed


def test_the_example_cell_computes_its_equations(tables):
    """A whole sequence gives the states of the paper's equations, step by step; padding changes nothing."""
    cell_class = runpy.run_path(str(ROOT / "examples" / "my_cell.py"))["MinimalGatedUnit"]
    assert CELLS["mgu"] is cell_class
    cell = cell_class(3, 4).double()
    torch.nn.init.normal_(cell.b)
    inputs = torch.randn(2, 5, 3, dtype=torch.float64)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    states, (last,) = cell(inputs, mask, cell.zero_state(2, inputs))
    h = torch.zeros(2, 4, dtype=torch.float64)
    (W_f, W_h), (U_f, U_h), (b_f, b_h) = cell.W.chunk(2), cell.U.chunk(2), cell.b.chunk(2)
    for t in range(3):
        f = torch.sigmoid(inputs[:, t] @ W_f.T + h @ U_f.T + b_f)
        candidate = torch.tanh(inputs[:, t] @ W_h.T + (f * h) @ U_h.T + b_h)
        h = (1 - f) * h + f * candidate
        torch.testing.assert_close(states[:, t], h)
    torch.testing.assert_close(last[1], h[1])


def test_the_example_attention_computes_its_energies(tables):
    runpy.run_path(str(ROOT / "examples" / "my_attention.py"))
    attention = ENERGIES["cosine"](4, 6)
    query, annotations = torch.randn(2, 3, 4), torch.randn(2, 5, 6)
    energies = attention.energies(query, attention.keys(annotations))
    beta = torch.nn.functional.softplus(attention.sharpness)
    cosine = torch.cosine_similarity(attention.W(query)[:, :, None], annotations[:, None], dim=-1)
    torch.testing.assert_close(energies, beta * cosine)


def test_the_metric_of_one_s_own_is_in_every_table(tables):
    runpy.run_path(str(ROOT / "examples" / "my_metric.py"))
    quality = measure_quality(["a b", "c"], ["a b c", "d"])
    assert quality["length_ratio"] == 3 / 4
    assert quality.to_json()["length_ratio"] == 3 / 4
    assert quality.by_length_scores()["length_ratio"] == 3 / 4
    assert (display_name("length_ratio"), format_score("length_ratio", 0.75)) == ("length ratio", "0.75")
    page = render_report(Report(title="", subtitle="", command="", scores=quality.scores))
    assert "<dt>length ratio</dt><dd>0.75</dd>" in page


def test_the_plot_of_one_s_own_draws_plain_values(tmp_path, capsys):
    example = runpy.run_path(str(ROOT / "examples" / "my_plot.py"))
    alpha = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    (axes,) = example["draw_entropy"](["一", "</s>"], alpha).axes
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([1.0, 1.5])
    example["main"](str(tmp_path / "entropy.svg"))
    assert "attention entropy (bits)" in (tmp_path / "entropy.svg").read_text(encoding="utf-8")
