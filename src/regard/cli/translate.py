"""``regard translate``: one line out for each line in."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import output_file, print_json, print_line
from regard.cli.lines import LinesDisplay
from regard.errors import ConfigError
from regard.text import format_pharaoh, read_lines
from regard.text.formats import STDIN
from regard.whole_file import make_folder

_CHUNK = 256  # lines translated together


def translate(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to translate; none, or -, for standard input.")
    ] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.")] = 5,
    n_best: Annotated[int, typer.Option(help="Print so many translations of each line, best first.")] = 1,
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
    length_power: Annotated[float, typer.Option(help="p of the score log p / length^p.")] = 1.0,
    max_length: Annotated[int, typer.Option(help="The most tokens a line may have.")] = 1000,
    batch: Annotated[int, typer.Option(help="Sentences searched at a time.")] = 32,
    weights: Annotated[str, typer.Option(help="best or last.")] = "best",
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
) -> None:
    """Translate lines of text: one line out for each line in, blank ones too.

    With --n-best N each line gives N lines, or fewer where the model
    knows no more.

    [bold]Examples[/]

      echo "ein kleines haus ." | regard translate model

      regard translate model test.de --beam 10 --alignments -o test.en
    """
    from regard.translator import Translator

    if n_best > beam:
        raise ConfigError(f"--n-best {n_best}: a beam of {beam} finds at most {beam}; raise --beam")
    translator = Translator.load(model, weights=weights, device=device, max_length=max_length)
    if heatmaps is not None:
        make_folder(heatmaps)
    sources = files or [STDIN]
    typed = STDIN in sources and sys.stdin.isatty()
    stream = translator.translate_stream(
        read_lines(sources),
        chunk=1 if typed else _CHUNK,
        beam=beam,
        n_best=n_best,
        length_power=length_power,
        batch_sentences=batch,
    )
    aside = output is not None and not typed
    with output_file(output) as file, LinesDisplay("translating", aside=aside) as display:
        for number, translation in enumerate(stream, start=1):
            if json:
                print_json(translation.to_json(), file)
            else:
                for each in (translation, *translation.alternatives):
                    fields = [f"{each.score:.4f}"] if scores else []
                    fields.append(each.text)
                    if alignments:
                        fields.append(format_pharaoh(each.links))
                    print_line("\t".join(fields), file)
            if heatmaps is not None and translation.alpha is not None:
                translation.plot(heatmaps / f"{number:06d}.png")
            display(translation)
