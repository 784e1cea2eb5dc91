"""How fast Regard is: ``python -m benchmarks --help`` from the repository's root."""
