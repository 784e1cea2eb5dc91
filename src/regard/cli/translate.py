"""A quick start: while modules are imported and weights are read, nothing becomes garbage.

The arguments and options of ``regard translate``: what each means, and where the help shows it.

Translations as they are printed: a line each, with tabs between fields, or a JSON object.

``regard translate``: one line out for each line in.
"""

import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from regard.cli import translate as flags
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
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError
from regard.io import make_folder

if TYPE_CHECKING:
    from regard.tasks.translate.constraints import Constraints
    from regard.tasks.translate.predictor import Sampling
    from regard.tasks.translate.result import Translation


@contextmanager
def without_collecting() -> Iterator[None]:
    """Keep the garbage collector from looking, again and again, through the hundreds of thousands of new objects."""
    wanted = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if wanted:
            gc.enable()


_SEARCH, _WORDS, _SAMPLING, _OUTPUT, _MACHINE = "Search", "Words", "Sampling", "Output", "Machine"

Model = Annotated[Path, typer.Argument(help="A model folder.")]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        help="Files to translate; none, or -, for standard input. Model folders before them are asked together "
        "with the first."
    ),
]
Beam = Annotated[
    int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.", rich_help_panel=_SEARCH)
]
NBest = Annotated[
    int,
    typer.Option(
        help="Print so many translations of each line, best first, with the line's number before each.",
        rich_help_panel=_SEARCH,
    ),
]
LengthPenalty = Annotated[
    str,
    typer.Option(
        help="What divides log p for the score: average, length^k; wu, ((5 + length)/6)^k; none.",
        rich_help_panel=_SEARCH,
    ),
]
LengthPower = Annotated[float, typer.Option(help=POWER_HELP, rich_help_panel=_SEARCH)]
Coverage = Annotated[
    float,
    typer.Option(help="The weight of Wu's coverage penalty, as 0.2; 0 for none.", rich_help_panel=_SEARCH),
]
MinLength = Annotated[int, typer.Option(help="The fewest tokens of a translation.", rich_help_panel=_SEARCH)]
MinRatio = Annotated[
    float, typer.Option(help="The fewest tokens for each source token.", rich_help_panel=_SEARCH)
]
MaxRatio = Annotated[
    float,
    typer.Option(help="The most tokens for each source token, and ten more.", rich_help_panel=_SEARCH),
]
BlockNgrams = Annotated[
    int, typer.Option(help="No N tokens twice in a translation; 0 to allow it.", rich_help_panel=_SEARCH)
]
Combination = Annotated[
    str,
    typer.Option(
        help="How several models become one: mean, of probabilities; log-linear, of log-probabilities.",
        rich_help_panel=_SEARCH,
    ),
]
Prefix = Annotated[str, typer.Option(help="How every translation begins.", rich_help_panel=_WORDS)]
Include = Annotated[
    list[str] | None,
    typer.Option(
        help="A phrase that every translation has, or the beginning of a longer word; may be repeated.",
        rich_help_panel=_WORDS,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="A phrase that no translation has; may be repeated.", rich_help_panel=_WORDS),
]
ConstraintsFile = Annotated[
    Path | None,
    typer.Option(
        help="The same for each line: a file with a JSON object a line, of prefix, include and exclude.",
        rich_help_panel=_WORDS,
    ),
]
NoUnknowns = Annotated[
    bool, typer.Option("--no-unknowns", help="Never choose the unknown word.", rich_help_panel=_WORDS)
]
ReplaceUnknowns = Annotated[
    bool,
    typer.Option(
        "--replace-unknowns",
        help="Put the source word looked at most in the place of an unknown one.",
        rich_help_panel=_WORDS,
    ),
]
Dictionary = Annotated[
    Path | None,
    typer.Option(
        help="With --replace-unknowns: what source words become, a word, a tab and its translation a line.",
        rich_help_panel=_WORDS,
    ),
]
Sample = Annotated[
    bool,
    typer.Option(
        "--sample",
        help="Draw translations instead of searching for the best; --n-best says how many.",
        rich_help_panel=_SAMPLING,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(help="Below 1 likely words are drawn more often, above 1 less.", rich_help_panel=_SAMPLING),
]
TopK = Annotated[
    int | None, typer.Option(help="Draw among the K likeliest words.", rich_help_panel=_SAMPLING)
]
TopP = Annotated[
    float | None,
    typer.Option(
        help="Draw among the likeliest words that have probability P together.", rich_help_panel=_SAMPLING
    ),
]
Seed = Annotated[
    int | None, typer.Option(help="The same seed gives the same draws.", rich_help_panel=_SAMPLING)
]
Scores = Annotated[
    bool,
    typer.Option(
        "--scores", help="Print each translation's score before it, with a tab.", rich_help_panel=_OUTPUT
    ),
]
Alignments = Annotated[
    bool,
    typer.Option(
        "--alignments",
        help="Print word links after each translation, with a tab: 0-0 1-2 (Pharaoh).",
        rich_help_panel=_OUTPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print tokens, scores of each token, links and all the rest, one JSON object a line.",
        rich_help_panel=_OUTPUT,
    ),
]
Alpha = Annotated[
    bool, typer.Option("--alpha", help="With --json: the attention too.", rich_help_panel=_OUTPUT)
]
Heatmaps = Annotated[
    Path | None,
    typer.Option(help="Draw each line's attention into this folder.", rich_help_panel=_OUTPUT),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write here instead of standard output.", rich_help_panel=_OUTPUT),
]
MaxLength = Annotated[int, typer.Option(help="The most tokens a line may have.", rich_help_panel=_MACHINE)]
Batch = Annotated[int, typer.Option(help="Sentences searched at a time.", rich_help_panel=_MACHINE)]
BatchTokens = Annotated[
    int, typer.Option(help="Source tokens searched at a time, padding counted.", rich_help_panel=_MACHINE)
]
Shortlist = Annotated[
    bool,
    typer.Option(
        "--shortlist",
        help="Choose from the model's shortlist instead of from all words; faster. See regard shortlist.",
        rich_help_panel=_MACHINE,
    ),
]
Int8 = Annotated[
    bool,
    typer.Option("--int8", help="Short for --precision int8; faster.", rich_help_panel=_MACHINE),
]
Precision = Annotated[
    str, typer.Option(help="Of the matrices: float32, bfloat16 or int8.", rich_help_panel=_MACHINE)
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads that compute; by default as many as the process may use.",
        show_default=False,
        rich_help_panel=_MACHINE,
    ),
]
Weights = Annotated[str, typer.Option(help=WEIGHTS_HELP, rich_help_panel=_MACHINE)]
Device = Annotated[str, typer.Option(help=DEVICE_HELP, rich_help_panel=_MACHINE)]


