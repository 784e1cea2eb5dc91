"""Journeys through the command line, in this process: files in, models, translations and scores out."""

import pytest
from typer.testing import CliRunner

from regard.cli.app import app


@pytest.fixture
def regard():
    """Run a command that must succeed, and return its standard output."""

    def run(*arguments, stdin=None):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        assert result.exception is None or result.exit_code == 0, (arguments, result.exception, result.stderr)
        return result.stdout

    return run
