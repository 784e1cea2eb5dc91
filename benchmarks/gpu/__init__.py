"""How fast Regard is on a GPU: ``PYTHONPATH=src python -m benchmarks.gpu`` from the repository's root."""
