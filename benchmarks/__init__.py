"""How fast Regard is, measured: `python -m benchmarks` from the repository's root, or `make bench`."""
