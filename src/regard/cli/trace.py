"""``regard trace``: everything that a model, or a cell by itself, computes for one line, step by step."""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.console import print_json, results
from regard.cli.options import MAX_SEED, Device, Weights
from regard.config import in_range, one_of
from regard.errors import ConfigError, DataError
from regard.io import read_whole

if TYPE_CHECKING:
    import torch

    from regard.layers import Cell
    from regard.tasks.trace import Trace

_MAX_NUMBERS = 1 << 20  # bytes of a file of numbers
_MAX_SIZE = 64
_DEFAULT_STEPS = 3

Target = Annotated[
    str | None, typer.Option(help="Read these words in the decoder instead of those that search finds.")
]
Beam = Annotated[
    int, typer.Option(help="Trace the best output of a beam search this wide; 1 is greedy.", min=1)
]
Letters = Annotated[str, typer.Option(help="Whose letters the equations have: papers or slides.")]


def trace(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL] [LINE]...",
            help="A model folder and what it reads, in quotes; two texts for a classifier of pairs, numbers for a "
            "captioner. With --cell, the names of the inputs.",
        ),
    ] = None,
    cell: Annotated[
        str | None,
        typer.Option(help="A cell by itself instead of a model, such as gru; `regard models` lists them."),
    ] = None,
    size: Annotated[int, typer.Option(help="With --cell: how many inputs and units.", min=1)] = 2,
    seed: Annotated[
        int, typer.Option(help="With --cell: of the numbers that are not given.", min=0, max=MAX_SEED)
    ] = 1,
    numbers: Annotated[
        Path | None,
        typer.Option(
            help='With --cell: a JSON file with the inputs x and any parameters, as in {"x": [[1, 0]], "b": …}.'
        ),
    ] = None,
    target: Target = None,
    beam: Beam = 1,
    letters: Letters = "papers",
    float64: Annotated[bool, typer.Option("--float64", help="Compute in double precision.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a page (.html), JSON (.json) or arrays (.npz)."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the trace as a JSON object.")] = False,
    section: Annotated[
        list[str] | None,
        typer.Option(help="Show only this part, such as encoder or decoder. Repeatable."),
    ] = None,
    step: Annotated[
        list[int] | None, typer.Option(help="Print only this step, counted from 1. Repeatable.", min=1)
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(help="How many units and words of each part; by default 4, or 6 on a page.", min=1),
    ] = None,
    all_components: Annotated[bool, typer.Option("--all", help="All units and words of each part.")] = False,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Show every step's numbers, each beside its equation.

    What a step reads, its gates, candidate and state, the energies, weights
    and context of its attention, and the probabilities of its output: for a
    model of any task, or for a cell by itself with small numbers.

    [bold]Examples[/]

      regard trace model "ein kleines haus ." --section decoder --step 2

      regard trace model "ein kleines haus ." --letters slides -o trace.html

      regard trace --cell gru --size 2

      regard trace --cell lstmn the cat sat --seed 3
    """
    from dataclasses import replace

    from regard.ops.record import LETTERS
    from regard.plots import TerminalTrace
    from regard.tasks.trace import SUFFIXES

    one_of("--letters", letters, LETTERS)
    if output is not None and output.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"--output {output}: no format for this suffix; use {', '.join(SUFFIXES)}")
    given = arguments or []
    if cell is not None:
        traced = _trace_cell(cell, given, size, seed, numbers, letters)
    else:
        dtype = "float64" if float64 else "float32"
        traced = trace_model(given, target, beam, letters, dtype, weights, device)
    if section:
        found = tuple(each for name in section for each in traced.sections_of(name))
        if not found:
            raise ConfigError(
                f"--section {' '.join(section)}: none of that name; this trace has "
                f"{', '.join(each.key for each in traced.sections)}"
            )
        traced = replace(traced, sections=found)
    if output is not None:
        traced.save(output, components=0 if all_components else components or 6)
    elif json:
        print_json(traced.to_json())
    else:
        steps = None if step is None else [number - 1 for number in step]
        few = components or (4 if cell is None else 8)
        results.print(TerminalTrace(traced, 0 if all_components else few, steps))


def trace_model(
    arguments: list[str], target: str | None, beam: int, letters: str, dtype: str, weights: str, device: str
) -> "Trace":
    """The trace of a model of any task.

    Args:
        arguments: the model's folder, and the line or lines.
        target: the words that a decoder reads; None for those that search finds.
        beam: of that search.
        letters: ``papers`` or ``slides``.
        dtype: ``float32`` or ``float64``.
        weights: ``best`` or ``last``.
        device: where to compute.

    Raises:
        RegardError: there is no model or no line, or they do not fit.
    """
    from regard.checkpoint import ModelFolder
    from regard.tasks import TASKS

    if len(arguments) < 2:
        raise ConfigError(
            'a trace needs a model and a line: regard trace MODEL "a line"; or a cell: regard trace --cell gru'
        )
    folder, *lines = arguments
    task = ModelFolder(folder).task
    predictor = TASKS[task].predictor().load(folder, weights=weights, device=device)
    options: dict[str, Any] = {"letters": letters, "dtype": dtype}
    line: Any = lines[0]
    if task in ("translate", "caption"):
        options["target"] = target
    elif target is not None:
        raise ConfigError(
            f"--target: a model for {TASKS[task].purpose} has no decoder to read it; leave it out"
        )
    if task == "translate":
        options["beam"] = beam
    elif beam != 1:
        raise ConfigError(f"--beam {beam}: it is an option of translators; leave it out")
    if task == "caption":
        line = [_number(word) for text in lines for word in text.split()]
    elif task == "classify" and len(lines) > 1:
        line = lines
    elif len(lines) > 1:
        raise ConfigError(f"{len(lines)} lines, and a trace is of one; put it in quotes")
    traced: Trace = predictor.trace(line, **options)
    return traced


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ConfigError(f"{word!r} is not a number; a captioner reads a vector of features") from None


def _trace_cell(
    name: str, names: list[str], size: int, seed: int, numbers: Path | None, letters: str
) -> "Trace":
    """A cell by itself: its numbers from the file and, where it has none, tenths sampled from the seed."""
    import torch

    from regard.layers import CELLS
    from regard.tasks.tracing import trace_cell

    one_of("--cell", name, CELLS)
    in_range("--size", size, 1, _MAX_SIZE)
    given = {} if numbers is None else _read_numbers(numbers)
    generator = torch.Generator().manual_seed(seed)

    def tenths(*shape: int) -> "torch.Tensor":
        return torch.randint(-9, 10, shape, generator=generator).double() / 10

    x = given.pop("x", None)
    if x is None:
        x = tenths(len(names) or _DEFAULT_STEPS, size)
    if x.dim() != 2 or not x.numel():
        raise DataError(f"{numbers}: x has the shape {tuple(x.shape)}; give a row of numbers for each step")
    if names and len(names) != len(x):
        raise ConfigError(f"{len(names)} names for {len(x)} inputs; give one for each, or none")
    units = len(given["b"]) // CELLS[name].num_gates if "b" in given and given["b"].dim() else size
    cell = CELLS[name](x.shape[1], units or size).double()
    _fill(cell, given, tenths, numbers)
    return trace_cell(cell, x, names or None, letters=letters)


def _fill(cell: "Cell", given: dict[str, "torch.Tensor"], tenths: Any, place: Path | None) -> None:
    import torch

    parameters = dict(cell.named_parameters())
    for name in given:
        if name not in parameters:
            raise DataError(
                f"{place}: no parameter {name!r}; this cell has {', '.join(parameters)}, and the inputs x"
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            value = given.get(name)
            if value is None:
                value = tenths(*parameter.shape)
            if value.shape != parameter.shape:
                raise DataError(
                    f"{place}: {name} has the shape {tuple(value.shape)}, and the cell's has {tuple(parameter.shape)}"
                )
            parameter.copy_(value)


def _read_numbers(path: Path) -> dict[str, "torch.Tensor"]:
    import torch

    try:
        content = json_format.loads(read_whole(path, _MAX_NUMBERS))
        return {str(name): torch.tensor(value, dtype=torch.float64) for name, value in content.items()}
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror or error}); name a JSON file of numbers"
        ) from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(
            f'{path}: not a JSON object of numbers ({error}); write it as {{"x": [[1, 0], [0, 1]], "W": …}}'
        ) from None
