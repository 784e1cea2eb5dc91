"""Learning a language: lines in, a model of them out."""

from regard.tasks.language_model.task import LmTask

__all__ = ["LmTask"]
