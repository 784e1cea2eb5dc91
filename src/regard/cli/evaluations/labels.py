"""The scores of labels as the terminal shows them."""

from typing import TYPE_CHECKING

from rich.table import Table

from regard.cli.console import notes, print_json, results, score_table
from regard.cli.evaluations.arguments import EvaluateArguments

if TYPE_CHECKING:
    from regard.evaluation import ClassScores
    from regard.tasks.labels import LabelEvaluation


def tell(arguments: EvaluateArguments, evaluation: "LabelEvaluation") -> None:
    """Write and print what an evaluation found, as it was arguments."""
    if arguments.out is not None:
        from regard.tasks.labels import write_label_evaluation

        picture = write_label_evaluation(
            arguments.out, evaluation, title=arguments.title, facts={"command": arguments.command}
        )
        notes.print(f"report: {picture.with_name('report.json')}, confusion matrix: {picture}", markup=False)
    if arguments.json:
        print_json(evaluation.to_json())
        return
    results.print(score_table(evaluation.scores()))
    results.print()
    results.print(class_table(evaluation.classes))


def class_table(scores: "ClassScores") -> Table:
    """The scores of each label, a row each."""
    table = Table(box=None, pad_edge=False, title="by label", title_justify="left", title_style="bold")
    table.add_column("label", style="dim")
    for name in ("precision", "recall", "f1", "support", "predicted"):
        table.add_column(name, justify="right")
    for label, one in scores.classes.items():
        shares = [f"{100 * value:.1f}\N{NO-BREAK SPACE}%" for value in (one.precision, one.recall, one.f1)]
        table.add_row(label, *shares, f"{one.support:,}", f"{one.num_predicted:,}")
    return table
