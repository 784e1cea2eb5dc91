"""Other toolkits on the same corpora, each by its own command line in its own virtual environment."""

from benchmarks.peers.run import (
    PEERS,
    SLOW,
    installed,
    measure_search,
    measure_training,
    search_corpus,
    searchers,
)

__all__ = ["PEERS", "SLOW", "installed", "measure_search", "measure_training", "search_corpus", "searchers"]
