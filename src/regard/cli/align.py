"""``regard align``: alignments of given pairs from attention or from files of links, their scores and their pages."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.console import command_line, no_attention, notes, output_file, print_json, print_line, results
from regard.cli.evaluate import table_of_scores
from regard.cli.options import (
    ColumnPair,
    Device,
    Features,
    Gold,
    GoldFormat,
    MaxLength,
    Weights,
)
from regard.cli.progress import LinesDisplay
from regard.config import in_range
from regard.errors import ConfigError, DataError
from regard.io import make_folder

if TYPE_CHECKING:
    from regard.evaluation.alignment import AlignmentEvaluation, LinkRule, SoftLinks
    from regard.tasks.align.predictor import AlignedPair, Aligner
    from regard.tasks.translate.predictor import Translator
    from regard.tasks.translate.result import Translation
    from regard.text import GoldLinks, LinkFormat, SentencePair

_CHUNK = 256  # pairs aligned together
_SYMMETRIZER = "grow-diag-final-and"
_DIGITS = 4  # of probabilities, as in JSON
_FILE_NAMES = {"pharaoh": "links.txt", "wa": "links.wa", "giza": "links.A3.final"}


def align(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="A model folder, or a file of links of any aligner.")],
    source: Annotated[Path, typer.Argument(help="Source lines, or one tab-separated file with both sides.")],
    target: Annotated[Path | None, typer.Argument(help="Their translations, line by line.")] = None,
    columns: ColumnPair = None,
    features: Features = None,
    reverse: Annotated[
        Path | None,
        typer.Option(
            help="A target-to-source model folder, or a file of its links, source first; its links are combined with "
            "those of the first."
        ),
    ] = None,
    symmetrize: Annotated[
        str | None,
        typer.Option(
            help="Combine the links of both directions by intersection, union, grow-diag, grow-diag-final, "
            "grow-diag-final-and, probability or mean (the geometric or the arithmetic mean of both reaches "
            f"--threshold); the default is mean for an aligner, and {_SYMMETRIZER} with --reverse.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Link each target word to all source words with at least this attention, not only to the largest; of "
            "a file, keep the links with at least this probability. By probability or mean, the minimum of that mean "
            "(0.3 and 0.45)."
        ),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Link words even where the model's tokens are characters.")
    ] = False,
    links_format: Annotated[
        str,
        typer.Option(
            help="The format of files of links that are named instead of models, as for --gold-format.",
            show_default=False,
        ),
    ] = "",
    output_format: Annotated[
        str,
        typer.Option(
            "--format", help="Write pharaoh, wa or giza; from-1 and target-source as for the formats read."
        ),
    ] = "pharaoh",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write each link's probability: 0-0/0.9312.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON: an object per pair, or one with all scores.")
    ] = False,
    heatmaps: Annotated[
        Path | None, typer.Option(help="Plot the attention of each pair into this folder.")
    ] = None,
    gold: Gold = None,
    gold_format: GoldFormat = "",
    compare: Annotated[
        Path | None,
        typer.Option(help="A file of links of another aligner, in any of the formats."),
    ] = None,
    compare_format: Annotated[
        str,
        typer.Option(help="The format of that file, as for --gold-format.", show_default=False),
    ] = "",
    worst: Annotated[
        int,
        typer.Option(
            help="Show this number of pairs: the worst by errors and error rate, or those that differ most."
        ),
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(help="Write report.json, the links and an HTML page here."),
    ] = None,
    max_length: MaxLength = 1000,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Align the words of given pairs of sentences, and score alignments.

    Prints one line per pair: links, source-target, counted from 0
    (Pharaoh). A model of the task align has both directions and links the
    words on which they agree. A translator is read by forced decoding:
    subwords are linked as words, attention is summed over the
    pieces of a source word and averaged over those of a target word. A side
    whose tokens are characters is linked by characters, features after
    them; --words links its words.

    With --gold, prints the alignment error rate, precision, recall and F1
    of each direction and of the symmetrised links instead; with --compare,
    those of another aligner too, or, without --gold, how far the two agree,
    and the pairs that differ most. Words are linked then. --out writes the
    links, and a page of the worst pairs.

    A file of links instead of a model is scored, compared, symmetrised or
    written in another format.

    [bold]Examples[/]

      regard align model test.de test.en > test.links

      regard align model test.de test.en --reverse backward --symmetrize union

      regard align model pairs.tsv --columns 2 1 --heatmaps pictures

      regard align g2p words.tsv

      regard align model test.en test.fr --gold test.wa --out report

      regard align model test.en test.fr --compare eflomal.links

      regard align giza.A3.final test.en test.fr --format pharaoh
    """
    from regard.evaluation.alignment import AlignmentEvaluation, LinkRule
    from regard.tasks.align.result import SYMMETRIZATION
    from regard.text import LinkFormat, in_order, read_pairs
    from regard.text.formats.files import shown

    in_range("--worst", worst, 0)
    both = _is_aligner(model)
    if both and reverse is not None:
        raise ConfigError(f"--reverse {reverse}: {model} is an aligner of both directions; leave it out")
    if symmetrize is not None and reverse is None and not both:
        raise ConfigError(
            f"--symmetrize {symmetrize} needs the links of two directions; name a model of the other one with "
            "--reverse, or leave it out"
        )
    default = SYMMETRIZATION if both else _SYMMETRIZER if reverse is not None else None
    rule = LinkRule(threshold, symmetrize or default)
    written = LinkFormat.parse(output_format, "--format")
    forms = {
        "links": LinkFormat.parse(links_format, "--links-format"),
        "gold": LinkFormat.parse(gold_format, "--gold-format"),
        "other": LinkFormat.parse(compare_format, "--compare-format"),
    }
    scored = gold is not None or compare is not None
    if written.name == "giza" and probabilities:
        raise ConfigError("--format giza: it cannot express --probabilities; write pharaoh or wa")
    if out is not None and not scored:
        raise ConfigError(
            f"--out {out}: it is for a report; name what to score against with --gold or --compare"
        )
    if heatmaps is not None and _is_file(model):
        raise ConfigError(
            f"--heatmaps {heatmaps}: {model} is a file of links, without attention; leave it out"
        )
    names = f"{shown(source)}:", f"{shown(target or source)}:"
    known: Collection[str] = ()
    aligners: list[Callable[[Iterable[SentencePair]], Iterator[dict[str, _Aligned]]]] = []
    for name, path in (("forward", model), ("reverse", reverse)):
        if path is None:
            continue
        if not path.exists():
            raise DataError(f"{path}: neither a model folder nor a file of links; check the name")
        if _is_file(path):
            aligners.append(partial(_one_way, name, partial(_read_aligned, path, forms["links"], rule)))
            continue
        if both:
            aligner = _load_aligner(path, weights, device, max_length)
            aligners.append(partial(_align_both_ways, aligner, names, rule))
            continue
        translator = _load(path, weights, device, max_length)
        if translator.features and reverse is not None:
            raise ConfigError(
                f"--reverse {reverse}: features belong to one side, so a model with features aligns in one direction "
                "only; leave it out"
            )
        known = translator.features
        by_words = words or scored or written.name == "giza"
        one_way = partial(_align, translator, names, rule, by_words, name == "reverse")
        aligners.append(partial(_one_way, name, one_way))
    standards = {
        name: partial(_read_links, path, forms[name])
        for name, path in (("gold", gold), ("other", compare))
        if path is not None
    }
    for folder in (heatmaps, out):
        if folder is not None:
            make_folder(folder)
    pairs = read_pairs(source, target, columns=columns, features=features, known=known, listener=_note)
    evaluation = AlignmentEvaluation(worst)
    with (
        output_file(None if out is None else out / _FILE_NAMES[written.name or "pharaoh"]) as file,
        LinesDisplay("aligning", files=[source], to_file=scored) as display,
    ):
        for number, (aligned, given) in enumerate(_in_step(pairs, aligners, standards), start=1):
            first = aligned["forward"]
            found = {name: each.links for name, each in aligned.items()}
            if reverse is not None:
                _check_sizes(f"{names[0]}{number}", model, reverse, *aligned.values())
            if "reverse" in found:
                found["symmetrized"] = rule.combine(found["forward"], found["reverse"])
            links = list(found.values())[-1]
            annotated = links.annotated(digits=_DIGITS if probabilities else None)
            if scored:
                _score(evaluation, first, found, given)
            elif json:
                ordered = in_order(links.links)
                values: dict[str, Any] = {"links": ordered, "link_units": first.units}
                if probabilities:
                    values["probabilities"] = [annotated.probabilities[link] for link in ordered]
                print_json({**first.to_json(), **values})
            if file is not None or not (scored or json):
                for line in written.write(annotated, number, first.source, first.target).split("\n")[:-1]:
                    print_line(line, file)
            if heatmaps is not None and first.has_attention:
                assert first.read_from is not None
                first.read_from.plot(heatmaps / f"{number:06d}.png")
            display.count(len(first.target))
    if scored:
        systems = {"forward": str(model)}
        if reverse is not None or both:
            systems |= {"reverse": str(reverse or model), "symmetrized": f"by {rule.symmetrize}"}
        if compare is not None:
            systems["other"] = str(compare)
        title = f"Alignment of {source.name}"
        _report(evaluation, systems, gold, title, command_line(context), out, as_json=json)


