"""An English→French world of our own making, with gold word alignments by construction."""

from regard.worlds.microworld.world import Microworld

__all__ = ["Microworld"]
