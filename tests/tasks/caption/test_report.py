"""The evaluation of captions as files."""

import json

from regard.evaluation import measure
from regard.tasks.caption.evaluation import CaptionEvaluation
from regard.tasks.caption.result import Caption
from regard.tasks.evaluation import ReportContext


def test_scores_for_programs_and_the_lines_themselves(tmp_path):
    lines = ["a red cat", "", "two cats"]
    written = tuple(Caption(line, (), 0.0, 0.0, ()) for line in lines)
    evaluation = CaptionEvaluation(measure(lines, ["a red cat", "x", "a cat"]), 3.5, written, 2.0)
    path = evaluation.write(tmp_path / "new", ReportContext("", "again", facts={"command": "again"}))[
        "report"
    ]
    report = json.loads(path.read_text())
    assert report == {**evaluation.to_json(), "command": "again"}
    assert report["perplexity"] == 3.5
    assert set(report["signatures"]) == {"bleu", "chrf", "ter"}
    assert (tmp_path / "new" / "captions.txt").read_text() == "a red cat\n\ntwo cats\n"
