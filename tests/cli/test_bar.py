import pytest

from regard.cli import progress as bar
from regard.cli.progress import TrainingDisplay
from regard.tasks.base import Validation
from regard.training.progress import Note, Progress, Validated


class Clock:
    """Ten seconds more at each look."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 10.0
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(bar, "time", Clock())


VALIDATION = Validation(
    1.0,
    {
        "perplexity": 2.718,
        "token_accuracy": 0.75,
        "free_running_accuracy": 0.5,
        "exposure_gap": 0.25,
        "bleu": 12.34,
        "chrf": 30.0,
        "exact_match": 0.125,
    },
)


def test_training_in_a_pipe_is_plain_lines(capsys):
    with TrainingDisplay() as display:
        display(Note("[red]kept 3 of 5 pairs[/] (first at data[fr].tsv:2)"))
        display(Progress(1500, 1.5, 0.25, 65.0, 2.34567, 0.001, 12345.6))
        display(Validated(2000, 70.0, VALIDATION, best=True))
        display(Validated(3000, 75.0, VALIDATION, best=False))
    out, err = capsys.readouterr()
    assert out == ""
    told = err.splitlines()
    assert told[0] == "[red]kept 3 of 5 pairs[/] (first at data[fr].tsv:2)"
    assert told[1] == "update 1,500 (25 %)  loss 2.346  rate 0.001  12,346 tokens/s  1:05 gone, 3:15 left"
    assert told[2] == (
        "validation at update 2,000: perplexity 2.72, token accuracy 75.0\N{NO-BREAK SPACE}%, free-running accuracy "
        "50.0\N{NO-BREAK SPACE}%, exposure gap (teacher-forced minus free-running accuracy) "
        "25.0\N{NO-BREAK SPACE}%, BLEU 12.3, chrF 30.0, exact match "
        "12.5\N{NO-BREAK SPACE}%; best so far"
    )
    assert told[3].endswith("exact match 12.5\N{NO-BREAK SPACE}%")
    assert len(told) == 4


def test_training_without_a_known_end(capsys):
    with TrainingDisplay() as display:
        display(Progress(1, 0.1, None, 1.0, 2.0, 0.001, 10.0))
    assert "update 1  loss" in capsys.readouterr().err
