"""``regard what-if``: a line translated once more, with something told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import DEVICE_HELP, POWER_HELP, WEIGHTS_HELP, notes, print_json, results
from regard.errors import ConfigError


def what_if(
    model: Annotated[Path, typer.Argument(help="A folder of a translator.")],
    line: Annotated[str, typer.Argument(help="The line to translate, in quotes.")],
    attend: Annotated[
        list[str] | None,
        typer.Option(
            help="STEP=WORD: look at nothing but this source word when the step's word is chosen; steps of the "
            "translation are counted from 0. STEP=NUMBER names a token by its position, from 0 as well. May be given "
            "several times."
        ),
    ] = None,
    swap: Annotated[
        list[str] | None,
        typer.Option(
            help="WORD=OTHER: put another word into the line; NUMBER=OTHER names a word by its place, from 0. Nothing "
            "after = takes it out. May be given several times."
        ),
    ] = None,
    prefix: Annotated[str, typer.Option(help="Begin the translation with these words.")] = "",
    include: Annotated[
        list[str] | None, typer.Option(help="Words that must appear. May be given several times.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Words that may not appear. May be given several times.")
    ] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.")] = 5,
    length_power: Annotated[float, typer.Option(help=POWER_HELP)] = 1.0,
    plot: Annotated[
        Path | None, typer.Option(help="Draw both attentions and their difference into this file.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print both translations and how attention moved as a JSON object.")
    ] = False,
    max_length: Annotated[int, typer.Option(help="The most tokens the line may have.")] = 1000,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Translate a line before and after something is told.

    Attention can be put on a word at a step, words of the line swapped, the
    translation made to begin in a certain way, to hold some words, or not.
    All else is left to the model.

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
    told = translator.what_if(
        line,
        attend={int(step): _number(word) for step, word in steps.items()},
        swap=_pairs("swap", swap or [], "haus=hund"),
        prefix=prefix,
        include=include or [],
        exclude=exclude or [],
        beam=beam,
        length_power=length_power,
    )
    for step in told.unreached:
        notes.print(f"step {step} was never reached: the translation has {len(told.after.tokens)} steps")
    if json:
        print_json(told.to_json())
    else:
        results.print(TerminalWhatIf(told))
    if plot is not None:
        told.plot(plot)


def _pairs(option: str, given: Sequence[str], example: str) -> dict[int | str, str]:
    """What stands before and after the first = of each; a number before it is one."""
    pairs: dict[int | str, str] = {}
    for text in given:
        before, equals, after = text.partition("=")
        if not equals or not before:
            raise ConfigError(f"--{option} {text}: write it as --{option} {example}")
        if _number(before) in pairs:
            raise ConfigError(f"--{option} {text}: {before} is given twice; keep one")
        pairs[_number(before)] = after
    return pairs


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
