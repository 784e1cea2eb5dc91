"""The evaluation of descriptions as files: scores for programs, what was written as text.

In: a `DescriptionEvaluation`. Out: a folder with ``report.json`` and ``descriptions.txt``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.description_evaluation import DescriptionEvaluation
from regard.report import write_json
from regard.whole_file import make_folder, write_whole_text


def write_description_evaluation(
    folder: Path, evaluation: DescriptionEvaluation, *, facts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write all that an evaluation of descriptions found.

    Args:
        folder: where to; made if it is not there.
        evaluation: of the test set.
        facts: more for ``report.json``, such as ``train_seconds``.

    Returns:
        What ``report.json`` says.

    Raises:
        DataError: the folder cannot be written.
    """
    make_folder(folder)
    report = {**evaluation.to_json(), **(facts or {})}
    write_json(folder, report)
    write_whole_text(folder / "descriptions.txt", "".join(f"{one.text}\n" for one in evaluation.descriptions))
    return report
