"""Learning a language: lines in, a model of them out."""

from regard.tasks.language_model.task import LanguageModelTask

__all__ = ["LanguageModelTask"]
