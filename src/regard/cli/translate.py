"""``regard translate``: one line out for each line in."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from regard.cli.console import (
    DEVICE_HELP,
    POWER_HELP,
    WEIGHTS_HELP,
    no_attention,
    output_file,
    print_json,
    print_line,
    refuse_same_file,
)
from regard.cli.lines import LinesDisplay
from regard.errors import ConfigError
from regard.whole_file import make_folder

if TYPE_CHECKING:
    from regard.output.translation import Translation

_CHUNK = 256  # lines translated together


def translate(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to translate; none, or -, for standard input.")
    ] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.")] = 5,
    n_best: Annotated[
        int,
        typer.Option(
            help="Print so many translations of each line, best first, with the line's number before each."
        ),
    ] = 1,
    scores: Annotated[
        bool, typer.Option("--scores", help="Print each translation's score before it, with a tab.")
    ] = False,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments", help="Print word links after each translation, with a tab: 0-0 1-2 (Pharaoh)."
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print all there is to know, one JSON object a line.")
    ] = False,
    heatmaps: Annotated[
        Path | None, typer.Option(help="Draw each line's attention into this folder.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of standard output.")
    ] = None,
    length_power: Annotated[
        float,
        typer.Option(help=POWER_HELP),
    ] = 1.0,
    max_length: Annotated[int, typer.Option(help="The most tokens a line may have.")] = 1000,
    batch: Annotated[int, typer.Option(help="Sentences searched at a time.")] = 32,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Translate lines of text: one line out for each line in, blank ones too.

    With --n-best N each line gives up to N lines, each with the number of
    the line it translates and a tab before it.

    [bold]Examples[/]

      echo "ein kleines haus ." | regard translate model

      regard translate model test.de --beam 10 --alignments -o test.en
    """
    from regard.text.formats import STDIN, read_file, shown
    from regard.translator import Translator

    sources = files or [STDIN]
    if n_best > beam:
        raise ConfigError(f"--n-best {n_best}: a beam of {beam} finds at most {beam}; raise --beam")
    if json and (scores or alignments):
        raise ConfigError(
            "--json: it holds scores and alignments already; leave out --scores and --alignments"
        )
    refuse_same_file(output, sources)
    translator = Translator.load(model, weights=weights, device=device, max_length=max_length)
    if (alignments or heatmaps is not None) and not translator.attends:
        raise no_attention(model)
    if heatmaps is not None:
        make_folder(heatmaps)
    typed = STDIN in sources and sys.stdin.isatty()
    number = 0
    aside = output is not None and not typed
    with output_file(output) as file, LinesDisplay("translating", aside=aside) as display:
        for path in sources:
            stream = translator.translate_stream(
                read_file(path),
                chunk=1 if typed else _CHUNK,
                name=f"{shown(path)}:",
                beam=beam,
                n_best=n_best,
                length_power=length_power,
                batch_sentences=batch,
            )
            for translation in stream:
                number += 1
                if json:
                    print_json(translation.to_json(), file)
                else:
                    _print(translation, file, number if n_best > 1 else None, scores, alignments)
                if heatmaps is not None and translation.alpha is not None:
                    translation.plot(heatmaps / f"{number:06d}.png")
                display(translation)


def _print(
    translation: "Translation", file: TextIO | None, number: int | None, scores: bool, alignments: bool
) -> None:
    """A line for the translation and for each of its alternatives."""
    from regard.text import format_pharaoh

    for each in (translation, *translation.alternatives):
        fields = [] if number is None else [str(number)]
        if scores:
            fields.append(f"{each.score:.4f}")
        fields.append(each.text)
        if alignments:
            fields.append(format_pharaoh(each.links))
        print_line("\t".join(fields), file)
