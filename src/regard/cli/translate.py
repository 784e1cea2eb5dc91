"""``regard translate``: one line out for each line in.

In: model folders, files or standard input, options. Out: a line per translation, with tabs between fields, or a JSON
object; figures on demand. The options of search and sampling are `SearchOptions` and `SamplingOptions`.
"""

import gc
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from regard.cli.console import (
    no_attention,
    notes,
    output_file,
    print_json,
    print_line,
    refuse_same_file,
)
from regard.cli.options import DEVICE_HELP, MAX_SEED, WEIGHTS_HELP, option_flags
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError
from regard.io import make_folder
from regard.processes import Processes
from regard.search.options import DEFAULT_SAMPLING, DEFAULT_SEARCH, SamplingOptions, SearchOptions

if TYPE_CHECKING:
    from regard.tasks.translate.constraints import Constraints
    from regard.tasks.translate.result import Translation
    from regard.text import Source


@contextmanager
def without_collecting() -> Iterator[None]:
    """Pause garbage collection while modules are imported: nothing becomes garbage, and scanning takes time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass
class Printer:
    """Prints each translation it is called with.

    Attributes:
        file: where to; standard output if None.
        numbered: whether to print the line's number first.
        scores: whether to print the score before the translation.
        alignments: whether to print the links after it.
        json: whether to print one JSON object instead.
        alpha: whether that includes the attention.
        heatmaps: a folder for a heat map of each line; None for none.
        added: whether to print each translation after the line it translates, with a tab.
        number: of lines so far.
    """

    file: TextIO | None
    numbered: bool = False
    scores: bool = False
    alignments: bool = False
    json: bool = False
    alpha: bool = False
    heatmaps: Path | None = None
    added: bool = False
    number: int = field(default=0, init=False)

    def __call__(self, translation: "Translation", line: str) -> None:
        """Print a translation of a line, with its alternatives."""
        self.number += 1
        if self.json:
            print_json(translation.to_json(alpha=self.alpha), self.file)
        else:
            for each in (translation, *translation.alternatives):
                print_line("\t".join([line] * self.added + self._fields(each)), self.file)
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

_INPUT, _SEARCH, _CONSTRAINTS, _SAMPLING, _OUTPUT, _MODEL = (
    "Input",
    "Search",
    "Constraints",
    "Sampling",
    "Output",
    "Model and speed",
)


@option_flags(SearchOptions, "search", panel=_SEARCH)
@option_flags(SamplingOptions, "sampling", panel=_SAMPLING)
def translate(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files to translate; none, or -, for standard input. Further model folders before the files form an "
            "ensemble with the first."
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="The column to translate in tab-separated files, by number or by its name in the first line; by "
            "default the whole line.",
            rich_help_panel=_INPUT,
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="The column of the features, in the same way, for a model that takes some; by default it is "
            "recognised.",
            rich_help_panel=_INPUT,
        ),
    ] = None,
    search: SearchOptions = DEFAULT_SEARCH,
    prefix: Annotated[
        str,
        typer.Option(help="Force every translation to begin with these words.", rich_help_panel=_CONSTRAINTS),
    ] = "",
    include: Annotated[
        list[str] | None,
        typer.Option(
            help="Require this phrase in every translation, possibly as the start of a longer word. Repeatable.",
            rich_help_panel=_CONSTRAINTS,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            help="Exclude this phrase from every translation. Repeatable.", rich_help_panel=_CONSTRAINTS
        ),
    ] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(
            help="A file with the constraints of each input line: JSON objects with prefix, include and exclude.",
            rich_help_panel=_CONSTRAINTS,
        ),
    ] = None,
    replace_unknowns: Annotated[
        bool,
        typer.Option(
            "--replace-unknowns",
            help="Replace each unknown word by the source word with the most attention.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    dictionary: Annotated[
        Path | None,
        typer.Option(
            help="With --replace-unknowns, look that word up in this file: a word, a tab, its translation per line.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option(
            help="Sample N translations per line instead of a beam search; --beam and --n-best then have no effect. "
            "0 for beam search.",
            metavar="N",
            min=0,
            rich_help_panel=_SAMPLING,
        ),
    ] = 0,
    sampling: SamplingOptions = DEFAULT_SAMPLING,
    seed: Annotated[
        int,
        typer.Option(help="Equal seeds give equal samples.", rich_help_panel=_SAMPLING, min=0, max=MAX_SEED),
    ] = 1,
    add: Annotated[
        bool,
        typer.Option(
            "--add",
            help="Print each translation after its line and a tab: a column beside those that were there.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Print each translation's score before it, separated by a tab.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments",
            help="Print links of words or characters after each translation, separated by a tab: 0-0 1-2 (Pharaoh).",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print a JSON object per line: tokens, their log-probabilities, links and alternatives.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    alpha: Annotated[
        bool, typer.Option("--alpha", help="With --json, include the attention.", rich_help_panel=_OUTPUT)
    ] = False,
    heatmaps: Annotated[
        Path | None,
        typer.Option(help="Plot the attention of each line into this folder.", rich_help_panel=_OUTPUT),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write to this file instead of standard output.", rich_help_panel=_OUTPUT
        ),
    ] = None,
    combination: Annotated[
        str,
        typer.Option(
            help="Combine the models of an ensemble by the mean of probabilities (mean) or of log-probabilities "
            "(log-linear).",
            rich_help_panel=_MODEL,
        ),
    ] = "mean",
    max_length: Annotated[
        int, typer.Option(help="Refuse lines with more tokens than this.", rich_help_panel=_MODEL, min=1)
    ] = 1000,
    batch: Annotated[int, typer.Option(help="Maximum sentences per batch.", rich_help_panel=_MODEL)] = 32,
    batch_tokens: Annotated[
        int, typer.Option(help="Maximum source tokens per batch, including padding.", rich_help_panel=_MODEL)
    ] = 4000,
    shortlist: Annotated[
        bool,
        typer.Option(
            "--shortlist",
            help="Restrict the output words to the model's shortlist, which is faster; see regard shortlist.",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    int8: Annotated[
        bool,
        typer.Option("--int8", help="Short for --precision int8, which is faster.", rich_help_panel=_MODEL),
    ] = False,
    precision: Annotated[
        str,
        typer.Option(
            help="Precision of the weight matrices: float32, bfloat16 or int8.", rich_help_panel=_MODEL
        ),
    ] = "float32",
    threads: Annotated[
        int | None,
        typer.Option(
            help="Number of threads; by default as many as the process may use.",
            show_default=False,
            rich_help_panel=_MODEL,
        ),
    ] = None,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP, rich_help_panel=_MODEL)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP, rich_help_panel=_MODEL)] = "auto",
) -> None:
    """Translate lines of text: one line out for each line in, blank ones too.

    Standard input is translated as it arrives: a line is printed when the
    input pauses, and an endless input takes no more memory than a short one.
    With --n-best N or --sample N, each input line gives up to N output lines;
    each begins with the number of its input line and a tab.

    Under torchrun, several processes share the lines of the files, in groups
    of 256; the output is the same, in the same order.

    A file of columns (two lines or more, and nine in ten of the first 100,
    have a tab inside) is refused unless --column names one of them.

    [bold]Examples[/]

      echo "ein kleines haus ." | regard translate model

      regard translate model test.de --beam 10 --alignments -o test.en

      regard translate first second third test.de

      regard translate model words.tsv --column 1 --add > predicted.tsv

      regard translate model test.de --int8 --shortlist --beam 1

      torchrun --standalone --nproc-per-node 4 -m regard translate model test.de -o test.en
    """
    with without_collecting():
        from regard.device import use_threads
        from regard.tasks.translate.predictor import Translator
        from regard.tasks.translate.result import read_dictionary
        from regard.text.formats import STDIN, is_typed, shown

    folders, sources = _split_folders(model, files or [])
    if json and (scores or alignments):
        raise ConfigError("--json: it has scores and alignments already; leave out --scores and --alignments")
    if json and add:
        raise ConfigError("--add: it adds a column to lines of text; leave out --json")
    if alpha and not json:
        raise ConfigError("--alpha: it is part of the JSON; add --json")
    if dictionary is not None and not replace_unknowns:
        raise ConfigError(f"--dictionary {dictionary}: it is for unknown words; add --replace-unknowns")
    if int8 and precision not in ("float32", "int8"):
        raise ConfigError(f"--int8 and --precision {precision}: choose one of the two")
    if sample and search.n_best > 1:
        raise ConfigError(
            f"--n-best {search.n_best}: --sample {sample} already says how many translations a line gets; leave out one"
        )
    for name in (*SamplingOptions.names(), "seed"):
        origin = context.get_parameter_source(name)
        if not sample and origin is not None and origin.name == "COMMANDLINE":
            flag = f"--{name.replace('_', '-')}"
            raise ConfigError(
                f"{flag} {context.params[name]}: it is for sampling; add --sample N, or drop it"
            )
    refuse_same_file(output, sources)
    processes = Processes.launched()
    if processes.world_size > 1 and STDIN in sources:
        raise ConfigError(
            f"standard input: {processes.world_size} processes cannot share it; name the files to translate"
        )
    if not processes.is_first:  # the first one has the results of all
        output = heatmaps = None
    processes.connect()
    entries = read_dictionary(dictionary) if dictionary is not None else {}
    use_threads(threads)
    translator = Translator.load(
        folders,
        weights=weights,
        device=device,
        max_length=max_length,
        combination=combination,  # type: ignore[arg-type]  # checked by the ensemble
        precision="int8" if int8 else precision,  # type: ignore[arg-type]  # checked by the packed model
        shortlist=shortlist,
    )
    if (alignments or alpha or replace_unknowns or heatmaps is not None) and not translator.attends:
        raise no_attention(model)
    line_constraints = _constraints(prefix, include or [], exclude or [], constraints)
    if line_constraints is not None and not isinstance(line_constraints, Iterator):
        line_constraints.encode(translator.target_tokenizer, "options")  # before any line is read
    if heatmaps is not None:
        make_folder(heatmaps)
    typed = is_typed(sources)
    with (
        output_file(output) as file,
        LinesDisplay(
            "translating",
            files=sources,
            to_file=output is not None and not typed,
            plain=STDIN not in sources,  # a filter of a pipe says nothing
        ) as display,
    ):
        printer = Printer(
            file,
            numbered=max(search.n_best, sample) > 1 and not add,
            scores=scores,
            alignments=alignments,
            json=json,
            alpha=alpha,
            heatmaps=heatmaps,
            added=add,
        )
        for path in sources:
            lines: deque[str] = deque()  # those of which the translations are awaited
            stream = translator.translate_groups(
                _flushed(_read(path, lines, column, features, translator.features), file),
                options=search,
                name=f"{shown(path)}:",
                constraints=line_constraints,
                sampling=sampling if sample else None,
                num_samples=sample,
                seed=seed,
                unknowns_from=entries if replace_unknowns else None,
                batch_sentences=batch,
                batch_tokens=batch_tokens,
                processes=processes,
            )
            for translation in stream:
                printer(translation, lines.popleft())
                display(translation)


def _split_folders(model: Path, names: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The model folders, and the files to translate; standard input where there is none."""
    from regard.text.formats import STDIN

    folders = [model]
    for name in names:
        if not Path(name).is_dir():
            break
        folders.append(Path(name))
    return folders, list(names[len(folders) - 1 :]) or [STDIN]


