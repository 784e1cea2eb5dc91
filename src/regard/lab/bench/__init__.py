"""What every experiment stands on: the bench, the verdict, the way to a folder."""

from regard.lab.bench.bench import Bench
from regard.lab.bench.experiment import Drawing, Experiment, Finding, Grid
from regard.lab.bench.verdict import Check, Verdict

__all__ = ["Bench", "Check", "Drawing", "Experiment", "Finding", "Grid", "Verdict"]