def _is_file(path: Path) -> bool:
    """Whether a path names a file of links rather than a model folder."""
    return path.exists() and not path.is_dir()


def _note(sentence: str) -> None:
    notes.print(sentence, markup=False)


@dataclass(frozen=True)
class _Aligned:
    """A pair aligned in one direction.

    Attributes:
        source: what its links count in the source: words, or characters.
        target: the same of the target.
        links: (source, target), whatever the direction.
        units: what the links count: "words" or "characters" on each side.
        read_from: a translation, or a pair of an aligner; None for a file of links.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: "SoftLinks"
    units: tuple[str, str] = ("words", "words")
    read_from: "Translation | AlignedPair | None" = None

    @property
    def has_attention(self) -> bool:
        """Whether there is attention to draw."""
        return self.read_from is not None and getattr(self.read_from, "alpha", self.links.weights) is not None

    def to_json(self) -> dict[str, object]:
        """Everything known except the links."""
        if self.read_from is not None:
            return self.read_from.to_json()
        return {"source": " ".join(self.source), "target": " ".join(self.target)}


def _load(folder: Path, weights: str, device: str, max_length: int) -> "Translator":
    """Load a model with attention."""
    from regard.tasks.translate.predictor import Translator

    translator = Translator.load(folder, weights=weights, device=device, max_length=max_length)
    if not translator.attends:
        raise no_attention(folder)
    return translator


def _is_aligner(path: Path) -> bool:
    """Whether a path is the folder of an aligner of both directions."""
    from regard.checkpoint import ModelFolder
    from regard.tasks.align import ALIGN

    return (path / "regard.json").exists() and ModelFolder(path).task == ALIGN.name


def _load_aligner(folder: Path, weights: str, device: str, max_length: int) -> "Aligner":
    from regard.tasks.align.predictor import Aligner

    return Aligner.load(folder, weights=weights, device=device, max_length=max_length)


def _align_both_ways(
    aligner: "Aligner", names: tuple[str, str], rule: "LinkRule", pairs: "Iterable[SentencePair]"
) -> "Iterator[dict[str, _Aligned]]":
    """Each pair as an aligner aligns it in both directions, which it computes together."""
    texts = ((pair.source, pair.target) for pair in pairs)
    for each in aligner.align_stream(texts, chunk=_CHUNK, name=names[0], target_name=names[1]):
        links = each.links(rule)
        yield {
            name: _Aligned(each.source, each.target, links[name], read_from=each)
            for name in ("forward", "reverse")
        }


def _one_way(
    name: str,
    align: "Callable[[Iterable[SentencePair]], Iterator[_Aligned]]",
    pairs: "Iterable[SentencePair]",
) -> "Iterator[dict[str, _Aligned]]":
    """Each pair as one direction aligns it, under the name of the direction."""
    return ({name: each} for each in align(pairs))


def _in_step(
    pairs: "Iterable[SentencePair]",
    aligners: "Sequence[Callable[[Iterable[SentencePair]], Iterator[dict[str, _Aligned]]]]",
    standards: "Mapping[str, Callable[[Iterable[SentencePair]], Iterator[GoldLinks]]]",
) -> "Iterator[tuple[dict[str, _Aligned], dict[str, GoldLinks]]]":
    """Each pair as all directions align it, and with the links that it is scored against; pairs are read once."""
    copies = iter(tee(pairs, len(aligners) + len(standards)))
    streams: list[Iterator[Any]] = [open_pairs(next(copies)) for open_pairs in aligners]
    streams += [open_pairs(next(copies)) for open_pairs in standards.values()]
    for row in zip(*streams, strict=True):
        aligned = {name: each for directions in row[: len(aligners)] for name, each in directions.items()}
        yield aligned, dict(zip(standards, row[len(aligners) :], strict=True))


def _read_links(path: Path, form: "LinkFormat", pairs: "Iterable[SentencePair]") -> "Iterator[GoldLinks]":
    """The links of a file for each pair."""
    from regard.text import read_links

    return read_links(path, ((pair.source, pair.target) for pair in pairs), form, _note)


def _read_aligned(
    path: Path, form: "LinkFormat", rule: "LinkRule", pairs: "Iterable[SentencePair]"
) -> Iterator[_Aligned]:
    """Each pair with its links of a file, as an alignment."""
    from regard.evaluation.alignment import SoftLinks

    pairs, again = tee(pairs)
    for pair, annotated in zip(pairs, _read_links(path, form, again), strict=True):
        source, target = tuple(pair.source.split()), tuple(pair.target.split())
        soft = SoftLinks.of_file(annotated, len(source), len(target), rule.direction_threshold)
        yield _Aligned(source, target, soft)


def _align(
    translator: "Translator",
    names: tuple[str, str],
    rule: "LinkRule",
    words: bool,
    backward: bool,
    pairs: "Iterable[SentencePair]",
) -> Iterator[_Aligned]:
    """Each pair aligned by a model.

    Args:
        translator: the model.
        names: what precedes a line's number in messages, for the source and for the target.
        rule: how links are read from attention.
        words: whether words are linked where tokens are characters.
        backward: whether the model translates targets into sources.
        pairs: as they are read from files.
    """
    import numpy as np

    from regard.evaluation.alignment import SoftLinks
    from regard.text.formats import group_by_size

    first_line = 1
    for chunk in group_by_size(pairs, _CHUNK, lambda pair: len(pair.source) + len(pair.target)):
        read, written = [pair.input for pair in chunk], [pair.target for pair in chunk]
        if backward:
            read, written = [*written], [pair.source for pair in chunk]
        name, target_name = names[::-1] if backward else names
        done = translator.align(read, written, first_line=first_line, name=name, target_name=target_name)
        for pair, translation in zip(chunk, done, strict=True):
            alpha = translation.word_alpha if words else translation.linked_alpha
            units = ("words", "words") if words else translation.link_units
            if alpha is None:
                source, target = tuple(pair.source.split()), tuple(pair.target.split())
                links = SoftLinks(np.zeros((len(target), len(source))), frozenset())
            else:
                source, target = alpha.source_labels[:-1], alpha.target_labels[:-1]
                links = rule.one_direction(alpha)
                if backward:
                    source, target, links, units = target, source, links.flipped, units[::-1]
            yield _Aligned(source, target, links, units, read_from=translation)
        first_line += len(chunk)


def _check_sizes(place: str, model: Path, reverse: Path, there: _Aligned, back: _Aligned) -> None:
    """Raise where two directions count differently."""
    if there.links.weights.shape != back.links.weights.shape:
        raise ConfigError(
            f"{place}: {len(there.source)} and {len(there.target)} {' and '.join(there.units)} of {model}, "
            f"{len(back.source)} and {len(back.target)} of {reverse}, so their links do not go together; link words "
            "with --words"
        )


def _score(
    evaluation: "AlignmentEvaluation",
    pair: _Aligned,
    found: "Mapping[str, SoftLinks]",
    given: "Mapping[str, GoldLinks]",
) -> None:
    """Score the alignments of a pair against gold links, or another aligner's."""
    from regard.evaluation.alignment import SoftLinks

    other = None
    if "other" in given:
        other = "other", SoftLinks.of_file(given["other"], len(pair.source), len(pair.target))
    evaluation.add(pair.source, pair.target, found, given.get("gold"), other)


