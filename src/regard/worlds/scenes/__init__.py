"""Small scenes of shapes as vectors, and what is to be said of them."""

from regard.worlds.scenes.world import Scenes

__all__ = ["Scenes"]
