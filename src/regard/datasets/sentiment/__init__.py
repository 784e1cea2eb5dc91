"""Reviews of films, books, meals and the like, each with its verdict."""

from regard.datasets.sentiment.dataset import LABELS, Sentiment

__all__ = ["LABELS", "Sentiment"]
