"""The evaluation of an aligner on files of pairs and gold links, for ``regard evaluate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import ConfigError, DataError
from regard.evaluation.alignment import AlignmentEvaluation
from regard.tasks.align.predictor import Aligner
from regard.tasks.evaluation import (
    DemoRun,
    DemoView,
    EvaluationOptions,
    EvaluationReport,
    EvaluationRun,
    ProgressCounter,
    ReportContext,
    ScoreTable,
    collect_gold_links,
    write_report_json,
)
from regard.tasks.translate.report import write_examples as write_examples
from regard.text import GoldLinks, LinkFormat, read_links, read_pairs

if TYPE_CHECKING:
    from rich.console import RenderableType

    from regard.datasets import Example

_WORST = 10
_SHOWN = 3


def evaluate_files(options: EvaluationOptions) -> EvaluationRun:
    """An aligner, one or two files of sentence pairs, and their gold links."""
    if options.gold is None:
        raise ConfigError(
            f"{options.model} aligns words, and alignments are scored against gold links; name their file with --gold"
        )
    aligner = Aligner.load(
        options.model, weights=options.weights, device=options.device, max_length=options.max_length
    )
    pairs = list(read_pairs(options.source, options.reference, columns=options.columns, known=()))
    if not pairs:
        raise DataError(f"{options.source}: an empty test set; give at least one pair")
    notes: list[str] = []
    texts = [(pair.source, pair.target) for pair in pairs]
    form = LinkFormat.parse(options.gold_format, "--gold-format")
    return _run(aligner, texts, list(read_links(options.gold, texts, form, notes.append)), tuple(notes))


def _run(
    aligner: Aligner, texts: Sequence[tuple[str, str]], gold: Sequence[GoldLinks], notes: tuple[str, ...] = ()
) -> EvaluationRun:
    def run(counter: ProgressCounter) -> EvaluationReport:
        evaluation = AlignmentEvaluation(_WORST)
        for aligned, links in zip(aligner.align_stream(texts), gold, strict=True):
            evaluation.add(aligned.source, aligned.target, aligned.links(), links)
            counter.count(len(aligned.target))
        return _report(evaluation, notes)

    return EvaluationRun("aligning", len(texts), run)


def evaluate_examples(aligner: Aligner, examples: "Sequence[Example]", demo: DemoRun) -> EvaluationRun:
    """An aligner and generated sentence pairs with their gold links."""
    gold = collect_gold_links(examples)
    if gold is None:
        raise DataError(f"{demo.name}: its examples have no gold links, so an alignment cannot be scored")
    return _run(aligner, [(example.source, example.target) for example in examples], gold)


def show_demo(aligner: Aligner, evaluation: AlignmentEvaluation, demo: DemoRun) -> DemoView:
    """Some pairs of the test set with the probabilities of their links."""
    from rich.padding import Padding
    from rich.text import Text

    from regard.plots.terminal.heatmap import TerminalAlignment

    del evaluation
    examples = demo.splits.test[:_SHOWN]
    shown: list[RenderableType] = [Text("\nexamples (source above, target down the left)\n", style="bold")]
    for pair in aligner.align([each.source for each in examples], [each.target for each in examples]):
        picture = TerminalAlignment(pair.weights, pair.source, pair.target)
        shown += [Padding(picture, (0, 0, 1, 2), expand=False)]
    return DemoView(("aer",), shown, ("{regard} align {folder} pairs.tsv",))


def _report(evaluation: AlignmentEvaluation, notes: tuple[str, ...]) -> EvaluationReport:
    from regard.evaluation.metrics import format_score

    rows = evaluation.rows
    keys = tuple(next(iter(rows.values())))
    columns = tuple(key.removeprefix("alignment_").removeprefix("num_") for key in keys)
    values = tuple((name, *(format_score(key, row[key]) for key in keys)) for name, row in rows.items())

    def write(folder: Path, context: ReportContext) -> dict[str, Path]:
        from regard.plots.page.alignment import AlignmentPage, write_alignment_page

        page = AlignmentPage(
            context.title,
            f"{evaluation.num_sentences:,} pairs, against gold links",
            context.command,
            rows,
            evaluation.num_sentences,
            evaluation.num_differing,
            evaluation.worst,
        )
        written = {"report": folder / "report.html"}
        write_report_json(folder, context.report(evaluation.to_json()))
        write_alignment_page(written["report"], page)
        return written

    return EvaluationReport(
        evaluation,
        rows["symmetrized"],
        evaluation.to_json(),
        write,
        (ScoreTable("by direction", ("", *columns), values),),
        notes=notes,
    )
