"""Learning to translate: pairs in, an encoder–decoder out."""

from regard.tasks.translate.task import TranslateTask

__all__ = ["TranslateTask"]
