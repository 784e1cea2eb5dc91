"""``regard score``: the log-probability of given lines under a language model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import (
    notes,
    output_file,
    print_json,
    print_line,
    refuse_same_file,
    results,
    score_table,
)
from regard.cli.options import Device, Output, Weights
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.tasks.language_model.result import Scored


def score(
    model: Annotated[Path, typer.Argument(help="The folder of a language model.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to score; none, or -, for standard input.")
    ] = None,
    continuous: Annotated[
        bool,
        typer.Option(
            "--continuous", help="Read the lines as one text: the state is carried from line to line."
        ),
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print only the scores of the whole text.")
    ] = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON: one object per line, or one for the text with --summary."),
    ] = False,
    max_length: Annotated[
        int | None,
        typer.Option(help="Refuse lines with more tokens than this; by default none is too long.", min=1),
    ] = None,
    output: Output = None,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Score lines: log-probability, tokens and perplexity of each, separated by tabs.

    The end of a line is predicted, and counted as a token, a word and a
    character. Without --continuous, a blank line has no score: 0, 0 and nan.
    Perplexity and bits per character of the whole text are printed to
    standard error at the end.

    [bold]Examples[/]

      echo "the cat sat on the mat ." | regard score model

      regard score model test.txt --continuous --summary
    """
    from regard.tasks.language_model.predictor import LanguageModel
    from regard.tasks.language_model.result import TextScore
    from regard.tasks.predictor import CHUNK
    from regard.text import read_lines
    from regard.text.formats import STDIN, is_typed

    sources = files or [STDIN]
    if summary and output is not None:
        raise ConfigError("--summary prints no lines, so --output would be empty; leave one of them out")
    refuse_same_file(output, sources)
    language_model = LanguageModel.load(model, weights=weights, device=device)
    typed = is_typed(sources)
    mode = "continuous" if continuous else "sentences"
    total = TextScore()
    to_file = (output is not None or summary) and not typed
    with output_file(output) as file, LinesDisplay("scoring", files=sources, to_file=to_file) as display:
        scored = language_model.score(
            read_lines(sources), mode=mode, chunk=1 if typed else CHUNK, max_length=max_length
        )
        for line in scored:
            total = total.with_line(line)
            if json and not summary:
                print_json(line.to_json(), file)
            elif not summary:
                print_line(_line(line), file)
            display(line)
    if total.unknown:
        notes.print(f"{total.unknown} to {model}, and each is read as the one unknown word", markup=False)
    if json and summary:
        print_json(total.to_json())
    else:
        (results if summary else notes).print(score_table(total.to_json()))


def _line(scored: "Scored") -> str:
    perplexity = "nan" if scored.perplexity is None else f"{scored.perplexity:.4f}"
    return f"{scored.log_prob:.4f}\t{len(scored.tokens)}\t{perplexity}"
