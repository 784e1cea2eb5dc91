"""``regard align``: where a model looks while it reads given translations."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import DEVICE_HELP, WEIGHTS_HELP, no_attention, print_json, print_line
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError
from regard.io import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from regard.tasks.translate.predictor import Translator
    from regard.tasks.translate.result import Translation
    from regard.text import SentencePair

_CHUNK = 256  # pairs read together
_SYMMETRIZER = "grow-diag-final-and"


def align(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[Path, typer.Argument(help="Source lines, or one tab-separated file with both sides.")],
    target: Annotated[Path | None, typer.Argument(help="Their translations, line by line.")] = None,
    columns: Annotated[
        tuple[int, int] | None,
        typer.Option(help="Where source and target stand in a tab-separated file, as --columns 1 2."),
    ] = None,
    reverse: Annotated[
        Path | None,
        typer.Option(help="A model folder of the other direction, which aligns target to source."),
    ] = None,
    symmetrize: Annotated[
        str | None,
        typer.Option(
            help="How the links of both directions become one set: intersection, union, grow-diag, "
            f"grow-diag-final or grow-diag-final-and. With --reverse, {_SYMMETRIZER} unless told.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Link all words with at least this weight, rather than the strongest alone."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print attention, scores and links, one JSON object a line.")
    ] = False,
    heatmaps: Annotated[
        Path | None, typer.Option(help="Draw each pair's attention into this folder.")
    ] = None,
    max_length: Annotated[int, typer.Option(help="The most tokens a source may have.")] = 1000,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Align given pairs by forced decoding.

    Prints one line for each pair: links between words, source-target counted
    from 0 (Pharaoh). Pieces of words are merged: attention is summed over a
    source word's pieces and averaged over a target word's.

    [bold]Examples[/]

      regard align model test.de test.en > test.links

      regard align model test.de test.en --reverse backward --symmetrize union

      regard align model pairs.tsv --columns 2 1 --heatmaps pictures
    """
    from regard.evaluation.alignment import LinkRule, in_order
    from regard.text import format_pharaoh, read_pairs
    from regard.text.formats.files import shown

    if symmetrize is not None and reverse is None:
        raise ConfigError(
            f"--symmetrize {symmetrize} needs the links of two directions; name a model of the other one with "
            "--reverse, or leave it out"
        )
    rule = LinkRule(threshold, symmetrize or (_SYMMETRIZER if reverse is not None else None))
    forward = _attending(model, weights, device, max_length)
    backward = None if reverse is None else _attending(reverse, weights, device, max_length)
    if heatmaps is not None:
        make_folder(heatmaps)
    pairs = read_pairs(source, target, columns=columns)
    names = f"{shown(source)}:", f"{shown(target or source)}:"
    with LinesDisplay("aligning", to_file=False) as display:
        for number, (read, back) in enumerate(_readings(pairs, names, forward, backward), start=1):
            links = rule.links(read.word_alpha, None if back is None else back.word_alpha)
            if json:
                print_json({**read.to_json(), "links": in_order(links)})
            else:
                print_line(format_pharaoh(links))
            if heatmaps is not None and read.alpha is not None:
                read.plot(heatmaps / f"{number:06d}.png")
            display(read)


def _attending(folder: Path, weights: str, device: str, max_length: int) -> "Translator":
    """Load a model that can align."""
    from regard.tasks.translate.predictor import Translator

    translator = Translator.load(folder, weights=weights, device=device, max_length=max_length)
    if not translator.attends:
        raise no_attention(folder)
    return translator


def _readings(
    pairs: "Iterable[SentencePair]",
    names: tuple[str, str],
    forward: "Translator",
    backward: "Translator | None",
) -> "Iterator[tuple[Translation, Translation | None]]":
    """Each pair as it is read source→target, and target→source where there is a model for that.

    Args:
        pairs: as they are read from files.
        names: what stands before a line's number in messages, for the source and for the target.
        forward: a source→target model.
        backward: a target→source model, if there is one.
    """
    waiting, first_line = iter(pairs), 1
    while part := list(islice(waiting, _CHUNK)):
        sources, targets = [pair.source for pair in part], [pair.target for pair in part]
        there = forward.align(sources, targets, first_line=first_line, name=names[0])
        back: list[Translation] | list[None] = [None] * len(part)
        if backward is not None:
            back = backward.align(targets, sources, first_line=first_line, name=names[1])
        yield from zip(there, back, strict=True)
        first_line += len(part)
