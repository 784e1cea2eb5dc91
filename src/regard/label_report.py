"""The evaluation of labels as files: scores for programs, predictions as text, which label was taken for which.

In: a `LabelEvaluation`. Out: a folder with ``report.json``, ``predictions.txt`` and ``confusion.png``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.label_evaluation import LabelEvaluation
from regard.output.pictures import draw_confusion, save
from regard.report import write_json
from regard.whole_file import make_folder, write_whole_text


def write_label_evaluation(
    folder: Path, evaluation: LabelEvaluation, *, title: str, facts: Mapping[str, Any] | None = None
) -> Path:
    """Write all that an evaluation of labels found.

    Args:
        folder: where to; made if it is not there.
        evaluation: of the test set.
        title: a line above the picture.
        facts: more for ``report.json``, such as ``train_seconds``.

    Returns:
        The path of the picture.

    Raises:
        DataError: the folder cannot be written.
        MissingExtraError: matplotlib is not installed; all but the picture is written.
    """
    make_folder(folder)
    write_json(folder, {**evaluation.to_json(), **(facts or {})})
    write_whole_text(folder / "predictions.txt", "".join(f"{one}\n" for one in evaluation.predictions))
    picture = folder / "confusion.png"
    save(draw_confusion(evaluation.classes, title=title), picture)
    return picture
