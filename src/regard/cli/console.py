"""What the commands share: where text is printed, tables of scores, files to write, and ``--plot``.

Results go to standard output, everything else to standard error. On a terminal there is colour, and control characters
in the text are shown; in a pipe or a file there are plain lines.
"""

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

import typer
from rich.markup import escape
from rich.table import Table

from regard.errors import ConfigError, DataError
from regard.evaluation.metrics import format_score
from regard.io import make_folder
from regard.terminal import SafeConsole, show_controls

if TYPE_CHECKING:
    from regard.tasks.result import PlottedResult

_PIPE_WIDTH = 160  # of tables where no terminal says how wide it is

results = SafeConsole(
    highlight=False, soft_wrap=True, width=None if sys.stdout and sys.stdout.isatty() else _PIPE_WIDTH
)
"""Results, on standard output."""

notes = SafeConsole(stderr=True, highlight=False, soft_wrap=True)
"""Everything else, on standard error."""

COLUMN_HELP = "The column of a table (.arrow, .feather, .parquet) that holds the features as lists."


def print_json(value: Any, file: TextIO | None = None) -> None:
    """Print a JSON value on one line of a file, by default standard output."""
    print_line(json.dumps(value, ensure_ascii=False), file)


def print_line(line: str, file: TextIO | None = None) -> None:
    """Print a line to a file, by default standard output, exactly as it is; on a terminal, controls are shown."""
    stream = file or sys.stdout
    stream.write((show_controls(line) if stream.isatty() else line) + "\n")


@contextmanager
def output_file(path: Path | None) -> Iterator[TextIO | None]:
    """A text file to print to, or None for standard output.

    Raises:
        DataError: the file cannot be written.
    """
    if path is None:
        yield None
        return
    try:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror or error}); free some space, or name another file"
        ) from error


def refuse_same_file(output: Path | None, sources: Iterable[str]) -> None:
    """Raise where the file to write is one of those to read.

    Raises:
        ConfigError: it is.
    """
    for source in sources:
        if output is not None and output.exists() and Path(source).exists() and output.samefile(source):
            raise ConfigError(f"--output {output}: it is being read; write to another file")


def no_attention(model: Path) -> ConfigError:
    """The error for a model without attention where alignments are needed."""
    return ConfigError(
        f"{model}: this model has no attention, so it has no alignments; train one whose decoder is of kind "
        "bahdanau or luong"
    )


def command_line(context: typer.Context) -> str:
    """The command line that repeats this call: command, arguments, and the options that are not at their defaults."""
    names, above = [str(context.info_name)], context.parent
    while above is not None and above.parent is not None:  # the outermost is regard itself, by whatever name
        names, above = [str(above.info_name), *names], above.parent
    arguments: list[str] = []
    options: list[str] = []
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if value is None or value == parameter.get_default(context):
            continue
        is_argument = parameter.param_type_name == "argument"
        is_list = parameter.nargs == -1 or getattr(parameter, "multiple", False)
        for given in value if is_list else [value]:
            if given is False:
                options.append(parameter.secondary_opts[0])
            elif given is True:
                options.append(parameter.opts[0])
            else:
                parts = [str(part) for part in (given if isinstance(given, tuple) else [given])]
                options += [] if is_argument else [parameter.opts[0], *parts]
                arguments += parts if is_argument else []
    if any(argument.startswith("-") and argument != "-" for argument in arguments):
        return shlex.join(["regard", *names, *options, "--", *arguments])
    return shlex.join(["regard", *names, *arguments, *options])


def score_table(scores: Mapping[str, Any], title: str | None = None) -> Table:
    """Two columns: names as in ``report.json``, and values."""
    table = Table(title=title, title_justify="left", box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(justify="right", style="bold")
    for name, value in scores.items():
        table.add_row(name, escape(format_score(name, value)))
    return table


_PICTURES = frozenset({".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".ps", ".webp", ".tif", ".tiff"})


class PlotWriter:
    """Writes what ``--plot`` asks for; use it as a context around the results.

    Args:
        plot: a folder, one plot per result, or a file with a picture's suffix, for a single result; None plots nothing.
    """

    def __init__(self, plot: Path | None) -> None:
        self._plot = plot
        self._single: PlottedResult | None = None
        self._is_file = plot is not None and plot.suffix.lower() in _PICTURES
        if plot is not None and not self._is_file:
            make_folder(plot)

    def add(self, result: "PlottedResult", number: int) -> None:
        """Plot a result, the `number`-th of all.

        Raises:
            ConfigError: it is the second one, and `plot` is a file.
        """
        if self._plot is None:
            return
        if not self._is_file:
            result.plot(self._plot / f"{number:06d}.png")
            return
        if self._single is not None:
            raise ConfigError(
                f"--plot {self._plot}: one file for several plots; name a folder, as "
                f"--plot {self._plot.with_suffix('')}"
            )
        self._single = result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._single is not None and self._plot is not None:
            self._single.plot(self._plot)
