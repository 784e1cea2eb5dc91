"""The command line: one file per command."""

from regard.cli.app import main

__all__ = ["main"]
