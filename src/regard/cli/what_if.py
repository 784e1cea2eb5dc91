"""``regard what-if``: a line translated as it is, and once more under an intervention."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import notes, print_json, results
from regard.cli.options import Device, MaxLength, Weights, option_flags
from regard.errors import ConfigError
from regard.search.options import DEFAULT_SEARCH, SearchOptions


@option_flags(SearchOptions, "search", panel="Search")
def what_if(
    model: Annotated[Path, typer.Argument(help="The model folder of a translator.")],
    line: Annotated[str, typer.Argument(help="The line to translate, in quotes.")],
    attend: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STEP=WORD",
            help="Force all attention of this decoding step onto this source word, or onto the source token at this "
            "position; both are counted from 0. Repeatable.",
        ),
    ] = None,
    swap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD=OTHER",
            help="Replace a word of the line, or the word at this position, counted from 0; WORD= removes it. "
            "Repeatable.",
        ),
    ] = None,
    prefix: Annotated[str, typer.Option(help="Force the translation to begin with these words.")] = "",
    include: Annotated[
        list[str] | None, typer.Option(help="Require this phrase in the translation. Repeatable.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Exclude this phrase from the translation. Repeatable.")
    ] = None,
    search: SearchOptions = DEFAULT_SEARCH,
    plot: Annotated[
        Path | None, typer.Option(help="Plot both attentions and their difference into this file.")
    ] = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print both translations and the difference in attention as a JSON object."
        ),
    ] = False,
    max_length: MaxLength = 1000,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Translate a line as it is, and once more under an intervention.

    An intervention forces the attention of a step, swaps words of the line,
    forces the first words of the translation, or requires or excludes
    phrases. Everything else is left to the model.

    [bold]Examples[/]

      regard what-if model "ein kleines haus ." --attend 2=kleines

      regard what-if model "ein kleines haus ." --swap kleines=rotes --prefix "one" --plot two.png
    """
    from regard.plots import TerminalWhatIf
    from regard.tasks.translate.predictor import Translator

    steps = _pairs("attend", attend or [], "2=haus")
    for step in steps:
        if not isinstance(step, int):
            raise ConfigError(
                f"--attend {step}=…: a step is a number, counted from 0; write it as --attend 2=haus"
            )
    translator = Translator.load(model, weights=weights, device=device, max_length=max_length)
    result = translator.what_if(
        line,
        search,
        attend={int(step): _number(word) for step, word in steps.items()},
        swap=_pairs("swap", swap or [], "haus=hund"),
        prefix=prefix,
        include=include or [],
        exclude=exclude or [],
    )
    for step in result.unreached:
        notes.print(f"step {step} was never reached: the translation has {len(result.after.tokens)} steps")
    if json:
        print_json(result.to_json())
    else:
        results.print(TerminalWhatIf(result))
    if plot is not None:
        result.plot(plot)


def _pairs(option: str, assignments: Sequence[str], example: str) -> dict[int | str, str]:
    """The text before and after the first = of each; digits before it are a number."""
    pairs: dict[int | str, str] = {}
    for text in assignments:
        before, equals, after = text.partition("=")
        if not equals or not before:
            raise ConfigError(f"--{option} {text}: write it as --{option} {example}")
        if _number(before) in pairs:
            raise ConfigError(f"--{option} {text}: {before} is given twice; keep one")
        pairs[_number(before)] = after
    return pairs


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
