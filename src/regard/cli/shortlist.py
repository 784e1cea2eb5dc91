"""``regard shortlist``: for each source word the few target words it can become."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import no_attention, print_json, results
from regard.cli.options import ColumnPair, Device, Features, Weights
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError

_NUM_REFERENCES = 1000  # of the training pairs, for the coverage


def shortlist(
    model: Annotated[Path, typer.Argument(help="A model folder; the shortlist is written into it.")],
    train: Annotated[
        list[Path],
        typer.Option(
            help="Training pairs of the model: one tab-separated file, or given twice for two parallel files."
        ),
    ],
    test: Annotated[
        list[Path] | None,
        typer.Option(
            help="Pairs to measure the coverage on, in the same form; by default the first 1,000 of --train."
        ),
    ] = None,
    columns: ColumnPair = None,
    features: Features = None,
    per_word: Annotated[int, typer.Option(help="Maximum target words per source word.")] = 50,
    frequent: Annotated[
        int, typer.Option(help="Number of most frequent target words added to the list of every sentence.")
    ] = 200,
    json: Annotated[bool, typer.Option("--json", help="Print the coverage as JSON.")] = False,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Make a vocabulary shortlist from a model's attention.

    Aligns the training pairs by forced decoding and writes into the model
    folder, for each source word, the target words that attended to it.
    Translating with --shortlist then chooses among a few hundred words
    instead of the whole vocabulary: much faster, at little loss. Prints how
    much of the references the shortlist covers.

    [bold]Examples[/]

      regard shortlist model --train train.de --train train.en

      regard shortlist model --train pairs.tsv --test test.tsv --per-word 30
    """
    from functools import partial
    from itertools import islice

    from regard.inference.shortlist import measure_coverage, train_shortlist
    from regard.models.decoders.decoder import NO_SHORTLIST
    from regard.tasks.translate.predictor import Translator
    from regard.text import encode_pairs, read_pairs

    _check("--train", train)
    _check("--test", test or train)
    translator = Translator.load(model, weights=weights, device=device)
    if not translator.attends:
        raise no_attention(model)
    if any(member.decoder.is_mixture for member in translator.models):
        raise ConfigError(f"{model}: {NO_SHORTLIST}")
    tokenizers = translator.source_tokenizer, translator.target_tokenizer
    read = partial(read_pairs, columns=columns, features=features, known=translator.features)
    with LinesDisplay("aligning", files=train[:1]) as display:
        trained = train_shortlist(
            translator.model,
            encode_pairs(read(*train), *tokenizers),
            *(tokenizer.size for tokenizer in tokenizers),
            per_word=per_word,
            frequent=frequent,
            device=translator.device,
            listener=display.count,
        )
    references = islice(read(*(test or train)), None if test else _NUM_REFERENCES)
    coverage = measure_coverage(trained, encode_pairs(references, *tokenizers))
    path = trained.save(model)
    if json:
        print_json(
            {"file": str(path), **trained.facts, "target_size": trained.target_size, **coverage.to_json()}
        )
        return
    results.print(f"{path}, made from {trained.facts['pairs']:,} pairs", markup=False)
    results.print(
        f"a sentence chooses among {coverage.mean_size:,.0f} of {trained.target_size:,} words; they cover "
        f"{100 * coverage.tokens:.2f} % of the tokens of {coverage.num_pairs:,} references, and all of "
        f"{100 * coverage.sentences:.1f} % of these"
    )


def _check(option: str, paths: list[Path]) -> None:
    if len(paths) > 2:
        raise ConfigError(f"{option}: {len(paths)} files; give one tab-separated file, or two parallel ones")
