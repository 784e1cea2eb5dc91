"""What every experiment stands on: the bench, the verdict, the way to a folder."""

from regard.lab.runner.bench import Bench
from regard.lab.runner.experiment import Check, Drawing, Experiment, Finding, Grid, Verdict

__all__ = ["Bench", "Check", "Drawing", "Experiment", "Finding", "Grid", "Verdict"]
