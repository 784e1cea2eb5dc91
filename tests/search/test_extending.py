"""The worked example of `docs/extending.md`: a search option that touches two files."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import regard

PACKAGE = Path(regard.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "extending.md"

SCRIPT = """
import inspect
import torch
from typer.testing import CliRunner
from regard.cli.app import app
from regard.errors import ConfigError
from regard.models import DecoderState, EncodedSource, StepOutput
from regard.search.beam import search
from regard.search.options import SearchOptions
from regard.tasks.caption.predictor import Captioner
from regard.tasks.translate.predictor import Translator

for command in ("translate", "tree", "what-if", "evaluate", "caption"):
    page = CliRunner().invoke(app, [command, "--help"], env={"TERMINAL_WIDTH": "300"}).output
    assert "--prune-below" in page, command
    assert "log p is this far below the best" in " ".join(page.split()), command
for method in (Translator.translate, Translator.tree, Translator.what_if, Captioner.caption):
    assert inspect.signature(method).parameters["prune_below"].default == 0.0
for changes, message in (
    ({"prune_below": -1}, "prune_below: -1 is out of range; it must be at least 0"),
    ({"prune_bellow": 1}, "no option 'prune_bellow'; did you mean 'prune_below'?"),
):
    try:
        SearchOptions().change(**changes)
    except ConfigError as error:
        assert message in str(error), error
    else:
        raise AssertionError(changes)


class Decoder:
    rows = 0

    def initial_state(self, encoded):
        return DecoderState(((torch.zeros(1, 0),),))

    def step(self, previous, state, encoded):
        self.rows += len(previous)
        probs = torch.tensor([[1e-9, 1e-9, 1e-9, 0.2, 0.7, 0.05, 0.05]]).expand(len(previous), -1)
        state = DecoderState(((torch.zeros(len(previous), 0),),))
        return StepOutput(probs.log(), state, torch.ones(len(previous), 3) / 3)


source = EncodedSource(torch.zeros(1, 3, 1), torch.ones(1, 3).bool(), None, (), ())
rows = {}
for below in (0.0, 0.5):
    decoder = Decoder()
    best = search(decoder, source, SearchOptions(beam=4, max_ratio=0, max_extra=5, prune_below=below))[0].best
    rows[below] = decoder.rows
assert rows[0.5] == 5 < rows[0.0], rows  # one hypothesis at each of five steps
print("pruned")
"""


def apply(hunks: list[tuple[str, str]], text: str) -> str:
    """Replace what each hunk has without its added lines by what it has with them."""
    for old, new in hunks:
        assert text.count(old) == 1, f"the page's context is not in the source once:\n{old}"
        text = text.replace(old, new)
    return text


def diffs() -> dict[str, list[tuple[str, str]]]:
    """Each file's hunks, as (before, after)."""
    found: dict[str, list[tuple[str, str]]] = {}
    for block in re.findall(r"```diff\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        name = re.search(r"^\+\+\+ b/src/regard/(.*)$", block, re.M).group(1)
        for hunk in re.split(r"^@@.*@@\n", block, flags=re.M)[1:]:
            lines = hunk.splitlines(keepends=True)
            before = "".join(line[1:] for line in lines if line[0] == " ")
            found.setdefault(name, []).append((before, "".join(line[1:] for line in lines)))
    return found


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Path:
    """A copy of the package with the page's two diffs applied."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(PACKAGE, folder / "regard", ignore=shutil.ignore_patterns("__pycache__"))
    for name, hunks in diffs().items():
        path = folder / "regard" / name
        path.write_text(apply(hunks, path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def test_the_example_touches_two_files():
    assert list(diffs()) == ["search/options.py", "search/beam.py"]


def test_the_option_is_a_flag_a_keyword_and_a_rule_of_the_search(extended):
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": str(extended)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "pruned\n"
