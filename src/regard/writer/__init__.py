"""A trained language model at work."""

from regard.writer.writer import Writer

__all__ = ["Writer"]
