"""Reviews of films, books, meals and the like, each with its verdict."""

from regard.worlds.sentiment.world import LABELS, Sentiment

__all__ = ["LABELS", "Sentiment"]
