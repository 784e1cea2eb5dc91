"""The command line: all commands, and how errors end the program.

An error the user can fix is one message on standard error and status 2; Ctrl-C is status 130; a closed pipe ends the
program silently, with status 1, and a standard output that was closed from the start is an error. With
REGARD_TRACEBACK set, errors keep their traceback; bugs always do. Of several processes that torchrun started, only the
first prints; the others print errors that are theirs alone.
"""

import errno
import io
import os
import sys
import time
from pkgutil import resolve_name

import typer

from regard.cli import (
    animate,
    average,
    check,
    compare,
    demo,
    evaluate,
    explain,
    lab,
    models,
    prepare,
    recipe,
    serve,
    show,
    studio,
    trace,
    train,
    tune,
)
from regard.cli.console import notes, results
from regard.errors import ConfigError, DataError, RegardError, is_out_of_memory
from regard.processes import Processes
from regard.tasks import TASKS
from regard.terminal import show_controls
from regard.version import __version__

_SHARED = ("prepare", "train", "translate")  # the commands whose work several processes share
_WAIT = 3.0  # seconds in which torchrun ends the other processes once one has failed
_MOST_GLYPHS = 10  # that are named of those no font has
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

app = typer.Typer(
    name="regard",
    help="Recurrent seq2seq models with attention: train, translate, align, classify, tag, caption, sample, inspect.",
    epilog="Start with: regard demo",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(prepare.prepare)
app.command()(train.train)
app.command()(tune.tune)
app.command()(evaluate.evaluate)
app.command()(compare.compare)
for task in TASKS.values():
    for name, function in task.commands.items():
        app.command(name)(resolve_name(function))
app.command()(trace.trace)
app.command()(animate.animate)
app.command()(studio.studio)
app.command()(explain.explain)
app.command()(serve.serve)
app.command()(lab.lab)
app.command()(recipe.recipe)
app.command()(check.check)
app.command()(average.average)
app.command()(models.models)
app.command()(show.show)


def _version(wanted: bool) -> None:
    if wanted:
        results.print(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    processes, command = Processes.launched(), context.invoked_subcommand
    if processes.world_size > 1 and command not in _SHARED:
        raise ConfigError(
            f"{command}: {processes.world_size} processes cannot share its work, only that of {', '.join(_SHARED)}; "
            "run it without torchrun"
        )


def main() -> None:
    """Run the command line."""
    _prepare_streams()
    try:
        _check_arguments(sys.argv[1:])
        before = _uncovered()
        try:
            app(prog_name="regard")
        finally:
            sys.stdout.flush()  # while its failure can still be reported
            _note_missing_glyphs(_uncovered() - before)
    except RegardError as error:
        if os.environ.get("REGARD_TRACEBACK"):
            raise
        _print_error(str(error), is_shared=error.is_shared)
        sys.exit(2)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        _print_error(
            "out of memory; give less data, smaller batches or a smaller model, or use a machine with more memory"
        )
        sys.exit(2)
    except OSError as error:
        # other files report their errors where they are written: this is standard output
        if error.errno not in (errno.EPIPE, *_FULL):
            raise
        # what is still in its buffer cannot be written either: keep the interpreter from trying at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            sys.exit(1)
        _print_error(
            f"standard output: cannot be written ({error.strerror}); free some space, or write elsewhere"
        )
        sys.exit(2)


def _prepare_streams() -> None:
    """Make the standard streams usable: UTF-8, as all files are read and written, whatever the locale."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is None:  # closed: the next file to be opened would get its descriptor
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            shown = "backslashreplace" if stream.isatty() else errors
            stream.reconfigure(encoding="utf-8", errors=shown)
    if not Processes.launched().is_first:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        notes.quiet = True


def _check_arguments(arguments: list[str]) -> None:
    """Raise where an argument cannot be written into a file or a message, or where results cannot be printed."""
    for number, argument in enumerate(arguments, start=1):
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError:
            raise ConfigError(
                f"argument {number}, {argument!r}: it is not UTF-8; rename the file, or type the text in UTF-8"
            ) from None
        if show_controls(argument) != argument:
            raise ConfigError(
                f"argument {number}, {argument!r}: it has control characters; rename the file, or remove them"
            )
    if sys.stdout is None:
        raise DataError(
            "standard output: it is closed, and results are printed there; redirect it, as in > FILE"
        )


def _uncovered() -> set[str]:
    """The characters without a font in what this process has drawn; nothing is imported to say so."""
    fonts = sys.modules.get("regard.plots.figures.fonts")
    return set(fonts.uncovered()) if fonts else set()


def _note_missing_glyphs(missing: set[str]) -> None:
    """Say which characters pictures show as U+FFFD, if any were drawn."""
    if missing:
        first = "".join(sorted(missing)[:_MOST_GLYPHS]) + (" …" if len(missing) > _MOST_GLYPHS else "")
        notes.print(
            f"no installed font has {first}: pictures show \N{REPLACEMENT CHARACTER} instead; install one, such as a "
            "Noto font",
            markup=False,
        )


def _print_error(message: str, *, is_shared: bool = False) -> None:
    processes = Processes.launched()
    if not processes.is_first:
        # the first process may have the same error: it has time to print it, after which torchrun ends this one
        time.sleep(_WAIT)
        if is_shared:
            return
        notes.quiet = False
        message = f"{processes}: {message}"
    notes.print("[bold red]error:[/] ", end="")
    notes.print(message, markup=False)
