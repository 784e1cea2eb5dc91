"""The evaluation of descriptions as files."""

import json

from regard.description_evaluation import DescriptionEvaluation
from regard.description_report import write_description_evaluation
from regard.output.description import Description
from regard.output.quality import measure


def test_scores_for_programs_and_the_lines_themselves(tmp_path):
    lines = ["a red cat", "", "two cats"]
    written = tuple(Description(line, (), 0.0, 0.0, ()) for line in lines)
    evaluation = DescriptionEvaluation(measure(lines, ["a red cat", "x", "a cat"]), 3.5, written, 2.0)
    report = write_description_evaluation(tmp_path / "new", evaluation, facts={"command": "again"})
    assert json.loads((tmp_path / "new" / "report.json").read_text()) == report
    assert report == {**evaluation.to_json(), "command": "again"}
    assert report["perplexity"] == 3.5
    assert set(report["signatures"]) == {"bleu", "chrf", "ter"}
    assert (tmp_path / "new" / "descriptions.txt").read_text() == "a red cat\n\ntwo cats\n"
