"""``regard shortlist``: the few target words that each source word can become."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import DEVICE_HELP, WEIGHTS_HELP, no_attention, print_json, results
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError

_SHOWN = 1000  # pairs that coverage is reported of


def shortlist(
    model: Annotated[Path, typer.Argument(help="A model folder; the shortlist is written into it.")],
    train: Annotated[
        list[Path],
        typer.Option(
            help="The pairs it was trained on: one tab-separated file, or twice for two parallel files."
        ),
    ],
    test: Annotated[
        list[Path] | None,
        typer.Option(
            help="Pairs to report the coverage of, likewise; by default the first thousand of --train."
        ),
    ] = None,
    columns: Annotated[
        tuple[int, int] | None,
        typer.Option(help="Where source and target stand in a tab-separated file, as --columns 1 2."),
    ] = None,
    per_word: Annotated[int, typer.Option(help="The most target words that a source word keeps.")] = 50,
    frequent: Annotated[
        int, typer.Option(help="How many of the most frequent target words every sentence gets.")
    ] = 200,
    json: Annotated[bool, typer.Option("--json", help="Print the coverage as JSON.")] = False,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Learn a vocabulary shortlist from where a model looks.

    Reads the training pairs by forced decoding and writes for each source
    word the target words that looked at it into the model's folder.
    Translating with --shortlist then chooses from a few hundred words
    instead of from all of them: much faster, at little cost. How much of
    the references the shortlist holds is printed.

    [bold]Examples[/]

      regard shortlist model --train train.de --train train.en

      regard shortlist model --train pairs.tsv --test test.tsv --per-word 30
    """
    from itertools import islice

    from regard.inference.shortlist_training import covered, learn_shortlist
    from regard.tasks.translate.predictor import Translator
    from regard.text import encode_pairs, read_pairs

    _check("--train", train)
    _check("--test", test or train)
    translator = Translator.load(model, weights=weights, device=device)
    if not translator.attends:
        raise no_attention(model)
    tokenizers = translator.source_tokenizer, translator.target_tokenizer
    with LinesDisplay("reading") as display:
        made = learn_shortlist(
            translator.model,
            encode_pairs(read_pairs(*train, columns=columns), *tokenizers),
            *(tokenizer.size for tokenizer in tokenizers),
            per_word=per_word,
            frequent=frequent,
            device=translator.device,
            listener=display.count,
        )
    references = islice(read_pairs(*(test or train), columns=columns), None if test else _SHOWN)
    coverage = covered(made, encode_pairs(references, *tokenizers))
    path = made.save(model)
    if json:
        print_json({"file": str(path), **made.facts, "target_size": made.target_size, **coverage.to_json()})
        return
    results.print(f"{path}, learnt from {made.facts['pairs']:,} pairs", markup=False)
    results.print(
        f"a sentence chooses from {coverage.mean_size:,.0f} of {made.target_size:,} words; they hold "
        f"{100 * coverage.tokens:.2f} % of the tokens of {coverage.num_pairs:,} references, and all of "
        f"{100 * coverage.sentences:.1f} % of these"
    )


def _check(option: str, paths: list[Path]) -> None:
    if len(paths) > 2:
        raise ConfigError(f"{option}: {len(paths)} files; give one tab-separated file, or two parallel ones")
