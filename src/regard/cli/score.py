"""``regard score``: what a language model makes of given lines."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import (
    DEVICE_HELP,
    WEIGHTS_HELP,
    notes,
    output_file,
    print_json,
    print_line,
    refuse_same_file,
    results,
    score_table,
)
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.tasks.language_model.result import Scored

_CHUNK = 256  # lines read together


def score(
    model: Annotated[Path, typer.Argument(help="A folder of a language model.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to score; none, or -, for standard input.")
    ] = None,
    continuous: Annotated[
        bool,
        typer.Option("--continuous", help="Read one line after the other as one text, the state carried."),
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print the whole text's scores alone, on standard output.")
    ] = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON: an object a line, or one for the text with --summary."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of standard output.")
    ] = None,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Score lines: log-probability, tokens and perplexity of each, with tabs.

    The end of a line is predicted and counted, as a token, a word and a
    character. A blank line has no score by itself: 0, 0 and nan.
    The whole text's perplexity and bits per character follow on
    standard error.

    [bold]Examples[/]

      echo "the cat sat on the mat ." | regard score model

      regard score model test.txt --continuous --summary
    """
    from regard.tasks.language_model.predictor import LanguageModel
    from regard.tasks.language_model.result import TextScore
    from regard.text import read_lines
    from regard.text.formats import STDIN

    sources = files or [STDIN]
    if summary and output is not None:
        raise ConfigError("--summary prints no line for --output to take; leave one of them out")
    refuse_same_file(output, sources)
    language_model = LanguageModel.load(model, weights=weights, device=device)
    typed = STDIN in sources and sys.stdin.isatty()
    mode = "continuous" if continuous else "sentences"
    total = TextScore()
    aside = (output is not None or summary) and not typed
    with output_file(output) as file, LinesDisplay("scoring", to_file=aside) as display:
        for one in language_model.score(read_lines(sources), mode=mode, chunk=1 if typed else _CHUNK):
            total = total.with_line(one)
            if json and not summary:
                print_json(one.to_json(), file)
            elif not summary:
                print_line(_line(one), file)
            display(one)
    if total.unknown:
        notes.print(f"{total.unknown} to {model}, and each is read as the one unknown word", markup=False)
    if json and summary:
        print_json(total.to_json())
    else:
        (results if summary else notes).print(score_table(total.to_json()))


def _line(one: "Scored") -> str:
    perplexity = "nan" if one.perplexity is None else f"{one.perplexity:.4f}"
    return f"{one.log_prob:.4f}\t{len(one.tokens)}\t{perplexity}"
