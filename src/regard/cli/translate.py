"""``regard translate``: one line out for each line in."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from regard.cli.console import (
    DEVICE_HELP,
    POWER_HELP,
    WEIGHTS_HELP,
    no_attention,
    output_file,
    refuse_same_file,
)
from regard.cli.lines import LinesDisplay
from regard.cli.translations import Printer
from regard.errors import ConfigError
from regard.whole_file import make_folder

if TYPE_CHECKING:
    from regard.translator import Sampling, Wish

_GROUP = 256  # the most lines translated together
_SEARCH, _WORDS, _SAMPLING, _OUTPUT, _MACHINE = "Search", "Words", "Sampling", "Output", "Machine"


def translate(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files to translate; none, or -, for standard input. Model folders before them are asked together "
            "with the first."
        ),
    ] = None,
    beam: Annotated[
        int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.", rich_help_panel=_SEARCH)
    ] = 5,
    n_best: Annotated[
        int,
        typer.Option(
            help="Print so many translations of each line, best first, with the line's number before each.",
            rich_help_panel=_SEARCH,
        ),
    ] = 1,
    length_penalty: Annotated[
        str,
        typer.Option(
            help="What divides log p for the score: average, length^k; wu, ((5 + length)/6)^k; none.",
            rich_help_panel=_SEARCH,
        ),
    ] = "average",
    length_power: Annotated[float, typer.Option(help=POWER_HELP, rich_help_panel=_SEARCH)] = 1.0,
    coverage: Annotated[
        float,
        typer.Option(
            help="The weight of Wu's coverage penalty, as 0.2; 0 for none.", rich_help_panel=_SEARCH
        ),
    ] = 0.0,
    min_length: Annotated[
        int, typer.Option(help="The fewest tokens of a translation.", rich_help_panel=_SEARCH)
    ] = 0,
    min_ratio: Annotated[
        float, typer.Option(help="The fewest tokens for each source token.", rich_help_panel=_SEARCH)
    ] = 0.0,
    max_ratio: Annotated[
        float,
        typer.Option(help="The most tokens for each source token, and ten more.", rich_help_panel=_SEARCH),
    ] = 2.0,
    block_ngrams: Annotated[
        int, typer.Option(help="No N tokens twice in a translation; 0 to allow it.", rich_help_panel=_SEARCH)
    ] = 0,
    combination: Annotated[
        str,
        typer.Option(
            help="How several models become one: mean, of probabilities; log-linear, of log-probabilities.",
            rich_help_panel=_SEARCH,
        ),
    ] = "mean",
    prefix: Annotated[str, typer.Option(help="How every translation begins.", rich_help_panel=_WORDS)] = "",
    include: Annotated[
        list[str] | None,
        typer.Option(help="A phrase that every translation has; may be repeated.", rich_help_panel=_WORDS),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="A phrase that no translation has; may be repeated.", rich_help_panel=_WORDS),
    ] = None,
    requests: Annotated[
        Path | None,
        typer.Option(
            help="The same for each line: a file with a JSON object a line, of prefix, include and exclude.",
            rich_help_panel=_WORDS,
        ),
    ] = None,
    no_unknowns: Annotated[
        bool, typer.Option("--no-unknowns", help="Never choose the unknown word.", rich_help_panel=_WORDS)
    ] = False,
    replace_unknowns: Annotated[
        bool,
        typer.Option(
            "--replace-unknowns",
            help="Put the source word looked at most in the place of an unknown one.",
            rich_help_panel=_WORDS,
        ),
    ] = False,
    dictionary: Annotated[
        Path | None,
        typer.Option(
            help="With --replace-unknowns: what source words become, a word, a tab and its translation a line.",
            rich_help_panel=_WORDS,
        ),
    ] = None,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample",
            help="Draw translations instead of searching for the best; --n-best says how many.",
            rich_help_panel=_SAMPLING,
        ),
    ] = False,
    temperature: Annotated[
        float | None,
        typer.Option(
            help="Below 1 likely words are drawn more often, above 1 less.", rich_help_panel=_SAMPLING
        ),
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(help="Draw among the K likeliest words.", rich_help_panel=_SAMPLING)
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            help="Draw among the likeliest words that have probability P together.", rich_help_panel=_SAMPLING
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same draws.", rich_help_panel=_SAMPLING)
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="Print each translation's score before it, with a tab.", rich_help_panel=_OUTPUT
        ),
    ] = False,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments",
            help="Print word links after each translation, with a tab: 0-0 1-2 (Pharaoh).",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print tokens, scores of each token, links and all the rest, one JSON object a line.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    alpha: Annotated[
        bool, typer.Option("--alpha", help="With --json: the attention too.", rich_help_panel=_OUTPUT)
    ] = False,
    heatmaps: Annotated[
        Path | None,
        typer.Option(help="Draw each line's attention into this folder.", rich_help_panel=_OUTPUT),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write here instead of standard output.", rich_help_panel=_OUTPUT
        ),
    ] = None,
    max_length: Annotated[
        int, typer.Option(help="The most tokens a line may have.", rich_help_panel=_MACHINE)
    ] = 1000,
    batch: Annotated[int, typer.Option(help="Sentences searched at a time.", rich_help_panel=_MACHINE)] = 32,
    batch_tokens: Annotated[
        int, typer.Option(help="Source tokens searched at a time, padding counted.", rich_help_panel=_MACHINE)
    ] = 4000,
    shortlist: Annotated[
        bool,
        typer.Option(
            "--shortlist",
            help="Choose from the model's shortlist instead of from all words; faster. See regard shortlist.",
            rich_help_panel=_MACHINE,
        ),
    ] = False,
    int8: Annotated[
        bool,
        typer.Option("--int8", help="Short for --precision int8; faster.", rich_help_panel=_MACHINE),
    ] = False,
    precision: Annotated[
        str, typer.Option(help="Of the matrices: float32, bfloat16 or int8.", rich_help_panel=_MACHINE)
    ] = "float32",
    threads: Annotated[
        int | None,
        typer.Option(
            help="Threads that compute; by default as many as the process may use.",
            show_default=False,
            rich_help_panel=_MACHINE,
        ),
    ] = None,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP, rich_help_panel=_MACHINE)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP, rich_help_panel=_MACHINE)] = "auto",
) -> None:
    """Translate lines of text: one line out for each line in, blank ones too.

    Standard input is translated as it comes: a line is answered when the
    input pauses, and an endless one takes no more memory than a short one.
    With --n-best N each line gives up to N lines, each with the number of
    the line it translates and a tab before it.

    [bold]Examples[/]

      echo "ein kleines haus ." | regard translate model

      regard translate model test.de --beam 10 --alignments -o test.en

      regard translate first second third test.de

      regard translate model test.de --int8 --shortlist --beam 1
    """
    from regard.output.unknowns import read_dictionary
    from regard.search import LengthLimit, SearchOptions
    from regard.text.formats import STDIN, read_groups, shown
    from regard.threads import use_threads
    from regard.translator import Translator

    folders, sources = _told_apart(model, files or [])
    if n_best > beam and not sample:
        raise ConfigError(f"--n-best {n_best}: a beam of {beam} finds at most {beam}; raise --beam")
    if json and (scores or alignments):
        raise ConfigError(
            "--json: it holds scores and alignments already; leave out --scores and --alignments"
        )
    if alpha and not json:
        raise ConfigError("--alpha: it is part of the JSON; add --json")
    if dictionary is not None and not replace_unknowns:
        raise ConfigError(f"--dictionary {dictionary}: it is for unknown words; add --replace-unknowns")
    if int8 and precision not in ("float32", "int8"):
        raise ConfigError(f"--int8 and --precision {precision}: choose one of the two")
    sampling = _sampling(sample, n_best, temperature, top_k, top_p, seed)
    options = SearchOptions(
        beam=beam,
        n_best=1 if sample else n_best,
        length_penalty=length_penalty,  # type: ignore[arg-type]  # checked by the options themselves
        length_power=length_power,
        coverage=coverage,
        min_length=min_length,
        min_ratio=min_ratio,
        limit=LengthLimit(ratio=max_ratio),
        block_ngrams=block_ngrams,
        unknowns=not no_unknowns,
    )
    refuse_same_file(output, sources)
    known = read_dictionary(dictionary) if dictionary is not None else {}
    use_threads(threads)
    translator = Translator.load(
        folders,
        weights=weights,
        device=device,
        max_length=max_length,
        combination=combination,  # type: ignore[arg-type]
        precision="int8" if int8 else precision,  # type: ignore[arg-type]
        shortlist=shortlist,
    )
    if (alignments or alpha or replace_unknowns or heatmaps is not None) and not translator.attends:
        raise no_attention(model)
    wishes = _wishes(prefix, include or [], exclude or [], requests)
    if wishes is not None and not isinstance(wishes, Iterator):
        wishes.request(translator.target_tokenizer, "options")  # before any line is read
    if heatmaps is not None:
        make_folder(heatmaps)
    typed = STDIN in sources and sys.stdin.isatty()
    with (
        output_file(output) as file,
        LinesDisplay("translating", aside=output is not None and not typed, plain=False) as display,
    ):
        printer = Printer(
            file,
            numbered=n_best > 1,
            scores=scores,
            alignments=alignments,
            json=json,
            alpha=alpha,
            heatmaps=heatmaps,
        )
        for path in sources:
            stream = translator.translate_groups(
                _flushed(read_groups(path, _GROUP), file),
                options=options,
                name=f"{shown(path)}:",
                wishes=wishes,
                sampling=sampling,
                unknowns_from=known if replace_unknowns else None,
                batch_sentences=batch,
                batch_tokens=batch_tokens,
            )
            for translation in stream:
                printer(translation)
                display(translation)


def _told_apart(model: Path, given: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Model folders, which are folders, and files to translate; standard input where there is none."""
    from regard.text.formats import STDIN

    folders = [model]
    for name in given:
        if not Path(name).is_dir():
            break
        folders.append(Path(name))
    return folders, list(given[len(folders) - 1 :]) or [STDIN]


