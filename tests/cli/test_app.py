import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
import torch
import typer

import regard as package
from regard.cli import app as frame
from regard.cli.app import app, main
from regard.tasks import TASKS

COMMANDS = [
    *("demo", "prepare", "train", "tune", "evaluate", "compare"),
    *(name for task in TASKS.values() for name in task.commands),
    *(
        "trace",
        "animate",
        "studio",
        "explain",
        "serve",
        "lab",
        "recipe",
        "check",
        "average",
        "models",
        "show",
    ),
]


def find_command(name):
    return typer.main.get_command(app).commands[name]


def examples(name):
    """What a command's help tells to type, up to a pipe or a redirection."""
    for line in find_command(name).help.splitlines():
        if typed := re.search(r"regard (.*)", line):
            words = shlex.split(typed[1])
            yield words[: next((k for k, word in enumerate(words) if word in "|>"), None)]


def test_version(regard):
    ended = regard("--version")
    assert (ended.status, ended.out, ended.err) == (0, f"regard {package.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_names_the_commands(regard, arguments):
    ended = regard(*arguments)
    assert ended.status == 0
    for name in COMMANDS:
        assert re.search(rf"\b{name}\b", ended.out)
    assert "Start with: regard demo" in ended.out


def test_no_arguments_is_help_too(regard):
    ended = regard()
    assert "Usage: regard" in ended.out + ended.err


def test_the_commands_are_these():
    assert list(typer.main.get_command(app).commands) == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches(regard, name):
    """Each command says what it does, shows how to call it, and explains every option."""
    ended = regard(name, "--help")
    assert ended.status == 0
    shown = " ".join(re.sub(r"[│╭╮╰╯─]", " ", ended.out).split())
    assert "Examples" in shown
    assert list(examples(name))
    for parameter in find_command(name).params:
        assert parameter.help, parameter.name
        words = " ".join(parameter.help.replace("\\[", "[").split())
        # a long word may be broken at the end of a line
        assert words.split()[0] in shown, parameter.name
        assert words.split()[-1].strip(".") in shown, parameter.name
    if name == "train":
        assert "A TOML file of options: tables [data], [tokenizer], [model], [training], …" in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_can_be_typed(name):
    commands = list(examples(name))
    assert name in {words[0] for words in commands}
    for words in commands:  # an example may go on with another command
        context = find_command(words[0]).make_context(words[0], words[1:])
        assert context.params


class TestErrors:
    def test_an_unknown_option_is_told_with_the_nearest(self, regard, model):
        ended = regard("translate", model, "--bean", "3")
        assert (ended.status, ended.out) == (2, "")
        assert "No such option: --bean" in ended.err
        assert "--beam" in ended.err

    def test_an_unknown_command_is_refused_with_the_nearest(self, regard):
        ended = regard("tranlate")
        assert (ended.status, ended.out) == (2, "")
        assert "'translate'" in ended.err

    def test_a_missing_argument(self, regard):
        ended = regard("translate")
        assert ended.status == 2
        assert "MODEL" in ended.err.upper()

    def test_a_number_that_is_none(self, regard, model):
        ended = regard("translate", model, "--beam", "wide")
        assert ended.status == 2
        assert "--beam" in ended.err

    def test_our_own_are_one_message_and_status_2(self, regard, tmp_path):
        ended = regard("show", tmp_path / "none[bold]")
        assert (ended.status, ended.out) == (2, "")
        assert ended.err == f"error: {tmp_path}/none[bold]: no such model folder; `regard train` makes one\n"

    def test_a_traceback_for_those_who_ask(self, tmp_path, monkeypatch):
        monkeypatch.setenv("REGARD_TRACEBACK", "1")
        monkeypatch.setattr(sys, "argv", ["regard", "show", str(tmp_path)])
        with pytest.raises(package.RegardError):
            main()

    def test_a_fault_of_ours_keeps_its_traceback(self, monkeypatch):
        def broken(prog_name):
            raise OSError(5, "Input/output error", "some file")

        monkeypatch.setattr(frame, "app", broken)
        with pytest.raises(OSError, match="some file"):
            main()

    def test_ctrl_c(self, regard, model, monkeypatch):
        def interrupted(*args, **options):
            raise KeyboardInterrupt

        monkeypatch.setattr("regard.checkpoint.ModelFolder.load", interrupted)
        ended = regard("translate", model)
        assert (ended.status, ended.out) == (130, "")

    def test_ctrl_c_of_which_a_library_makes_another_error(self, regard, model, monkeypatch):
        def interrupted(*args, **options):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise RecursionError from None

        monkeypatch.setattr("regard.checkpoint.ModelFolder.load", interrupted)
        ended = regard("translate", model)
        assert (ended.status, ended.out, ended.err) == (130, "", "")

    def test_ctrl_c_while_the_command_line_is_imported(self, tmp_path):
        """In a process of its own, whose first import of typer sends the signal."""
        (tmp_path / "typer.py").write_text("import signal; signal.raise_signal(signal.SIGINT)\n")
        done = subprocess.run(
            [sys.executable, "-m", "regard", "--version"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "")

    @pytest.mark.parametrize("error", [MemoryError(), None])
    def test_memory_that_is_too_small(self, regard, model, monkeypatch, error):
        def full(*args, **options):
            if error is not None:
                raise error
            torch.empty(1 << 50, dtype=torch.uint8)

        monkeypatch.setattr("regard.checkpoint.ModelFolder.load", full)
        ended = regard("translate", model)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.startswith(
            "error: out of memory; give less data, smaller batches or a smaller model, or use"
        )

    def test_another_error_of_torch_keeps_its_traceback(self, monkeypatch):
        def broken(prog_name):
            raise RuntimeError("shapes do not match")

        monkeypatch.setattr(frame, "app", broken)
        with pytest.raises(RuntimeError, match="shapes"):
            main()


class TestWhereTheOutputGoes:
    def test_a_reader_that_goes_away_ends_it_in_silence(self, model, tmp_path):
        """Really, in a process of its own: the interpreter's own complaint at exit would be the last line."""
        lines = tmp_path / "lines"
        lines.write_text("a b c d e\n" + "\n" * 200_000)  # more than a pipe holds
        script = f"{sys.executable} -m regard translate {model} {lines} --beam 1 | head -1"
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {script}"],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=False,
        )
        assert len(done.stdout.splitlines()) == 1
        assert done.stderr == ""
        assert done.returncode == 1

    @pytest.mark.parametrize("count", [1, 5000])
    def test_a_full_disk_behind_standard_output(self, model, monkeypatch, capsys, tmp_path, count):
        """Whether it shows while lines are written or only when the last of them are."""
        (tmp_path / "lines").write_text("\n" * count)
        monkeypatch.setattr(
            sys, "argv", ["regard", "translate", str(model), str(tmp_path / "lines"), "--scores"]
        )
        with open("/dev/full", "w") as full:
            monkeypatch.setattr(sys, "stdout", full)
            with pytest.raises(SystemExit) as ended:
                main()
        assert ended.value.code == 2
        assert capsys.readouterr().err == (
            "error: standard output: cannot be written (No space left on device); free some space, or write elsewhere\n"
        )


class TestCompletion:
    def test_bash_can_have_it(self):
        done = subprocess.run(
            [
                "bash",
                "-c",
                f"PATH={os.path.dirname(sys.executable)}:$PATH; regard --show-completion; exit $?",
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "complete -o default -F _regard_completion regard" in done.stdout

    @pytest.mark.parametrize(
        ("typed", "offered"), [("tra", {"trace", "train", "translate"}), ("translate --bea", {"--beam"})]
    )
    def test_it_completes(self, monkeypatch, capsys, typed, offered):
        monkeypatch.setenv("_REGARD_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", f"regard {typed}")
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
        monkeypatch.setattr(sys, "argv", ["regard"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        assert set(capsys.readouterr().out.split()) == offered