def _report(
    evaluation: "AlignmentEvaluation",
    systems: Mapping[str, str],
    gold: Path | None,
    title: str,
    command: str,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the scores, and write the report.

    Args:
        evaluation: of all pairs.
        systems: what the alignments are, by the names that they are scored under.
        gold: what they were scored against; None for the other aligner.
        title: of the page.
        command: that repeats it.
        out: the folder of the report.
        as_json: whether JSON is printed.
    """
    from regard.evaluation.metrics import format_score
    from regard.plots.page.alignment import AlignmentPage, write_alignment_page
    from regard.tasks.evaluation import ScoreTable, write_report_json

    described = "; ".join(f"{name}: {system}" for name, system in systems.items())
    standard = str(gold) if gold is not None else systems["other"]
    against = f"{evaluation.num_sentences:,} pairs, against {standard}"
    content = {**evaluation.to_json(), "systems": dict(systems), "gold": None if gold is None else str(gold)}
    if out is not None:
        write_report_json(out, {**content, "command": command})
        page = AlignmentPage(
            title,
            f"{against}; {described}",
            command,
            evaluation.rows,
            evaluation.num_sentences,
            evaluation.num_differing,
            evaluation.worst,
        )
        write_alignment_page(out / "report.html", page)
        notes.print(f"report: {out / 'report.html'}", markup=False)
    if as_json:
        print_json(content)
        return
    rows = {name: list(row.items()) for name, row in evaluation.rows.items()}
    columns = [
        key.removeprefix("alignment_").removeprefix("num_") for key, _ in next(iter(rows.values()), [])
    ]
    values = tuple((name, *(format_score(*each) for each in row)) for name, row in rows.items())
    results.print(table_of_scores(ScoreTable(against, ("", *columns), values)))
    results.print(described, style="dim", markup=False)
    if "other" not in systems:
        return
    count = f"{evaluation.num_differing:,} of {evaluation.num_sentences:,} pairs differ"
    results.print(f"\n{count}{'; those that differ most:' if evaluation.worst else ''}", markup=False)
    for pair in evaluation.worst:
        results.print(f"\n{pair.number:,}  {pair.num_errors:,} links", style="bold", markup=False)
        lines = {"source": " ".join(pair.source), "target": " ".join(pair.target)}
        lines |= {f"only {name}": pair.in_words(pair.only(name)) for name in pair.alignments}
        width = max(map(len, lines))
        for name, line in lines.items():
            results.print(f"  {name:{width}}  {line}", style="dim" if name in systems else "", markup=False)
