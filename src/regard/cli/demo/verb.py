"""``regard demo``: a world is made, a model trained on it, tested, and looked into."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.console import command_line, notes
from regard.cli.demo.describe import show_describer
from regard.cli.demo.labels import show_classifier, show_tagger
from regard.cli.demo.language import show_language_model
from regard.cli.demo.shown import Trained
from regard.cli.demo.translate import show_translator

_SHOWN: dict[str, Callable[[Trained, bool], None]] = {
    "translate": show_translator,
    "lm": show_language_model,
    "classify": show_classifier,
    "tag": show_tagger,
    "describe": show_describer,
}
"""By task: (what was trained, whether JSON is wanted) → tested, written and printed."""


def demo(
    context: typer.Context,
    world: Annotated[
        str,
        typer.Argument(
            help="microworld, dates, copy (translators), language, newsroom (language models), sentiment, "
            "recall (classifiers), tagging, or scenes (descriptions of vectors)."
        ),
    ] = "microworld",
    out: Annotated[Path | None, typer.Option(help="Where to write; by default runs/demo-WORLD.")] = None,
    train_size: Annotated[
        int | None,
        typer.Option(
            help="Learn from so many examples, and test on no more; by default what the world needs."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the world, the weights and the order.")] = 1,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any option of the training, as --set training.max_updates=500."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Train a real model on a generated world, and look into it.

    Nothing is downloaded: the sentences are made here, those of the
    microworld with their gold word alignments. Takes about two minutes on two
    cores, and ends with test scores, examples, and something drawn: where a
    translator looked, what a classifier weighed, how a sentence grew.

    [bold]Examples[/]

      regard demo

      regard demo sentiment --seed 2 --out runs/sentiment
    """
    from regard.cli.demo.corpus import write_corpus
    from regard.cli.progress import TrainingDisplay
    from regard.configuration import set_option
    from regard.training.configure import configure
    from regard.training.demos import find_demo
    from regard.training.run import run_training
    from regard.whole_file import free_folder
    from regard.worlds import find_world

    demonstration = find_demo(world).limited_to(train_size)
    made = find_world(world)()
    folder = free_folder(out or Path("runs") / f"demo-{world}", lambda path: (path / "regard.json").exists())
    overrides: dict[str, Any] = {"training": {"seed": seed}}
    for assignment in options or []:
        set_option(overrides, assignment)
    configure(demonstration.config, overrides)  # what is wrong with them is told before the work begins
    with notes.status(f"making the {world} world"):
        splits = made.splits(
            train=demonstration.train,
            valid=demonstration.valid,
            test=demonstration.test,
            seed=seed,
            **demonstration.world,
        )
    sets = {"train": splits.train, "valid": splits.valid, "test": splits.test, **splits.extra}
    files = write_corpus(folder / "corpus", made.task, sets)
    data = {"data": {name: files[name] for name in ("train", "valid")}}
    with TrainingDisplay() as display:
        trained = run_training(folder, configure(demonstration.config, data, overrides), listener=display)
    command = command_line(context)
    _SHOWN[made.task](Trained(world, made, demonstration, splits, folder, trained.report, command), json)
