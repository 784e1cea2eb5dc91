"""What every demonstration has when its model is trained, and how it ends on the terminal.

A world as files: to train on, and for the other verbs to read. Each task has its own.

``regard demo``: a world is made, a model trained on it, tested, and looked into.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.console import command_line, notes
from regard.cli.demo.shown import Trained, gold_of
from regard.io import make_folder, write_whole, write_whole_text
from regard.tasks import TASKS

if TYPE_CHECKING:
    from regard.datasets import Example


def write_corpus(folder: Path, task: str, sets: "Mapping[str, Sequence[Example]]") -> dict[str, list[str]]:
    """Write every set, and name the files of each as ``data.train`` would.

    Args:
        folder: made if it is not there.
        task: of the world.
        sets: examples by name.
    """
    make_folder(folder)
    return {name: TASKS[task].write_examples(folder / name, examples) for name, examples in sets.items()}


def _lines(path: Path, lines: Sequence[str]) -> str:
    write_whole_text(path, "".join(f"{line}\n" for line in lines))
    return str(path)


def write_sides(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write sources, targets and gold links, a file each."""
    from regard.text import format_gold

    gold = gold_of(examples)
    if gold is not None:
        _lines(stem.with_suffix(".links"), [format_gold(links) for links in gold])
    return _two_files(stem, ("source", "target"), examples)


def write_tagged(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write words and tags, a file each."""
    return _two_files(stem, ("words", "tags"), examples)


def _two_files(stem: Path, names: tuple[str, str], examples: "Sequence[Example]") -> list[str]:
    return [
        _lines(stem.with_suffix(f".{names[0]}"), [example.source for example in examples]),
        _lines(stem.with_suffix(f".{names[1]}"), [example.target for example in examples]),
    ]


def write_text(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write one sentence per line."""
    return [_lines(stem.with_suffix(".txt"), [example.source for example in examples])]


def write_labelled(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write label and text, tab-separated."""
    return [_lines(stem.with_suffix(".tsv"), [f"{e.target}\t{e.source}" for e in examples])]


def write_captions(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write a matrix of features and the captions, a file each."""
    import numpy as np

    features = stem.with_suffix(".npy")
    matrix = np.array([example.features for example in examples], dtype=np.float32)
    write_whole(features, lambda file: np.save(file, matrix))
    return [str(features), _lines(stem.with_suffix(".txt"), [example.target for example in examples])]


def demo(
    context: typer.Context,
    dataset: Annotated[
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
    from regard.config import set_option
    from regard.datasets import find_dataset
    from regard.io import free_folder
    from regard.training.configure import configure
    from regard.training.demos import find_demo
    from regard.training.progress import TrainingDisplay
    from regard.training.run import run_training

    demonstration = find_demo(dataset).limited_to(train_size)
    made = find_dataset(dataset)()
    folder = free_folder(
        out or Path("runs") / f"demo-{dataset}", lambda path: (path / "regard.json").exists()
    )
    overrides: dict[str, Any] = {"training": {"seed": seed}}
    for assignment in options or []:
        set_option(overrides, assignment)
    configure(demonstration.config, overrides)  # what is wrong with them is told before the work begins
    with notes.status(f"making the {dataset} world"):
        splits = made.splits(
            train=demonstration.train,
            valid=demonstration.valid,
            test=demonstration.test,
            seed=seed,
            **demonstration.dataset,
        )
    sets = {"train": splits.train, "valid": splits.valid, "test": splits.test, **splits.extra}
    files = write_corpus(folder / "corpus", made.task, sets)
    data = {"data": {name: files[name] for name in ("train", "valid")}}
    with TrainingDisplay(notes) as display:
        trained = run_training(folder, configure(demonstration.config, data, overrides), listener=display)
    command = command_line(context)
    TASKS[made.task].show_demo(
        Trained(dataset, made, demonstration, splits, folder, trained.report, command), json
    )
