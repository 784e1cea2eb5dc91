"""The lab: one experiment per file, each testing a claim of the lectures.

A new experiment is a file in this folder that defines ``EXPERIMENT``, and its name in `EXPERIMENTS`.
"""

from importlib import import_module
from typing import Any

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
"""In the order of the report, which is the lectures'; each is the module of that name in this folder."""


def find_experiment(name: str) -> Experiment[Any]:
    """The experiment of this name, imported.

    Raises:
        ConfigError: there is none.
    """
    one_of("experiment", name, EXPERIMENTS)
    experiment: Experiment[Any] = import_module(f"regard.lab.{name}").EXPERIMENT
    return experiment


__all__ = ["EXPERIMENTS", "Experiment", "find_experiment"]
