"""What every experiment is built from: the bench it runs on, the finding it returns and the verdict in it."""

from regard.lab.runner.bench import Bench, train_for
from regard.lab.runner.experiment import CaptionedFigure, Check, Experiment, Finding, Table, Verdict

__all__ = [
    "Bench",
    "CaptionedFigure",
    "Check",
    "Experiment",
    "Finding",
    "Table",
    "Verdict",
    "train_for",
]
