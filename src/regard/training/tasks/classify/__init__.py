"""Learning to classify: labelled texts in, a classifier out."""

from regard.training.tasks.classify.task import ClassifyTask

__all__ = ["ClassifyTask"]
