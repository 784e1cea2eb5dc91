"""The evaluation of an aligner on files of pairs and gold links, for ``regard evaluate``."""

from pathlib import Path

from regard.errors import ConfigError, DataError
from regard.evaluation.alignment import AlignmentEvaluation
from regard.tasks.align.predictor import Aligner
from regard.tasks.evaluation import (
    EvaluationOptions,
    EvaluationReport,
    EvaluationRun,
    ProgressCounter,
    ReportContext,
    ScoreTable,
    write_report_json,
)
from regard.text import LinkFormat, read_links, read_pairs

_WORST = 10


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
    gold = list(read_links(options.gold, texts, form, notes.append))

    def run(counter: ProgressCounter) -> EvaluationReport:
        evaluation = AlignmentEvaluation(_WORST)
        for aligned, links in zip(aligner.align_stream(texts), gold, strict=True):
            evaluation.add(aligned.source, aligned.target, aligned.links(), links)
            counter.count(len(aligned.target))
        return _report(evaluation, tuple(notes))

    return EvaluationRun("aligning", len(pairs), run)


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
