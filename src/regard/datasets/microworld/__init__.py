"""English sentences of a small grammar with French translations and gold alignments."""

from regard.datasets.microworld.dataset import Language, Microworld

__all__ = ["Language", "Microworld"]
