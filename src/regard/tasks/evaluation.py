"""The evaluation of a trained model on a test set, as ``regard evaluate`` and ``regard demo`` know it, for any task.

A task opens a model and a test set as an `EvaluationRun`; running it gives an `EvaluationReport`: plain scores and
tables to print, and files to write. Printing is the command line's.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from regard.io import make_folder, write_whole_text
from regard.search.options import SearchOptions
from regard.text.formats.layout import Column

if TYPE_CHECKING:
    from rich.console import RenderableType

    from regard.datasets import Dataset, Example, Splits
    from regard.tasks.comparison import Outputs
    from regard.text.links import GoldLinks
    from regard.training.demos import Demo

CHUNK = 1024
"""Lines of a test set that are sorted by length together."""


@dataclass(frozen=True)
class EvaluationOptions:
    """The options of ``regard evaluate``, of all tasks; `TaskSpec.evaluation_options` says which a task reads."""

    model: Path
    source: Path
    reference: Path | None
    columns: tuple[Column, Column] | None
    features: Column | None
    column: str | None
    second_column: Column | None
    separator: str
    header: bool
    vertical: bool
    continuous: bool
    gold: Path | None
    gold_format: str
    search: SearchOptions
    tokenize: str
    lowercase: bool
    max_length: int
    weights: str
    device: str
    any_reference: bool = False
    replace_unknowns: bool = False

    @property
    def title(self) -> str:
        """The model's name and the test set's."""
        return f"{self.model.name} on {self.source.name}"


class ProgressCounter(Protocol):
    """Counts the examples as they are done."""

    def count(self, num_tokens: int) -> None:
        """Count one example of this number of tokens."""
        ...


@dataclass(frozen=True)
class ScoreTable:
    """Scores of parts of a test set: by label, by length.

    Attributes:
        title: above it.
        columns: the first names the parts, the others are scores.
        rows: as printed.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ReportContext:
    """What a written report says beside the evaluation itself.

    Attributes:
        title: its heading.
        command: what to type to have it again.
        subtitle: one sentence; empty for the task's own.
        facts: more for ``report.json``, such as ``train_seconds``.
        log: the rows of the training log.
        extra: the reports of further test sets, by name.
    """

    title: str
    command: str
    subtitle: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    log: Sequence[Mapping[str, Any]] = ()
    extra: "Mapping[str, EvaluationReport]" = field(default_factory=dict)

    def report(self, scores: Mapping[str, Any]) -> dict[str, Any]:
        """The content of ``report.json``: the scores, the facts, and the scores of further test sets."""
        return {**scores, **self.facts, **{name: report.json for name, report in self.extra.items()}}


@dataclass(frozen=True)
class EvaluationReport:
    """The scores of one test set.

    Attributes:
        evaluation: the task's own evaluation, with the predictions.
        scores: the main scores by key, in the order they are printed.
        json: everything as a JSON object.
        write: writes the report to a folder, made if missing; returns the files to name, by what they are.
        tables: scores of parts of the test set.
        signatures: of sacrebleu's metrics.
        notes: sentences for the user.
        outputs: the output of each example, for `regard compare`; None for a task whose outputs cannot be compared.
    """

    evaluation: Any
    scores: Mapping[str, float | int | None]
    json: Mapping[str, Any]
    write: Callable[[Path, ReportContext], Mapping[str, Path]]
    tables: tuple[ScoreTable, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    outputs: "Callable[[], Outputs] | None" = None


@dataclass(frozen=True)
class EvaluationRun:
    """A model and a test set, ready to be evaluated.

    Attributes:
        doing: what the model does, for the progress bar, such as "translating".
        size: the number of examples; None if it is unknown.
        run: evaluates, counting every example.
    """

    doing: str
    size: int | None
    run: Callable[[ProgressCounter], EvaluationReport]


@dataclass(frozen=True)
class DemoRun:
    """A trained demonstration.

    Attributes:
        name: of the dataset.
        dataset: the dataset.
        demo: how much of it was generated, and the configuration.
        splits: the generated examples.
        folder: of the model.
        report: of the training.
    """

    name: str
    dataset: "Dataset"
    demo: "Demo"
    splits: "Splits"
    folder: Path
    report: dict[str, Any]

    @property
    def title(self) -> str:
        """A heading for pages and pictures."""
        return f"The {self.name} demo"


@dataclass(frozen=True)
class DemoView:
    """What ``regard demo`` shows of a trained model.

    Attributes:
        headline: the keys of the scores that are printed for the further test sets.
        shown: what is printed below the scores.
        commands: to try next, with {regard} and {folder} in them.
        picture: a drawn one to open.
        hidden: the keys of test scores that are not printed.
        facts: more for ``report.json``.
    """

    headline: tuple[str, ...]
    shown: "Sequence[RenderableType]"
    commands: tuple[str, ...]
    picture: Path | None = None
    hidden: frozenset[str] = frozenset()
    facts: Mapping[str, Any] = field(default_factory=dict)


def write_report_json(folder: Path, report: Mapping[str, Any]) -> Path:
    """Write a folder's ``report.json``; the folder is made if it is missing.

    Raises:
        DataError: it cannot be written.
    """
    make_folder(folder)
    path = folder / "report.json"
    write_whole_text(path, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    return path


def write_lines(path: Path, lines: Sequence[str]) -> str:
    """Write a text file, one item per line; return its path."""
    write_whole_text(path, "".join(f"{line}\n" for line in lines))
    return str(path)


def collect_gold_links(examples: "Sequence[Example]") -> "list[GoldLinks] | None":
    """The gold links, where every example has some."""
    gold = [example.gold for example in examples if example.gold is not None]
    return gold if len(gold) == len(examples) else None


def show_answer(answer: str, reference: str, indent: str = "  ") -> "RenderableType":
    """A model's answer, and the reference where they differ."""
    from rich.text import Text

    if answer == reference:
        return Text(f"{indent}✓ {answer}")
    return Text.assemble(f"{indent}✗ {answer}\n", (f"{indent}  {reference}", "dim"))
