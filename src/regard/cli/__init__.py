"""The command line: one file for each verb."""

from regard.cli.app import main

__all__ = ["main"]
