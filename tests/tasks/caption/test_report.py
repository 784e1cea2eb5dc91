"""The evaluation of descriptions as files."""

import json

from regard.evaluation import measure
from regard.tasks.caption.evaluation import CaptionEvaluation, write_caption_evaluation
from regard.tasks.caption.result import Caption


def test_scores_for_programs_and_the_lines_themselves(tmp_path):
    lines = ["a red cat", "", "two cats"]
    written = tuple(Caption(line, (), 0.0, 0.0, ()) for line in lines)
    evaluation = CaptionEvaluation(measure(lines, ["a red cat", "x", "a cat"]), 3.5, written, 2.0)
    report = write_caption_evaluation(tmp_path / "new", evaluation, facts={"command": "again"})
    assert json.loads((tmp_path / "new" / "report.json").read_text()) == report
    assert report == {**evaluation.to_json(), "command": "again"}
    assert report["perplexity"] == 3.5
    assert set(report["signatures"]) == {"bleu", "chrf", "ter"}
    assert (tmp_path / "new" / "descriptions.txt").read_text() == "a red cat\n\ntwo cats\n"