def _constraints(
    prefix: str, include: list[str], exclude: list[str], file: Path | None
) -> "Constraints | Iterator[Constraints] | None":
    """The constraints on all translations, or those on each line; None without any."""
    from regard.tasks.translate.constraints import Constraints, read_constraints

    for_all = Constraints(prefix, tuple(include), tuple(exclude))
    if file is None:
        return None if for_all == Constraints() else for_all
    if for_all != Constraints():
        raise ConfigError(
            f"--constraints {file}: the file has the constraints on each line; leave out --prefix, --include and "
            "--exclude"
        )
    return read_constraints(file)


def _read(
    path: str, lines: deque[str], column: str | None, features: str | None, known: Sequence[str]
) -> "Iterator[list[Source]]":
    """The sources of a file in groups; their lines are appended to `lines`."""
    from regard.text.sources import read_source_groups

    def notify(note: str) -> None:
        notes.print(note, markup=False)

    groups = read_source_groups(path, _GROUP, column=column, features=features, known=known, listener=notify)
    for group in groups:
        lines.extend(line for line, _ in group)
        yield [source for _, source in group]


def _flushed(groups: "Iterable[list[Source]]", file: TextIO | None) -> "Iterator[list[Source]]":
    """Groups of lines; the output for one is flushed before the next is awaited."""
    for group in groups:
        yield group
        (file or sys.stdout).flush()
