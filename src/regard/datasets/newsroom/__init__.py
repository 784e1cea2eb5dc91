"""Short news, each line with the words that hang together."""

from regard.datasets.newsroom.dataset import FBI, Newsroom, Sentence, write_news

__all__ = ["FBI", "Newsroom", "Sentence", "write_news"]
