"""``regard evaluate``: a test set's scores, by the model's task."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import COLUMN_HELP, DEVICE_HELP, POWER_HELP, WEIGHTS_HELP, command_line
from regard.cli.evaluations import EvaluateArguments
from regard.errors import ConfigError
from regard.tasks import TASKS


def evaluate(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[
        Path,
        typer.Argument(
            help="The test sources, words or features, or one file with both sides; a file of labelled texts."
        ),
    ],
    reference: Annotated[
        Path | None, typer.Argument(help="The references, or the words' tags, line by line.")
    ] = None,
    columns: Annotated[
        tuple[int, int] | None,
        typer.Option(
            help="Where source and reference, label and text, or words and tags stand in one file, as --columns 1 2."
        ),
    ] = None,
    column: Annotated[str | None, typer.Option(help=COLUMN_HELP)] = None,
    second_column: Annotated[
        int | None, typer.Option(help="Where the second text of a labelled pair stands.")
    ] = None,
    separator: Annotated[
        str, typer.Option(help="What parts label and text: tab, or space for a label, a blank and one text.")
    ] = "tab",
    header: Annotated[
        bool, typer.Option("--header", help="Pass over the first line of a file of labelled texts.")
    ] = False,
    vertical: Annotated[
        bool,
        typer.Option(
            "--vertical", help="One word and its tag a line, a blank line between sentences (CoNLL)."
        ),
    ] = False,
    continuous: Annotated[
        bool,
        typer.Option("--continuous", help="Read lines as one text, the language model's state carried."),
    ] = False,
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold word links, one line a sentence (Pharaoh: 0-0 sure, 1?2 possible)."),
    ] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.")] = 5,
    length_power: Annotated[
        float,
        typer.Option(help=POWER_HELP),
    ] = 1.0,
    tokenize: Annotated[
        str, typer.Option(help="BLEU's tokenizer: 13a, intl, char, zh, or none for tokenised text.")
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Overlook case.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write report.json, what the model said, and a page or picture here.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all scores as JSON.")] = False,
    max_length: Annotated[int, typer.Option(help="The most tokens a source may have.")] = 1000,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Score a model on a test set.

    Of a translator, BLEU, chrF and TER (sacrebleu, with its signature), exact
    match and error rates of what the model writes; perplexity, and the
    alignment error rate where gold links are given, of the references by
    forced decoding. Of a classifier or a tagger, accuracy, F1, each label by
    itself, and with --out which was taken for which. Of a describer, as of a
    translator, but for alignments. Of a language model, perplexity per token
    and per word and bits per character, as the verb score has them with --summary.

    [bold]Examples[/]

      regard evaluate model test.de test.en --gold test.links --out report

      regard evaluate model test.tsv --beam 10 --tokenize none --json

      regard evaluate tagger test.conllu --vertical --columns 2 4
    """
    from regard.checkpoint import ModelFolder

    task = ModelFolder(model).task
    _refuse(context, model, task)
    TASKS[task].evaluate(
        EvaluateArguments(
            model=model,
            source=source,
            reference=reference,
            columns=columns,
            column=column,
            second_column=second_column,
            separator=separator,
            header=header,
            vertical=vertical,
            continuous=continuous,
            gold=gold,
            beam=beam,
            length_power=length_power,
            tokenize=tokenize,
            lowercase=lowercase,
            out=out,
            json=json,
            max_length=max_length,
            weights=weights,
            device=device,
            command=command_line(context),
        )
    )


def _refuse(context: typer.Context, model: Path, task: str) -> None:
    """Raise where the model's task is not scored here, or where an option is given that is another task's."""
    purpose = TASKS[task].purpose
    if not TASKS[task].evaluation:
        known = ", ".join(spec.purpose for spec in TASKS.values() if spec.evaluation)
        raise ConfigError(
            f"{model}: a model for {purpose}, which `regard evaluate` does not score; name one for {known}"
        )
    options = {name: spec.evaluation_options for name, spec in TASKS.items()}
    foreign = frozenset().union(*options.values()) - options[task]
    for parameter in context.command.params:
        name = str(parameter.name)
        given = context.params.get(name)
        if name not in foreign or given is None or given == parameter.get_default(context):
            continue
        shown = parameter.opts[0] if parameter.param_type_name == "option" else f"a second file ({given})"
        owners = " or ".join(TASKS[other].purpose for other in options if name in options[other])
        raise ConfigError(
            f"{shown} is of a model for {owners}, and {model} is one for {purpose}; leave it out"
        )
