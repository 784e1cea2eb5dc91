"""The evaluation of labels as files."""

import json

from regard.evaluation import score_tags
from regard.tasks.evaluation import ReportContext
from regard.tasks.label_evaluation import LabelEvaluation
from regard.tasks.tag.result import Tagging


def test_what_is_written(tmp_path):
    said = (Tagging(("a", "b"), ("N", "N"), (1.0, 0.5)), Tagging(("c",), ("N",), (1.0,)))
    scores = score_tags([("N", "V"), ("N",)], [one.tags for one in said], ["N", "V"])
    evaluation = LabelEvaluation(scores, said, 0.5)
    context = ReportContext("tags", "again", facts={"command": "again"})
    picture = evaluation.write(tmp_path / "out", context)["confusion matrix"]
    assert picture == tmp_path / "out" / "confusion.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report == {**json.loads(json.dumps(evaluation.to_json())), "command": "again"}
    assert report["sentences_per_second"] == 4
    assert (tmp_path / "out" / "predictions.txt").read_text() == "N N\nN\n"
