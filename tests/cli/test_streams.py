"""Standard streams that are closed or a terminal, and arguments that are not text."""

import io
import os
import pty
import subprocess
import sys

import pytest
from rich.table import Table
from rich.text import Text

from regard.cli.console import print_line
from regard.terminal import SafeConsole, show_controls

HOSTILE = "a\x1b]0;title\x07b\x9b31mc\rd\x7f"
SHOWN = r"a\x1b]0;title\x07b\x9b31mc\x0dd\x7f"


def run(*arguments, **streams):
    """Run the command line as a process of its own."""
    return subprocess.run([sys.executable, "-m", "regard", *arguments], check=False, timeout=120, **streams)


@pytest.mark.parametrize("arguments", [["--version"], ["models"]])
def test_a_closed_standard_output_is_an_error(arguments):
    ended = run(*arguments, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert ended.returncode == 2
    assert ended.stderr.decode().startswith("error: standard output: it is closed")
    assert "Traceback" not in ended.stderr.decode()


def test_a_closed_standard_error_takes_no_results_away():
    ended = run("--version", stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2))
    assert (ended.returncode, ended.stdout[:7]) == (0, b"regard ")
    ended = run("show", "nothing", stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2))
    assert (ended.returncode, ended.stdout) == (2, b"")


def test_a_closed_standard_input_is_an_error(regard, model, monkeypatch):
    ended = run("translate", str(model), capture_output=True, preexec_fn=lambda: os.close(0))
    assert ended.returncode == 2
    assert ended.stderr.decode().startswith("error: standard input: it is closed")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (os.fsdecode(b"caf\xe9"), r"error: argument 2, 'caf\udce9': it is not UTF-8; rename the file"),
        ("a\x1b[31m", r"error: argument 2, 'a\x1b[31m': it has control characters; rename the file"),
    ],
)
def test_arguments_that_are_not_text_are_refused(regard, argument, message):
    ended = regard("show", argument)
    assert ended.status == 2
    assert ended.err.startswith(message)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_is_shown_control_characters(monkeypatch):
    assert show_controls(HOSTILE) == SHOWN
    assert show_controls("tab\tœuf\n") == "tab\tœuf\n"
    monkeypatch.setattr(sys, "stdout", Terminal())
    print_line(HOSTILE)
    assert sys.stdout.getvalue() == SHOWN + "\n"


def test_files_and_pipes_get_the_text_as_it_is(capsys):
    print_line(HOSTILE)
    assert capsys.readouterr().out == HOSTILE + "\n"
    out = io.StringIO()
    SafeConsole(file=out, soft_wrap=True).print("a\x1b[0mb", markup=False)
    assert out.getvalue() == "a\x1b[0mb\n"


def test_a_console_sends_its_own_sequences_alone():
    out = Terminal()
    console = SafeConsole(file=out, force_terminal=True, color_system="standard", width=60, highlight=False)
    table = Table(box=None)
    table.add_column("a\x9bm")
    table.add_row("b\x1b[5m", style="red")
    console.print("c\x1b]8;;", table, Text("d\x1b[2J", style="bold"), markup=False)
    sent = out.getvalue()
    assert "\x1b[31m" in sent, "the colour of the row"
    for hostile, shown in (
        ("\x9b", r"\x9b"),
        ("\x1b[5m", r"\x1b[5m"),
        ("\x1b]8", r"\x1b]8"),
        ("\x1b[2J", r"\x1b[2J"),
    ):
        assert hostile not in sent
        assert shown in sent


@pytest.mark.parametrize("text", ["[/bold]", "a [/x] b [bold]c[/]", "[link=" + "x" * 9])
def test_brackets_that_are_not_markup_are_text(text):
    out = io.StringIO()
    SafeConsole(file=out, width=60).print(text)
    assert out.getvalue() == text + "\n"


def test_an_error_on_a_terminal_shows_what_a_file_says(tmp_path):
    """A message about a file's content, on a real terminal."""
    (tmp_path / "regard.json").write_text('{"format": 99, "regard": "\\u001b[31m\\u009b"}')
    own, other = pty.openpty()
    with os.fdopen(own, "rb", buffering=0) as terminal:
        ended = run("show", str(tmp_path), stderr=other, stdout=subprocess.DEVNULL)
        os.close(other)
        sent = terminal.read(10_000).decode()
    assert ended.returncode == 2
    assert r"by Regard \x1b[31m\x9b" in sent
    assert "\x9b" not in sent