@dataclass
class Printer:
    """Is called with each translation.

    Attributes:
        file: where they go; standard output if None.
        numbered: whether the line's number stands before each.
        scores: whether its score does.
        alignments: whether its word links stand behind it.
        json: whether all of it is one JSON object.
        alpha: whether attention is part of that.
        heatmaps: a folder for a picture of each line's attention; None for no pictures.
        number: how many lines there were.
    """

    file: TextIO | None
    numbered: bool = False
    scores: bool = False
    alignments: bool = False
    json: bool = False
    alpha: bool = False
    heatmaps: Path | None = None
    number: int = field(default=0, init=False)

    def __call__(self, translation: "Translation") -> None:
        """Print a translation with its alternatives."""
        self.number += 1
        if self.json:
            print_json(translation.to_json(alpha=self.alpha), self.file)
        else:
            for each in (translation, *translation.alternatives):
                print_line("\t".join(self._fields(each)), self.file)
        if self.heatmaps is not None and translation.alpha is not None:
            translation.plot(self.heatmaps / f"{self.number:06d}.png")

    def _fields(self, translation: "Translation") -> list[str]:
        fields = [str(self.number)] if self.numbered else []
        if self.scores:
            fields.append(f"{translation.score:.4f}")
        fields.append(translation.text)
        if self.alignments:
            from regard.text import format_pharaoh

            fields.append(format_pharaoh(translation.links))
        return fields


