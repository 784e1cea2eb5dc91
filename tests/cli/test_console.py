import io
import shlex
import sys
from typing import Annotated

import pytest
import typer
from rich.console import Console

from regard.cli.console import command_line, output_file, print_json, print_line, score_table
from regard.errors import DataError
from regard.progress import clock


def test_the_table_keeps_the_order():
    out = io.StringIO()
    Console(file=out, width=80).print(score_table({"bleu": 1.0, "aer": 0.5, "n": 3}))
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["bleu", "1.0"],
        ["aer", "50.0", "%"],
        ["n", "3"],
    ]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00"), (61.9, "1:01"), (3599, "59:59"), (3725, "1:02:05")]
)
def test_clock(seconds, shown):
    assert clock(seconds) == shown


def test_lines_go_out_as_they_are(capsys):
    print_line("[bold]œuf[/] " + "x" * 200)
    print_json({"œuf": [1, None]})
    assert capsys.readouterr().out == "[bold]œuf[/] " + "x" * 200 + '\n{"œuf": [1, null]}\n'


def test_output_file(tmp_path):
    with output_file(None) as file:
        assert file is None
    with output_file(tmp_path / "out") as file:
        print_line("œuf", file)
    assert (tmp_path / "out").read_bytes() == "œuf\n".encode()
    with (
        pytest.raises(DataError, match="none/out: cannot be written"),
        output_file(tmp_path / "none" / "out"),
    ):
        raise AssertionError("it never opens")


def test_command_line(monkeypatch):
    """What is given again gives the same: arguments, and options that are not as by default."""
    app = typer.Typer()
    seen = []

    @app.command()
    def command(
        context: typer.Context,
        file: str,
        beam: int = 5,
        columns: tuple[int, int] | None = None,
        lower: Annotated[bool, typer.Option("--lower")] = False,
        options: Annotated[list[str] | None, typer.Option("--set")] = None,
        depth: int = 1,
    ):
        seen.append(command_line(context))

    arguments = [
        "command",
        "a file",
        "--columns",
        "2",
        "1",
        "--lower",
        "--set",
        "x=1",
        "--set",
        "y=2",
        "--beam",
        "5",
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    app(arguments[1:], prog_name="command", standalone_mode=False)
    assert seen == ["regard command 'a file' --columns 2 1 --lower --set x=1 --set y=2"]


def test_a_command_line_can_be_given_again():
    """Subcommands, lists without an item, flags turned off, several files, and a file that looks like an option."""
    app, group = typer.Typer(), typer.Typer()
    app.add_typer(group, name="group")
    seen = []

    @group.command()
    def command(
        context: typer.Context,
        files: list[str],
        options: Annotated[list[str], typer.Option("--set", default_factory=tuple)],
        color: Annotated[bool, typer.Option("--color/--plain")] = True,
        pair: tuple[int, int] | None = None,
        offset: float = 0.0,
    ):
        seen.append(command_line(context))

    @app.command()
    def other():
        raise AssertionError

    for given in (
        "regard group command a 'b c'",
        "regard group command a --set x=1 --set y=2 --plain --pair 1 2 --offset -1.5",
        "regard group command --plain -- -a b",
        "regard group command - b",
    ):
        app(shlex.split(given)[1:], prog_name="python -m regard", standalone_mode=False)
        assert seen.pop() == given
