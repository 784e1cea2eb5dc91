"""Reviews of films, books, restaurants and more, each with its polarity."""

from regard.datasets.sentiment.dataset import LABELS, Sentiment

__all__ = ["LABELS", "Sentiment"]
