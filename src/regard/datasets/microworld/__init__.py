"""An English→French world of our own making, with gold word alignments by construction."""

from regard.datasets.microworld.dataset import Microworld

__all__ = ["Microworld"]
