"""``regard translate``: one line out for each line in."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from regard.cli import translate_flags as flags
from regard.cli.console import no_attention, output_file, refuse_same_file
from regard.cli.lines import LinesDisplay
from regard.cli.startup import without_collecting
from regard.cli.translations import Printer
from regard.errors import ConfigError
from regard.whole_file import make_folder

if TYPE_CHECKING:
    from regard.translator import Sampling, Wish

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
    requests: flags.Requests = None,
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
    typed = STDIN in sources and sys.stdin is not None and sys.stdin.isatty()
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
