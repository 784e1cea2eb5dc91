"""Whole ways through the command line, in this process: files in, models, translations and scores out."""

import pytest
from typer.testing import CliRunner

from regard.cli.app import app


@pytest.fixture
def regard():
    """Type a command; it must succeed. Returns its standard output."""

    def run(*arguments, stdin=None):
        ended = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        assert ended.exception is None or ended.exit_code == 0, (arguments, ended.exception, ended.stderr)
        return ended.stdout

    return run
