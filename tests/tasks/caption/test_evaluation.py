"""The scores of captions: of the output, and of the references by forced decoding."""

import json
import math

import numpy as np
import pytest

from regard.errors import DataError
from regard.evaluation import measure_quality
from regard.search.options import SearchOptions
from regard.tasks.caption import evaluation as caption_evaluation
from regard.tasks.caption.evaluation import CaptionEvaluation, evaluate_captions
from regard.tasks.caption.result import Caption
from regard.tasks.evaluation import ReportContext
from regard.text import train_tokenizer

REFERENCES = ["a red cat", "a dog", "two cats"]
WRITTEN = ["a red cat", "a dig", "two cats"]
FEATURES = np.arange(6.0).reshape(3, 2)
OPTIONS = SearchOptions(beam=2, length_power=0.5)


class Scripted:
    """What the evaluation needs of a captioner: a row's first feature says which line it is, a token costs 2 nats."""

    tokenizer = train_tokenizer("word", [*REFERENCES, "three cats"], size=30)

    def caption(self, features, options):
        assert options == OPTIONS
        return [said(WRITTEN[int(row[0]) // 2]) for row in features]

    def score(self, features, texts):
        return [said(text) for text in texts]


def said(text):
    tokens = (*text.split(), "</s>")
    return Caption(text, tokens, -1.0, -2.0 * len(tokens), (-2.0,) * len(tokens))


@pytest.fixture
def evaluation(monkeypatch):
    monkeypatch.setattr(caption_evaluation, "_CHUNK", 2)
    heard = []
    found = evaluate_captions(Scripted(), FEATURES, REFERENCES, search=OPTIONS, listener=heard.append)
    assert heard == list(found.captions)
    return found


def test_every_score_of_the_corpus_is_there(evaluation):
    scores = evaluation.scores()
    quality = measure_quality(WRITTEN, REFERENCES)
    names = ["bleu", "chrf", "ter", "exact_match", "token_error_rate", "character_error_rate"]
    assert list(scores) == [*names, "perplexity", "num_sentences", "sentences_per_second"]
    assert {name: scores[name] for name in names} == quality.scores
    assert scores["character_error_rate"] == pytest.approx(1 / 22)
    assert scores["perplexity"] == pytest.approx(math.exp(2))
    assert [each.text for each in evaluation.captions] == WRITTEN


def test_one_reference_for_each_row():
    with pytest.raises(DataError, match="3 rows of features and 2 references: give one of each"):
        evaluate_captions(Scripted(), FEATURES, REFERENCES[:2])
    with pytest.raises(DataError, match="0 rows of features and 0 references"):
        evaluate_captions(Scripted(), FEATURES[:0], [])


def test_a_report_has_scores_and_captions(tmp_path):
    lines = ["a red cat", "", "two cats"]
    written = tuple(Caption(line, (), 0.0, 0.0, ()) for line in lines)
    evaluation = CaptionEvaluation(measure_quality(lines, ["a red cat", "x", "a cat"]), 3.5, written, 2.0)
    path = evaluation.write(tmp_path / "new", ReportContext("", "again", facts={"command": "again"}))[
        "report"
    ]
    report = json.loads(path.read_text())
    assert report == {**evaluation.to_json(), "command": "again"}
    assert report["perplexity"] == 3.5
    assert set(report["signatures"]) == {"bleu", "chrf", "ter"}
    assert (tmp_path / "new" / "captions.txt").read_text() == "a red cat\n\ntwo cats\n"
