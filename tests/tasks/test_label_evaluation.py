"""The scores of labels: of predictions against gold; an unknown label is an error before the work."""

import json

import pytest

from regard.errors import DataError
from regard.evaluation import score_classes, score_tags
from regard.tasks.classify.evaluation import evaluate_classifier
from regard.tasks.classify.result import Classification
from regard.tasks.tag.evaluation import evaluate_tagger
from regard.tasks.tag.result import Tagging
from regard.text import LabelledText, Labels, Place, TaggedSentence


class ScriptedClassifier:
    """What the evaluation needs of a classifier, with all answers written beforehand."""

    labels = Labels(["n", "p", "q"])

    def __init__(self, answers):
        self.answers = answers

    def classify_stream(self, texts, *, chunk):
        for each, label in zip(texts, self.answers, strict=True):
            share = dict.fromkeys(self.labels, 0.1) | {label: 0.8}
            yield Classification(each, label, share, (("a",),), ((0,),), None)


class ScriptedTagger:
    """The same for a tagger."""

    labels = Labels(["N", "V"])

    def __init__(self, answers):
        self.answers = answers

    def tag_stream(self, lines, *, chunk):
        for line, tags in zip(lines, self.answers, strict=True):
            yield Tagging(tuple(line.split()), tuple(tags.split()), (1.0,) * len(tags.split()))


EXAMPLES = [LabelledText(label, ("a",)) for label in "ppnnp"]
SENTENCES = [TaggedSentence(("a", "b"), ("N", "V")), TaggedSentence(("c",), ("N",))]


def test_a_classifier_s_scores():
    heard = []
    evaluation = evaluate_classifier(ScriptedClassifier("pnnnp"), EXAMPLES, listener=heard.append)
    assert evaluation.classes == score_classes("ppnnp", "pnnnp", ["n", "p", "q"])
    assert list(evaluation.predictions) == heard
    scores = evaluation.scores()
    assert list(scores) == [
        "accuracy",
        "macro_f1",
        "num_labels_scored",
        "num_sentences",
        "sentences_per_second",
    ]
    assert (scores["accuracy"], scores["num_sentences"]) == (0.8, 5)
    assert evaluation.to_json()["confusion"] == [[2, 0, 0], [1, 2, 0], [0, 0, 0]]
    assert json.loads(json.dumps(evaluation.to_json(), allow_nan=False)) == evaluation.to_json()


def test_a_tagger_s_scores():
    heard = []
    evaluation = evaluate_tagger(ScriptedTagger(["N N", "N"]), SENTENCES, listener=heard.append)
    assert evaluation.classes == score_tags([("N", "V"), ("N",)], [("N", "N"), ("N",)], ["N", "V"])
    assert list(evaluation.predictions) == heard
    scores = evaluation.scores()
    assert (scores["accuracy"], scores["sentence_accuracy"], scores["num_sentences"]) == (2 / 3, 0.5, 2)


def test_unknown_labels_and_an_empty_test_set_are_errors_before_the_work():
    unknown = [*EXAMPLES, LabelledText("r", ("a",), Place("test.tsv", 6))]
    with pytest.raises(
        DataError, match=r"test\.tsv:6: the label 'r' was not in the training data; known: n, p, q"
    ):
        evaluate_classifier(ScriptedClassifier(""), unknown)
    unknown = [*SENTENCES, TaggedSentence(("c",), ("X",), Place("test.tags", 3))]
    with pytest.raises(DataError, match=r"test\.tags:3: the label 'X' was not in the training data"):
        evaluate_tagger(ScriptedTagger([]), unknown)
    with pytest.raises(DataError, match="cannot score an empty test set"):
        evaluate_classifier(ScriptedClassifier(""), [])
    with pytest.raises(DataError, match="cannot score an empty test set"):
        evaluate_tagger(ScriptedTagger([]), [])
