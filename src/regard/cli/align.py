"""``regard align``: alignments of words or characters from the attention to given translations."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import no_attention, notes, print_json, print_line
from regard.cli.options import ColumnPair, Device, Features, MaxLength, Weights
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError
from regard.io import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from regard.tasks.translate.predictor import Translator
    from regard.tasks.translate.result import Translation
    from regard.text import SentencePair

_CHUNK = 256  # pairs aligned together
_SYMMETRIZER = "grow-diag-final-and"


def align(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[Path, typer.Argument(help="Source lines, or one tab-separated file with both sides.")],
    target: Annotated[Path | None, typer.Argument(help="Their translations, line by line.")] = None,
    columns: ColumnPair = None,
    features: Features = None,
    reverse: Annotated[
        Path | None,
        typer.Option(
            help="The folder of a target-to-source model; its links are combined with those of the first."
        ),
    ] = None,
    symmetrize: Annotated[
        str | None,
        typer.Option(
            help="Combine the links of both directions by intersection, union, grow-diag, grow-diag-final or "
            f"grow-diag-final-and; with --reverse the default is {_SYMMETRIZER}.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Link each target word to all source words with at least this attention, not only to the largest."
        ),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Link words even where the model's tokens are characters.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object per line: attention, scores and links.")
    ] = False,
    heatmaps: Annotated[
        Path | None, typer.Option(help="Plot the attention of each pair into this folder.")
    ] = None,
    max_length: MaxLength = 1000,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Align given pairs of sentences by forced decoding.

    Prints one line per pair: links, source-target, counted from 0
    (Pharaoh). Subwords are linked as words: attention is summed over the
    pieces of a source word and averaged over those of a target word. A side
    whose tokens are characters is linked by characters, features after
    them; --words links its words.

    [bold]Examples[/]

      regard align model test.de test.en > test.links

      regard align model test.de test.en --reverse backward --symmetrize union

      regard align model pairs.tsv --columns 2 1 --heatmaps pictures

      regard align g2p words.tsv
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
    forward = _load(model, weights, device, max_length)
    backward = None if reverse is None else _load(reverse, weights, device, max_length)
    if heatmaps is not None:
        make_folder(heatmaps)
    if backward is not None and (forward.features or backward.features):
        raise ConfigError(
            f"--reverse {reverse}: features belong to one side, so a model with features aligns in one direction only; "
            "leave it out"
        )
    pairs = read_pairs(
        source,
        target,
        columns=columns,
        features=features,
        known=forward.features,
        listener=lambda note: notes.print(note, markup=False),
    )
    names = f"{shown(source)}:", f"{shown(target or source)}:"
    with LinesDisplay("aligning", files=[source], to_file=False) as display:
        for number, (aligned, back) in enumerate(_aligned_pairs(pairs, names, forward, backward), start=1):
            there, here = (
                None if each is None else each.word_alpha if words else each.linked_alpha
                for each in (aligned, back)
            )
            if there is not None and here is not None and there.alpha.shape != here.alpha.shape[::-1]:
                raise ConfigError(
                    f"{names[0]}{number}: {len(there.source_labels) - 1} and {len(there.target_labels) - 1} "
                    f"{' and '.join(aligned.link_units)} of {model}, {len(here.target_labels) - 1} and "
                    f"{len(here.source_labels) - 1} of {reverse}, so their links do not go together; link words "
                    "with --words"
                )
            links = rule.links(there, here)
            if json:
                units = ("words", "words") if words else aligned.link_units
                print_json({**aligned.to_json(), "links": in_order(links), "link_units": units})
            else:
                print_line(format_pharaoh(links))
            if heatmaps is not None and aligned.alpha is not None:
                aligned.plot(heatmaps / f"{number:06d}.png")
            display(aligned)


def _load(folder: Path, weights: str, device: str, max_length: int) -> "Translator":
    """Load a model with attention."""
    from regard.tasks.translate.predictor import Translator

    translator = Translator.load(folder, weights=weights, device=device, max_length=max_length)
    if not translator.attends:
        raise no_attention(folder)
    return translator


def _aligned_pairs(
    pairs: "Iterable[SentencePair]",
    names: tuple[str, str],
    forward: "Translator",
    backward: "Translator | None",
) -> "Iterator[tuple[Translation, Translation | None]]":
    """Each pair aligned source→target, and target→source where there is a model for that.

    Args:
        pairs: as they are read from files.
        names: what precedes a line's number in messages, for the source and for the target.
        forward: a source→target model.
        backward: a target→source model, if there is one.
    """
    from regard.text.formats import group_by_size

    first_line = 1
    for chunk in group_by_size(pairs, _CHUNK, lambda pair: len(pair.source) + len(pair.target)):
        sources, targets = [pair.source for pair in chunk], [pair.target for pair in chunk]
        inputs = [pair.input for pair in chunk]
        there = forward.align(inputs, targets, first_line=first_line, name=names[0], target_name=names[1])
        back: list[Translation] | list[None] = [None] * len(chunk)
        if backward is not None:
            back = backward.align(
                targets, sources, first_line=first_line, name=names[1], target_name=names[0]
            )
        yield from zip(there, back, strict=True)
        first_line += len(chunk)
