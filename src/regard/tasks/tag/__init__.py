"""Learning to tag: sentences with a tag for each word in, a tagger out."""

from regard.tasks.tag.task import TagTask

__all__ = ["TagTask"]
