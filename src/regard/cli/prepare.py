"""``regard prepare``: from text to a store, which training reads without holding it in memory."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.console import notes, print_json, results, score_table
from regard.cli.options import ColumnPair, Features, TokenizerKind, ValidFiles, VocabularySize
from regard.cli.progress import PrepareDisplay
from regard.cli.run_flags import tokenizer_options
from regard.config import set_option
from regard.tasks import TASKS


def prepare(
    store: Annotated[
        Path, typer.Argument(help="Where to write the store: a new folder, or one begun before.")
    ],
    train_files: Annotated[
        list[str] | None,
        typer.Option(
            "--train",
            help="Text to prepare, - for standard input; give it several times for several files. Files of plain text "
            "are source and target in turn, where the task is to translate.",
        ),
    ] = None,
    valid_files: ValidFiles = None,
    test_files: Annotated[
        list[str] | None,
        typer.Option(
            "--test", help="Test data, in the same form: counts training examples with the same input."
        ),
    ] = None,
    weights: Annotated[
        list[float] | None,
        typer.Option(
            "--weight",
            help="How often an epoch has each example of a corpus: one for each corpus, in their order; by default 1.",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help=f"The task: {', '.join(name for name, spec in TASKS.items() if spec.preparation)}; by default what "
            "the first file says."
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file of options, as for regard train.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="A preset, as for regard train, instead of a plan.")
    ] = None,
    tokenizer: TokenizerKind = None,
    vocabulary: VocabularySize = None,
    columns: ColumnPair = None,
    features: Features = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", help="Set any option of training: --set data.max_length=50."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Number of worker processes; by default one per processor.", min=1)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Tokenize text into a store that training reads from disk.

    A store is a folder: ids in Arrow files, tokenizers, validation examples,
    report.json. Training on it starts at once, and its memory does not grow
    with the text: regard train MODEL --train STORE.

    Text is plain or compressed, in the forms that regard train reads; of
    sentence pairs, also JSON lines (source, target). Preparing that was
    stopped goes on when the command is repeated. Under torchrun, on one
    machine or several that share the folder, all processes share the text.

    [bold]Examples[/]

      regard prepare store --train pairs.tsv.gz

      regard prepare store --train a.de.gz --train a.en.gz --train b.jsonl

      zcat pairs.gz | regard prepare store --train - --tokenizer bpe

      regard prepare store --task language_model --train text.txt --jobs 8

      torchrun --standalone --nproc-per-node 4 -m regard prepare store --train pairs.tsv

      regard train model --train store
    """
    from regard.checkpoint import read_options
    from regard.training.configure import recognize
    from regard.training.prepare import prepare_store

    file = read_options(config) if config else {}
    flags: dict[str, Any] = {"data": {}, "tokenizer": {}, "training": {}}
    if columns:
        flags["data"]["columns"] = list(columns)
    if features is not None:
        flags["data"]["features"] = features
    for assignment in options or []:
        set_option(flags, assignment)
    if task:
        flags["task"] = task
    if tokenizer or vocabulary is not None:
        chosen = recognize(file, flags, {"data": {"train": train_files or []}}, preset=preset).task
        flags["tokenizer"] = tokenizer_options(chosen, tokenizer, vocabulary) | flags["tokenizer"]
    with PrepareDisplay() as display:
        report = prepare_store(
            store,
            train_files or [],
            file,
            {name: table for name, table in flags.items() if table},
            valid=list(map(str, valid_files or [])),
            tests=test_files or [],
            weights=weights or [],
            preset=preset,
            jobs=jobs,
            listener=lambda note: notes.print(note, markup=False),
            progress=display.report,
        )
    if json:
        print_json(report)
        return
    removed = {
        f"removed: {reason.replace('_', ' ')}": each["examples"] for reason, each in report["removed"].items()
    }
    counted = {name: report[name] for name in ("read", "kept", "validation", "repeated")}
    tested = {f"also in {name}": count for name, count in report.get("in_tests", {}).items()}
    results.print(score_table({**counted, **removed, **tested}, "[bold]prepared[/]"))
    for column, described in report["texts"].items():
        results.print(score_table(described, f"\n[bold]{column.removesuffix('_ids')}[/]"))
    notes.print(
        f"the store is in {store}; train on it with: regard train MODEL --train {store}", markup=False
    )
