"""``regard train``: from a file of pairs to a model folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.console import notes, print_json, results, score_table
from regard.configuration import read_toml, set_option


def train(
    folder: Annotated[Path, typer.Argument(help="Where to write the model; a new folder.")],
    train_files: Annotated[
        list[Path] | None,
        typer.Option(
            "--train",
            help="The pairs: one tab-separated file, or give it twice for two parallel files, source first.",
        ),
    ] = None,
    valid_files: Annotated[
        list[Path] | None,
        typer.Option("--valid", help="The validation pairs, likewise. Without any, some are set aside."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help=r"A TOML file of tables \[data], \[tokenizer], \[model] and \[training]."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Where to start from; see --list-presets.")] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="char, word, bpe or unigram, for both sides; or source,target as char,word."),
    ] = None,
    vocabulary: Annotated[int | None, typer.Option(help="The most tokens of each vocabulary.")] = None,
    columns: Annotated[
        tuple[int, int] | None,
        typer.Option(help="Where source and target stand in a tab-separated file, as --columns 1 2."),
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
            "--set", help="Any option by name, as --set model.decoder.energy=dot; see --list-options."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    list_options: Annotated[
        bool,
        typer.Option(
            "--list-options",
            help="Print every option of --config and --set, and exit.",
            callback=lambda x: _options(x),
            is_eager=True,
        ),
    ] = False,
    list_presets: Annotated[
        bool,
        typer.Option(
            "--list-presets", help="Name the presets and exit.", callback=lambda x: _presets(x), is_eager=True
        ),
    ] = False,
) -> None:
    """Train a model on pairs of lines.

    Tokenizers are learnt on the way and kept in the folder. Later options
    win: preset, then --config, then flags, then --set. The whole
    configuration is written to FOLDER/train.toml, ready to be run again.

    [bold]Examples[/]

      regard train model --train pairs.tsv

      regard train model --train a.de.gz --train a.en.gz --minutes 30

      regard train g2p --train words.tsv --preset characters
    """
    from regard.cli.progress import TrainingDisplay
    from regard.training.presets import configure
    from regard.training.run import run_training

    flags: dict[str, Any] = {"data": {}, "tokenizer": {}, "training": {}}
    if train_files:
        flags["data"]["train"] = [str(path) for path in train_files]
    if valid_files:
        flags["data"]["valid"] = [str(path) for path in valid_files]
    if tokenizer:
        source, _, target = tokenizer.partition(",")
        flags["tokenizer"] |= {"source": source, "target": target or source}
    if vocabulary is not None:
        flags["tokenizer"] |= {"source_size": vocabulary, "target_size": vocabulary}
    if columns:
        flags["data"]["columns"] = list(columns)
    if updates is not None or epochs is not None:
        flags["training"] |= {"max_updates": updates or 0, "max_epochs": epochs or 0}
    single = {"max_minutes": minutes, "device": device, "seed": seed}
    flags["training"] |= {name: value for name, value in single.items() if value is not None}
    for assignment in options or []:
        set_option(flags, assignment)
    given = {name: table for name, table in flags.items() if table}
    run = configure(read_toml(config) if config else {}, given, preset=preset)
    with TrainingDisplay() as display:
        trained = run_training(folder, run, listener=display)
    if json:
        print_json(trained.report)
        return
    report = trained.report
    shown = {key: value for key, value in report.items() if key != "validation"} | report["validation"]
    results.print(score_table(shown, title="[bold]trained[/]"))
    notes.print(
        f"the model is in {trained.folder}; try: echo … | regard translate {trained.folder}", markup=False
    )


def _options(wanted: bool) -> None:
    if not wanted:
        return
    from regard.options import options_of
    from regard.training.config import RunConfig

    for option in options_of(RunConfig):
        results.print(f"{option.path} = {option.default}", style="bold", markup=False)
        results.print(f"    {option.sentence}", style="dim", markup=False)
    raise typer.Exit


def _presets(wanted: bool) -> None:
    if not wanted:
        return
    from regard.training.presets import DEFAULT_PRESET, PRESETS

    for name, preset in PRESETS.items():
        summary = (preset.__doc__ or "").splitlines()[0]
        results.print(f"[bold]{name}[/]{' (the default)' if name == DEFAULT_PRESET else ''}: {summary}")
    raise typer.Exit
