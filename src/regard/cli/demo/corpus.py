"""A world as files: to train on, and for the other verbs to read. Each task has its own."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.whole_file import make_folder, write_whole, write_whole_text

if TYPE_CHECKING:
    from regard.text import GoldLinks
    from regard.worlds import Example

Writer = Callable[[Path, "Sequence[Example]"], list[str]]


def gold_of(examples: "Sequence[Example]") -> "list[GoldLinks] | None":
    """The gold links, where the world knows those of every example."""
    gold = [example.gold for example in examples if example.gold is not None]
    return gold if len(gold) == len(examples) else None


def write_corpus(folder: Path, task: str, sets: "Mapping[str, Sequence[Example]]") -> dict[str, list[str]]:
    """Write every set, and name the files of each as ``data.train`` would.

    Args:
        folder: made if it is not there.
        task: of the world.
        sets: examples by name.
    """
    make_folder(folder)
    return {name: _WRITERS[task](folder / name, examples) for name, examples in sets.items()}


def _lines(path: Path, lines: Sequence[str]) -> str:
    write_whole_text(path, "".join(f"{line}\n" for line in lines))
    return str(path)


def _sides(names: tuple[str, str]) -> Writer:
    """Source and target, a file each, under the task's names for them."""

    def write(stem: Path, examples: "Sequence[Example]") -> list[str]:
        from regard.text import format_gold

        gold = gold_of(examples)
        if gold is not None:
            _lines(stem.with_suffix(".links"), [format_gold(links) for links in gold])
        return [
            _lines(stem.with_suffix(f".{names[0]}"), [example.source for example in examples]),
            _lines(stem.with_suffix(f".{names[1]}"), [example.target for example in examples]),
        ]

    return write


def _text(stem: Path, examples: "Sequence[Example]") -> list[str]:
    return [_lines(stem.with_suffix(".txt"), [example.source for example in examples])]


def _labelled(stem: Path, examples: "Sequence[Example]") -> list[str]:
    return [_lines(stem.with_suffix(".tsv"), [f"{e.target}\t{e.source}" for e in examples])]


def _described(stem: Path, examples: "Sequence[Example]") -> list[str]:
    import numpy as np

    features = stem.with_suffix(".npy")
    matrix = np.array([example.features for example in examples], dtype=np.float32)
    write_whole(features, lambda file: np.save(file, matrix))
    return [str(features), _lines(stem.with_suffix(".txt"), [example.target for example in examples])]


_WRITERS: dict[str, Writer] = {
    "translate": _sides(("source", "target")),
    "lm": _text,
    "classify": _labelled,
    "tag": _sides(("words", "tags")),
    "describe": _described,
}
