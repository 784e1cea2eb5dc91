"""The lab: one experiment per file, each testing a claim of the lectures.

A new experiment is a module that defines ``EXPERIMENT``, and one line in `EXPERIMENTS`.
"""

from importlib import import_module
from typing import Any

from regard.config import one_of
from regard.lab.runner.experiment import Experiment

EXPERIMENTS = {
    "shapes": "regard.lab.shapes",
    "sharing": "regard.lab.sharing",
    "composition": "regard.lab.composition",
    "gradients": "regard.lab.gradients",
    "lag": "regard.lab.lag",
    "sampling": "regard.lab.sampling",
    "pretraining": "regard.lab.pretraining",
    "reversal": "regard.lab.reversal",
    "exposure": "regard.lab.exposure",
    "beam": "regard.lab.beam",
    "length": "regard.lab.length",
    "bottleneck": "regard.lab.bottleneck",
    "annotations": "regard.lab.annotations",
    "alignment": "regard.lab.alignment",
    "bird": "regard.lab.bird",
    "energies": "regard.lab.energies",
    "cost": "regard.lab.cost",
    "forgetting": "regard.lab.forgetting",
    "reading": "regard.lab.reading",
}
"""The module of each experiment, by the name typed after ``regard lab``; in the order of the report, the lectures'."""


def find_experiment(name: str) -> Experiment[Any]:
    """The experiment of this name, imported.

    Raises:
        ConfigError: there is none.
    """
    one_of("experiment", name, tuple(EXPERIMENTS))
    experiment: Experiment[Any] = import_module(EXPERIMENTS[name]).EXPERIMENT
    return experiment


__all__ = ["EXPERIMENTS", "Experiment", "find_experiment"]
