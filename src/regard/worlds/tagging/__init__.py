"""Sentences with the part of speech of every word."""

from regard.worlds.tagging.world import Tagging

__all__ = ["Tagging"]