def _sampling(
    sample: bool,
    number: int,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
    seed: int | None,
) -> "Sampling | None":
    """How to draw, if at all."""
    from regard.search import Drawing
    from regard.translator import Sampling

    given = {"temperature": temperature, "top-k": top_k, "top-p": top_p, "seed": seed}
    if not sample:
        for name, value in given.items():
            if value is not None:
                raise ConfigError(f"--{name} {value}: it is of drawing; add --sample, or leave it out")
        return None
    drawing = Drawing(
        1.0 if temperature is None else temperature, top_k or 0, 1.0 if top_p is None else top_p
    )
    return Sampling(drawing, number, 1 if seed is None else seed)


def _wishes(
    prefix: str, include: list[str], exclude: list[str], requests: Path | None
) -> "Wish | Iterator[Wish] | None":
    """What is asked of every translation, or of each; None for nothing."""
    from regard.translator import Wish, read_wishes

    wish = Wish(prefix, tuple(include), tuple(exclude))
    if requests is None:
        return None if wish == Wish() else wish
    if wish != Wish():
        raise ConfigError(
            f"--requests {requests}: it says for each line what is asked; leave out --prefix, --include and --exclude"
        )
    return read_wishes(requests)


def _flushed(groups: Iterable[list[str]], file: TextIO | None) -> Iterator[list[str]]:
    """Groups of lines; what was printed of one is written out before the next is waited for."""
    for group in groups:
        yield group
        (file or sys.stdout).flush()