_GROUP = 256  # the most lines translated together


def translate(
    model: flags.Model,
    files: flags.Files = None,
    beam: flags.Beam = 5,
    n_best: flags.NBest = 1,
    length_penalty: flags.LengthPenalty = "average",
    length_power: flags.LengthPower = 1.0,
    coverage: flags.Coverage = 0.0,
    min_length: flags.MinLength = 0,
    min_ratio: flags.MinRatio = 0.0,
    max_ratio: flags.MaxRatio = 2.0,
    block_ngrams: flags.BlockNgrams = 0,
    combination: flags.Combination = "mean",
    prefix: flags.Prefix = "",
    include: flags.Include = None,
    exclude: flags.Exclude = None,
    constraints: flags.ConstraintsFile = None,
    no_unknowns: flags.NoUnknowns = False,
    replace_unknowns: flags.ReplaceUnknowns = False,
    dictionary: flags.Dictionary = None,
    sample: flags.Sample = False,
    temperature: flags.Temperature = None,
    top_k: flags.TopK = None,
    top_p: flags.TopP = None,
    seed: flags.Seed = None,
    scores: flags.Scores = False,
    alignments: flags.Alignments = False,
    json: flags.Json = False,
    alpha: flags.Alpha = False,
    heatmaps: flags.Heatmaps = None,
    output: flags.Output = None,
    max_length: flags.MaxLength = 1000,
    batch: flags.Batch = 32,
    batch_tokens: flags.BatchTokens = 4000,
    shortlist: flags.Shortlist = False,
    int8: flags.Int8 = False,
    precision: flags.Precision = "float32",
    threads: flags.Threads = None,
    weights: flags.Weights = "best",
    device: flags.Device = "auto",
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
    with without_collecting():
        from regard.device import use_threads
        from regard.search import LengthLimit, SearchOptions
        from regard.tasks.translate.predictor import Translator
        from regard.tasks.translate.result import read_dictionary
        from regard.text.formats import STDIN, read_groups, shown

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
    line_constraints = _constraints(prefix, include or [], exclude or [], constraints)
    if line_constraints is not None and not isinstance(line_constraints, Iterator):
        line_constraints.encode(translator.target_tokenizer, "options")  # before any line is read
    if heatmaps is not None:
        make_folder(heatmaps)
    typed = STDIN in sources and sys.stdin is not None and sys.stdin.isatty()
    with (
        output_file(output) as file,
        LinesDisplay("translating", to_file=output is not None and not typed, plain=False) as display,
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
                constraints=line_constraints,
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
    from regard.search import SamplingOptions
    from regard.tasks.translate.predictor import Sampling

    given = {"temperature": temperature, "top-k": top_k, "top-p": top_p, "seed": seed}
    if not sample:
        for name, value in given.items():
            if value is not None:
                raise ConfigError(f"--{name} {value}: it is of drawing; add --sample, or leave it out")
        return None
    sampling = SamplingOptions(
        1.0 if temperature is None else temperature, top_k or 0, 1.0 if top_p is None else top_p
    )
    return Sampling(sampling, number, 1 if seed is None else seed)


def _constraints(
    prefix: str, include: list[str], exclude: list[str], file: Path | None
) -> "Constraints | Iterator[Constraints] | None":
    """The constraints of all translations, or those of each line; None without any."""
    from regard.tasks.translate.constraints import Constraints, read_constraints

    for_all = Constraints(prefix, tuple(include), tuple(exclude))
    if file is None:
        return None if for_all == Constraints() else for_all
    if for_all != Constraints():
        raise ConfigError(
            f"--constraints {file}: the file has the constraints of each line; leave out --prefix, --include and "
            "--exclude"
        )
    return read_constraints(file)


def _flushed(groups: Iterable[list[str]], file: TextIO | None) -> Iterator[list[str]]:
    """Groups of lines; what was printed of one is written out before the next is waited for."""
    for group in groups:
        yield group
        (file or sys.stdout).flush()
