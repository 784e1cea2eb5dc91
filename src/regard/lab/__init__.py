"""The lab: every claim of the lectures, one experiment a file."""

from importlib import import_module

from regard.config import one_of
from regard.lab.runner.experiment import Experiment

EXPERIMENTS = (
    "shapes",
    "gradients",
    "sampling",
    "pretraining",
    "reversal",
    "length",
    "bottleneck",
    "alignment",
    "bird",
    "energies",
    "cost",
    "forgetting",
    "reading",
)
"""In the order of the report, which is the lectures'; each is the file of that name beside this one."""


def find_experiment(name: str) -> Experiment:
    """The experiment of a name.

    Raises:
        ConfigError: there is none.
    """
    one_of("experiment", name, EXPERIMENTS)
    experiment: Experiment = import_module(f"regard.lab.{name}").EXPERIMENT
    return experiment


__all__ = ["EXPERIMENTS", "Experiment", "find_experiment"]
