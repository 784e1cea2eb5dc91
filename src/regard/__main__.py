"""``python -m regard``: the command line without its script."""

from regard.cli import main

main()
