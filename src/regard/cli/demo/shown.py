"""What every demonstration has when its model is trained, and how it ends on the terminal."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.console import results, score_table
from regard.evaluation.metrics import display_name, format_score

if TYPE_CHECKING:
    from regard.datasets import Dataset, Example, Splits
    from regard.text.links import GoldLinks
    from regard.training.demos import Demo


@dataclass(frozen=True)
class Trained:
    """A demonstration whose model is trained.

    Attributes:
        world: its name.
        made: the world itself.
        demonstration: what was trained on how much.
        splits: the corpus.
        folder: where the model is.
        report: of the training.
        command: what was typed.
    """

    dataset: str
    made: "Dataset"
    demonstration: "Demo"
    splits: "Splits"
    folder: Path
    report: dict[str, Any]
    command: str

    @property
    def title(self) -> str:
        """A heading for pages and pictures."""
        return f"The {self.dataset} demo"

    @property
    def sets(self) -> "dict[str, Sequence[Example]]":
        """The test set, and the further ones by name."""
        return {"test": self.splits.test, **self.splits.extra}


def gold_of(examples: "Sequence[Example]") -> "list[GoldLinks] | None":
    """The gold links, where the world knows those of every example."""
    gold = [example.gold for example in examples if example.gold is not None]
    return gold if len(gold) == len(examples) else None


def print_scores(
    scores: Mapping[str, float | int], num_sentences: int, extra: Mapping[str, Mapping[str, float | int]]
) -> None:
    """The test set's scores as a table, and those of the further sets a line each.

    Args:
        scores: by name.
        num_sentences: how many were held out.
        extra: for each further set the scores worth a line.
    """
    results.print(score_table(dict(scores), title=f"[bold]{num_sentences:,} held-out sentences[/]"))
    for name, others in extra.items():
        told = ", ".join(f"{display_name(key)} {format_score(key, value)}" for key, value in others.items())
        results.print(f"[dim]{name}:[/] {told}")


def print_end(folder: Path, shown: Path | None, commands: Sequence[str]) -> None:
    """Where everything is, and what to type next.

    Args:
        folder: the model's.
        shown: a page or picture to open.
        commands: to try, as {regard} and {folder} in them.
    """
    results.print(f"\nthe model, its report and its corpus are in {folder}", markup=False)
    if shown is not None:
        kind = "report" if shown.suffix == ".html" else "picture"
        results.print(f"{kind + ':':<9}{shown.resolve()}", markup=False)
    for number, command in enumerate(commands):
        typed = command.format(regard=_program(), folder=shlex.quote(str(folder)))
        results.print(f"{'try:' if number == 0 else '':<9}{typed}", markup=False)


def _program() -> str:
    """How the user called us, for commands to try."""
    return sys.argv[0] if Path(sys.argv[0]).name == "regard" else "regard"
