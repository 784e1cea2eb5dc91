"""Short news for a language model, each line with its dependencies."""

from regard.datasets.newsroom.dataset import FBI, Newsroom, Sentence, write_news

__all__ = ["FBI", "Newsroom", "Sentence", "write_news"]
