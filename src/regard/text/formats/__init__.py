"""Readers of outside formats: each yields plain strings and knows one format."""

from regard.text.formats.arriving import read_groups
from regard.text.formats.columns import SEPARATORS, read_columns
from regard.text.formats.opened import STDIN, read_file, shown
from regard.text.formats.parallel import read_parallel
from regard.text.formats.tsv import read_tsv

__all__ = [
    "SEPARATORS",
    "STDIN",
    "read_columns",
    "read_file",
    "read_groups",
    "read_parallel",
    "read_tsv",
    "shown",
]
