"""``regard sample``: lines that a language model makes up."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import DEVICE_HELP, WEIGHTS_HELP, notes, print_json, print_line, results
from regard.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from regard.tasks.language_model.result import Sample


def sample(
    model: Annotated[Path, typer.Argument(help="A folder of a language model.")],
    prompt: Annotated[str, typer.Option(help="What each line starts with.")] = "",
    count: Annotated[int, typer.Option("--count", "-n", help="How many lines.")] = 1,
    temperature: Annotated[
        float, typer.Option(help="Below 1 likely words become likelier; 0 always takes the likeliest.")
    ] = 1.0,
    top_k: Annotated[int, typer.Option(help="Draw from the k likeliest words only; 0 for all.")] = 0,
    top_p: Annotated[
        float, typer.Option(help="Draw from the fewest likeliest words that together have this probability.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal lines.")] = 1,
    max_length: Annotated[int, typer.Option(help="The most tokens drawn for a line.")] = 100,
    json: Annotated[
        bool, typer.Option("--json", help="Print all there is to know, one JSON object a line.")
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Show each line as it grows, word by word, with what else might have come."
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the line with its alternatives into this file; needs -n 1.")
    ] = None,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Make up lines with a language model.

    [bold]Examples[/]

      regard sample model -n 5 --temperature 0.7

      regard sample model --prompt "the cat" --watch --plot growth.png
    """
    from regard.tasks.language_model.predictor import LanguageModel

    if json and watch:
        raise ConfigError("--json and --watch each print in their own way; choose one")
    if plot is not None and count != 1:
        raise ConfigError(
            f"--plot {plot}: one picture, and -n {count} makes {count} lines; leave one of them out"
        )
    language_model = LanguageModel.load(model, weights=weights, device=device)
    if strange := language_model.unknown_words(prompt):
        notes.print(
            f"not known to this model, read as <unk>: {', '.join(strange)}", style="dim", markup=False
        )
    if watch:
        for number in range(count):
            growing = language_model.grow(
                number=number,
                prompt=prompt,
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                seed=seed,
                max_length=max_length,
            )
            whole = _watched(growing)
            if plot is not None:
                whole.plot(plot)
        return
    samples = language_model.sample(
        count=count,
        prompt=prompt,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
        max_length=max_length,
    )
    for one in samples:
        if json:
            print_json(one.to_json())
        else:
            print_line(one.text)
        if plot is not None:
            one.plot(plot)


def _watched(growing: "Iterable[Sample]") -> "Sample":
    """Print a row for each word as it is drawn, and the whole line at the end."""
    from regard.plots import TerminalSampleHeading, TerminalSampleStep

    results.print(TerminalSampleHeading())
    whole = None
    for whole in growing:
        results.print(TerminalSampleStep(len(whole.steps), whole.steps[-1]))
    assert whole is not None, "at least one word is drawn"
    results.print(whole.text, style="bold", markup=False)
    return whole
