"""Learning to classify: labelled texts in, a classifier out."""

from regard.tasks.classify.task import ClassifyTask

__all__ = ["ClassifyTask"]
