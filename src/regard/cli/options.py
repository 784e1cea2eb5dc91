"""Dataclasses of options → flags of a command: one per field, with the field's default and help; and shared flags.

In: a command with one parameter that is a dataclass: `Options`, or one whose fields are annotated for Typer. Out: the
same command with a flag for each of its fields, as Typer reads signatures. So an option is defined once, beside the
code that uses it. Knows no command.
"""

import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin, get_type_hints

import typer

from regard.errors import ConfigError

Command = Callable[..., None]

WEIGHTS_HELP = "Checkpoint: best (on the validation set) or last (the newest)."
MAX_SEED = 2**32 - 1
DEVICE_HELP = "cpu, cuda, or auto: a GPU if there is one."

JsonLines = Annotated[bool, typer.Option("--json", help="Print everything, one JSON object per line.")]
MaxLength = Annotated[int, typer.Option(help="Refuse lines with more tokens than this.", min=1)]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file instead of standard output.")
]
ColumnPair = Annotated[
    tuple[str, str] | None,
    typer.Option(
        help="The columns of source and target, label and text, or words and tags in one tab-separated or CSV file, by "
        "number or by the names in its first line: --columns 1 2 or --columns lemma form; of JSON lines by name."
    ),
]
ValidFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--valid",
        help="The validation data, in the same form; by default some training examples are split off.",
    ),
]
TokenizerKind = Annotated[
    str | None,
    typer.Option(
        help="Kind of tokens: char, word, bpe or unigram; for a translator one for both sides, or two: char,word."
    ),
]
VocabularySize = Annotated[int | None, typer.Option(help="Maximum size of each vocabulary.")]
Features = Annotated[
    str | None,
    typer.Option(
        help="The column of the source's features (pos=V,num=SG or V;PST;3;SG) in a tab-separated file, by number or "
        "by its name in the first line; by default it is recognised."
    ),
]
SecondColumn = Annotated[
    str | None, typer.Option(help="The column of the second text of a labelled pair, in the same way.")
]
Separator = Annotated[
    str, typer.Option(help="What separates label and text: tab, or space (the first space of the line).")
]
Header = Annotated[bool, typer.Option("--header", help="Skip the first line of a file of labelled texts.")]
Vertical = Annotated[
    bool,
    typer.Option(
        "--vertical", help="One word and its tag per line, a blank line after each sentence (CoNLL)."
    ),
]
Gold = Annotated[
    Path | None,
    typer.Option(
        help="Gold word links, sure and possible, as Pharaoh (0-0 1?2), NAACL 2003 (.wa) or Giza (A3.final)."
    ),
]
GoldFormat = Annotated[
    str,
    typer.Option(
        help="The format of the gold links; by default it is recognised. pharaoh, wa or giza names it; from-1 says "
        "that Pharaoh counts from 1, target-source that links name the target first; pharaoh,from-1,target-source says "
        "all of it.",
        show_default=False,
    ),
]
Weights = Annotated[str, typer.Option(help=WEIGHTS_HELP)]
Device = Annotated[str, typer.Option(help=DEVICE_HELP)]


def option_flags(
    kind: type[Any], parameter: str, *, panel: str | None = None, omit: Collection[str] = ()
) -> Callable[[Command], Command]:
    """Replace a parameter of a command by one flag per field of its dataclass.

    Args:
        kind: the dataclass of the parameter: `Options`, or one whose fields are annotated with their ``typer.Option``.
        parameter: the name of the parameter.
        panel: the heading under which ``--help`` lists the flags.
        omit: fields without a flag, since they mean nothing to the command.
    """
    hints = get_type_hints(kind, include_extras=True)
    flags = []
    for field in fields(kind):
        if field.name not in omit:
            # names are checked by the dataclass, whose message has the nearest one
            hint = str if get_origin(hints[field.name]) is Literal else hints[field.name]
            if get_origin(hint) is not Annotated:
                hint = Annotated[hint, typer.Option(help=field.metadata["help"], rich_help_panel=panel)]
            flags.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=field.default,
                    annotation=hint,
                )
            )

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for each in signature.parameters.values():
            parameters += flags if each.name == parameter else [each]

        @wraps(command)
        def with_options(**values: Any) -> None:
            try:
                options = kind(**{flag.name: values.pop(flag.name) for flag in flags})
            except ConfigError as error:
                raise ConfigError(_with_flags(str(error), [flag.name for flag in flags])) from None
            command(**values, **{parameter: options})

        with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        with_options.__annotations__ = {each.name: each.annotation for each in parameters}
        return with_options

    return decorate


def _with_flags(message: str, names: Collection[str]) -> str:
    """A message about an option, with the flags that were typed: at its beginning, and in its remedy."""
    name = "|".join(names)
    return re.sub(
        rf"^(?:{name})(?=:)|(?<=raise )(?:{name})\b|(?<=lower )(?:{name})\b",
        lambda found: "--" + found[0].replace("_", "-"),
        message,
    )
