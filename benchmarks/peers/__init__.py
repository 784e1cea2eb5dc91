"""Other toolkits on the same corpora, each by its own command line in its own virtual environment."""

from benchmarks.peers.run import PEERS, found, measure

__all__ = ["PEERS", "found", "measure"]
