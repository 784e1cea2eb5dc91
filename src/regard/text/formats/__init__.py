"""Readers of file formats: each yields plain strings and knows one format."""

from regard.text.formats.columns import SEPARATORS, read_columns, read_parallel, read_tsv
from regard.text.formats.files import STDIN, read_file, read_groups, shown

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
