"""Learning a language: lines in, a model of them out."""

from regard.training.tasks.lm.task import LmTask

__all__ = ["LmTask"]
