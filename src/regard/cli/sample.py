"""``regard sample``: lines sampled from a language model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import notes, print_json, print_line, results
from regard.cli.options import MAX_SEED, Device, JsonLines, Weights, option_flags
from regard.errors import ConfigError
from regard.search.options import DEFAULT_SAMPLING, SamplingOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from regard.tasks.language_model.result import Sample


@option_flags(SamplingOptions, "sampling")
def sample(
    model: Annotated[Path, typer.Argument(help="The folder of a language model.")],
    prompt: Annotated[str, typer.Option(help="The words that each line starts with.")] = "",
    count: Annotated[int, typer.Option("--count", "-n", help="Number of lines.")] = 1,
    sampling: SamplingOptions = DEFAULT_SAMPLING,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal lines.", min=0, max=MAX_SEED)] = 1,
    max_length: Annotated[int, typer.Option(help="Maximum number of tokens in a line.")] = 100,
    json: JsonLines = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Show each line token by token as it is sampled, with the alternatives."
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Plot the line with its alternatives into this file; needs -n 1.")
    ] = None,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Sample lines from a language model.

    [bold]Examples[/]

      regard sample model -n 5 --temperature 0.7

      regard sample model --prompt "the cat" --watch --plot growth.png
    """
    from regard.tasks.language_model.predictor import LanguageModel

    if json and watch:
        raise ConfigError("--json and --watch print different things; choose one")
    if plot is not None and count != 1:
        raise ConfigError(
            f"--plot {plot}: one picture, and -n {count} makes {count} lines; leave one of them out"
        )
    language_model = LanguageModel.load(model, weights=weights, device=device)
    if unknown := language_model.unknown_words(prompt):
        notes.print(f"unknown to this model, read as <unk>: {', '.join(unknown)}", style="dim", markup=False)
    if watch:
        for number in range(count):
            growing = language_model.grow(
                number=number,
                prompt=prompt,
                options=sampling,
                seed=seed,
                max_length=max_length,
            )
            line = _watch(growing)
            if plot is not None:
                line.plot(plot)
        return
    samples = language_model.sample(
        count=count,
        prompt=prompt,
        options=sampling,
        seed=seed,
        max_length=max_length,
    )
    for line in samples:
        if json:
            print_json(line.to_json())
        else:
            print_line(line.text)
        if plot is not None:
            line.plot(plot)


def _watch(growing: "Iterable[Sample]") -> "Sample":
    """Print a row for each token as it is sampled, and the whole line at the end."""
    from regard.plots import TerminalSampleHeading, TerminalSampleStep

    results.print(TerminalSampleHeading())
    line = None
    for line in growing:
        results.print(TerminalSampleStep(len(line.steps), line.steps[-1]))
    assert line is not None, "at least one token is sampled"
    results.print(line.text, style="bold", markup=False)
    return line
