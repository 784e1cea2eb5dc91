"""Learning to describe: vectors of features and texts in, a decoder that starts from a vector out."""

from regard.tasks.caption.task import CaptionTask

__all__ = ["CaptionTask"]
