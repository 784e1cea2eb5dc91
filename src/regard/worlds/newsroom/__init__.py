"""Short news, each line with the words that hang together."""

from regard.worlds.newsroom.sentences import FBI, write_news
from regard.worlds.newsroom.tree import Sentence
from regard.worlds.newsroom.world import Newsroom

__all__ = ["FBI", "Newsroom", "Sentence", "write_news"]
