"""How fast Regard trains on a GPU: `PYTHONPATH=src python -m benchmarks.gpu` from the repository's root."""
