"""A run as a terminal, a pipe and a notebook show it."""

import io
import subprocess
import sys

import pytest
from rich.console import Console

import regard
from regard import progress as progress_bar
from regard.tasks.base import Validation
from regard.training.progress import Note, Progress, TrainingDisplay, Validated


class Clock:
    """Ten seconds more at each look."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 10.0
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(progress_bar, "time", Clock())


VALIDATION = Validation(
    1.0,
    {
        "bleu": 12.34,
        "chrf": 30.0,
        "exact_match": 0.125,
        "perplexity": 2.718,
        "token_accuracy": 0.75,
        "free_running_accuracy": 0.5,
        "exposure_gap": 0.25,
    },
)


def test_training_in_a_pipe_is_plain_lines(capsys):
    with TrainingDisplay() as display:
        display(Note("[red]kept 3 of 5 pairs[/] (first at data[fr].tsv:2)"))
        display(Progress(1500, 1.5, 0.25, 65.0, 2.34567, 0.001, 12345.6, 195.0))
        display(Validated(2000, 70.0, VALIDATION, select="bleu", best=True))
        worse = Validation(1.0, {**VALIDATION.scores, "bleu": 11.0})
        display(Validated(3000, 75.0, worse, select="bleu", best=False))
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "[red]kept 3 of 5 pairs[/] (first at data[fr].tsv:2)"
    assert lines[1] == (
        "training  25 %  epoch 1.5  1:05 elapsed, 3:15 left  update 1,500  loss 2.346  12,346 tokens/s  "
        "learning rate 0.001"
    )
    assert lines[2] == (
        "validation after update 2,000: BLEU 12.3 (best so far), chrF 30.0, exact match 12.5\N{NO-BREAK SPACE}%, "
        "perplexity 2.72"
    )
    assert lines[3] == (
        "validation after update 3,000: BLEU 11.0 (best 12.3), chrF 30.0, exact match 12.5\N{NO-BREAK SPACE}%, "
        "perplexity 2.72"
    )
    assert len(lines) == 4


def test_a_terminal_breaks_lines_between_scores_and_between_words():
    console = Console(file=io.StringIO(), force_terminal=True, width=50, color_system=None)
    display = TrainingDisplay(console)
    display(Note("  model: attention, a GRU of 128 units each way, and dropout"))
    display(Validated(2000, 70.0, VALIDATION, select="bleu", best=True))
    assert console.file.getvalue().replace("\N{NO-BREAK SPACE}", " ").splitlines() == [
        "  model: attention, a GRU of 128 units each way,",
        "    and dropout",
        "validation after update 2,000:",
        "  BLEU 12.3 (best so far), chrF 30.0,",
        "  exact match 12.5 %, perplexity 2.72",
    ]


def test_a_number_stays_with_its_per_cent():
    console = Console(file=io.StringIO(), force_terminal=True, width=27, color_system=None)
    TrainingDisplay(console)(Note("of the target's symbols 57 % are in the source"))
    rows = console.file.getvalue().replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert rows == ["of the target's symbols", "  57 % are in the source"]


def test_training_without_a_known_end(capsys):
    with TrainingDisplay() as display:
        display(Progress(1, 0.1, None, 1.0, 2.0, 0.001, 10.0))
    assert capsys.readouterr().err.startswith("training  epoch 0.1  0:01 elapsed  update 1  loss")


def test_how_near_the_end_by_patience_is(capsys):
    with TrainingDisplay() as display:
        display(Validated(2, 1.0, VALIDATION, "bleu", True, 0, 10))
        display(Validated(3, 1.0, VALIDATION, "bleu", False, 4, 10))
    first, second = capsys.readouterr().err.splitlines()
    assert "BLEU 12.3 (best so far), chrF" in first
    assert "BLEU 12.3 (best 12.3, 4 of 10 without a better one), chrF" in second


def test_the_loss_is_shown_where_it_selects(capsys):
    with TrainingDisplay() as display:
        display(Validated(7, 1.0, VALIDATION, select="loss", best=True))
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("validation after update 7: loss 1.000 (best so far), BLEU 12.3, ")


class TestRegardTrain:
    """`regard.train` shows its progress where somebody is looking."""

    OPTIONS = ("training.max_updates=2", "training.device=cpu", "training.batch_sentences=8")

    @pytest.fixture
    def train(self, tmp_path, pairs, capsys):
        def run(**options):
            given = [(pair.source, pair.target) for pair in pairs(30)]
            regard.train(tmp_path / "m", given, preset="rnnsearch-small", options=self.OPTIONS, **options)
            return capsys.readouterr()

        return run

    @pytest.fixture
    def terminal(self, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes any file for a terminal
        monkeypatch.setenv("TERM", "xterm")

    @pytest.mark.usefixtures("terminal")
    def test_on_a_terminal(self, train):
        heard = []
        out, err = train(listener=heard.append)
        assert out == ""
        assert "training" in err
        assert "validation after update 2: " in err
        assert [type(event) for event in heard].count(Validated) == 1, "the listener hears everything too"

    @pytest.mark.usefixtures("terminal")
    def test_silenced(self, train):
        assert train(progress=False) == ("", "")

    def test_in_a_pipe_nobody_looks(self, train):
        assert train() == ("", "")


def test_the_display_needs_no_command_line():
    code = "import sys, regard; regard.train; import regard.training.progress; print('typer' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert ended.stdout == "False\n"
