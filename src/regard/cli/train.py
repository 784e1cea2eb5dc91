"""``regard train``: from files of whatever the task learns from to a model folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.console import notes, print_json, results, score_table
from regard.config import list_options, one_of, read_toml, set_option
from regard.errors import ConfigError
from regard.tasks import TASKS


def train(
    folder: Annotated[Path, typer.Argument(help="Where to write the model; a new folder.")],
    train_files: Annotated[
        list[Path] | None,
        typer.Option(
            "--train",
            help="What to learn from: one file, or give it twice for two that belong together, as parallel files.",
        ),
    ] = None,
    valid_files: Annotated[
        list[Path] | None,
        typer.Option("--valid", help="What to validate with, likewise. Without any, some is set aside."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="translate, lm, classify, tag or describe; by default the preset's, or translate.",
            is_eager=True,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help=r"A TOML file of tables \[data], \[tokenizer], \[model] and \[training]."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Where to start from; see --list-presets.")] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="char, word, bpe or unigram; to translate for both sides, or source,target as char,word."
        ),
    ] = None,
    vocabulary: Annotated[int | None, typer.Option(help="The most tokens of each vocabulary.")] = None,
    columns: Annotated[
        tuple[int, int] | None,
        typer.Option(
            help="Where source and target (or label and text) stand in a tab-separated file, as --columns 1 2."
        ),
    ] = None,
    updates: Annotated[int | None, typer.Option(help="Stop after so many updates.")] = None,
    epochs: Annotated[float | None, typer.Option(help="Stop after so many passes over the data.")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after so many minutes, if nothing else ends it sooner.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of weights, order and dropout.")] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any option by name, as --set model.decoder.attention.energy=dot; see --list-options.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    list_options: Annotated[
        bool,
        typer.Option(
            "--list-options",
            help="Print every option of --config and --set (of --task, where that is given before), and exit.",
            callback=lambda context, wanted: _options(wanted, context.params.get("task")),
            is_eager=True,
        ),
    ] = False,
    list_presets: Annotated[
        bool,
        typer.Option(
            "--list-presets",
            help="Name the presets (of --task, where that is given before), and exit.",
            callback=lambda context, wanted: _presets(wanted, context.params.get("task")),
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Train a model: a translator on pairs of lines, or what --task names.

    lm: a language model, on text. classify: label and text, tab-separated.
    tag: words and tags, as two files or one. describe: a file of feature
    vectors (.npy, Arrow) and one of texts.

    Tokenizers are learnt on the way and kept in the folder. Later options
    win: preset, then --config, then flags, then --set. The whole
    configuration is written to FOLDER/train.toml, ready to be run again.

    [bold]Examples[/]

      regard train model --train pairs.tsv

      regard train model --train a.de.gz --train a.en.gz --minutes 30

      regard train g2p --train words.tsv --preset characters

      regard train lm --task language_model --train text.txt
    """
    from regard.training.configure import configure, find_task
    from regard.training.progress import TrainingDisplay
    from regard.training.run import run_training

    file = read_toml(config) if config else {}
    flags: dict[str, Any] = {"data": {}, "tokenizer": {}, "training": {}}
    if task:
        flags["task"] = task
    if train_files:
        flags["data"]["train"] = [str(path) for path in train_files]
    if valid_files:
        flags["data"]["valid"] = [str(path) for path in valid_files]
    chosen, _ = find_task(file, flags, preset=preset)
    flags["tokenizer"] = _tokenizer_flags(chosen, tokenizer, vocabulary)
    if columns:
        flags["data"]["columns"] = list(columns)
    if updates is not None or epochs is not None:
        flags["training"] |= {"max_updates": updates or 0, "max_epochs": epochs or 0}
    single = {"max_minutes": minutes, "device": device, "seed": seed}
    flags["training"] |= {name: value for name, value in single.items() if value is not None}
    for assignment in options or []:
        set_option(flags, assignment)
    given = {name: table for name, table in flags.items() if table}
    run = configure(file, given, preset=preset)
    with TrainingDisplay(notes) as display:
        trained = run_training(folder, run, listener=display)
    if json:
        print_json(trained.report)
        return
    report = trained.report
    shown = {key: value for key, value in report.items() if key != "validation"} | report["validation"]
    results.print(score_table(shown, title="[bold]trained[/]"))
    hint = TASKS[report["task"]].first_command.format(folder=trained.folder)
    notes.print(f"the model is in {trained.folder}; try: {hint}", markup=False)


def _tokenizer_flags(task: str, tokenizer: str | None, vocabulary: int | None) -> dict[str, Any]:
    """``--tokenizer`` and ``--vocabulary`` as the task's configuration has them: two sides, or one text."""
    sides = TASKS[task].texts
    flags: dict[str, Any] = {}
    if tokenizer:
        first, _, second = tokenizer.partition(",")
        if second and len(sides) == 1:
            raise ConfigError(
                f"--tokenizer {tokenizer}: the task {task!r} has texts of one kind, and so one tokenizer; give "
                f"{first} or {second}"
            )
        flags |= dict(zip(sides, (first, second or first), strict=False))
    if vocabulary is not None:
        flags |= {f"{side}_size": vocabulary for side in sides}
    return flags


def _options(wanted: bool, task: str | None) -> None:
    if not wanted:
        return
    name = task or next(iter(TASKS))
    one_of("task", name, TASKS)
    for option in list_options(TASKS[name].run_config()):
        results.print(f"{option.path} = {option.default}", style="bold", markup=False)
        results.print(f"    {option.sentence}", style="dim", markup=False)
    raise typer.Exit


def _presets(wanted: bool, task: str | None) -> None:
    if not wanted:
        return
    if task is not None:
        one_of("task", task, TASKS)
    for spec in [TASKS[task]] if task else TASKS.values():
        for name, preset in spec.presets().items():
            summary = (preset.__doc__ or "").splitlines()[0]
            default = " (the default)" if name == spec.default_preset else ""
            results.print(f"[bold]{name}[/] \\[{spec.name}]{default}: {summary}")
    raise typer.Exit
