"""``regard lab``: the lectures' claims, tried."""

from regard.cli.lab.verb import lab

__all__ = ["lab"]
