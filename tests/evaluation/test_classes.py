import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation import score_classes, score_tags
from regard.evaluation.metrics import label_scores

LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=40)


@given(LABELS)
def test_agrees_with_counting_by_hand(pairs):
    gold, predicted = [g for g, _ in pairs], [p for _, p in pairs]
    scores = score_classes(gold, predicted)
    assert scores.accuracy == pytest.approx(sum(g == p for g, p in pairs) / len(pairs))
    f1s = []
    for label in sorted({*gold, *predicted}):
        one = scores.classes[label]
        hits = sum(g == p == label for g, p in pairs)
        assert (one.support, one.num_predicted) == (gold.count(label), predicted.count(label))
        assert one.recall == pytest.approx(hits / gold.count(label) if label in gold else 0)
        assert one.precision == pytest.approx(hits / predicted.count(label) if label in predicted else 0)
        total = one.precision + one.recall
        f1s.append(2 * one.precision * one.recall / total if total else 0.0)
        assert one.f1 == pytest.approx(f1s[-1])
    assert scores.macro_f1 == pytest.approx(sum(f1s) / len(f1s))
    assert scores.num_scored == len(pairs)


def test_the_confusion_matrix_has_gold_down_and_predicted_across():
    scores = score_classes(["a", "a", "b"], ["a", "b", "b"], ["b", "a", "never"])
    assert scores.labels == ("b", "a", "never")
    assert scores.confusion == ((1, 0, 0), (1, 1, 0), (0, 0, 0))


def test_a_class_that_is_never_met_does_not_count_in_the_mean():
    assert score_classes(["a", "b"], ["a", "b"], ["a", "b", "never"]).macro_f1 == 1.0
    assert score_classes(["a", "b"], ["a", "c"]).macro_f1 == pytest.approx(1 / 3)


def test_tags_are_scored_word_by_word_and_sentence_by_sentence():
    gold, predicted = [["D", "N"], ["N"], ["V"]], [("D", "N"), ("V",), ("V",)]
    scores = score_tags(gold, predicted)
    assert scores.sentence_accuracy == pytest.approx(2 / 3)
    assert scores.accuracy == pytest.approx(3 / 4)
    assert scores.confusion == score_classes(["D", "N", "N", "V"], ["D", "N", "V", "V"]).confusion


def test_scores_and_json():
    tags = score_tags([["D", "N"]], [["D", "D"]])
    assert label_scores(tags) == {"accuracy": 0.5, "macro_f1": pytest.approx(1 / 3), "sentence_accuracy": 0.0}
    assert tags.num_scored == 2
    assert "sentence_accuracy" not in label_scores(score_classes(["a"], ["a"]))
    written = tags.to_json()
    assert json.loads(json.dumps(written)) == written
    assert written["confusion"] == [[1, 0], [1, 0]]
    assert written["classes"]["D"] == {
        "precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3), "support": 1, "num_predicted": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("score", "gold", "predicted", "labels", "message"),
    [
        (score_classes, ["a"], [], None, "1 gold, 0 predicted"),
        (score_classes, [], [], None, "empty corpus"),
        (
            score_classes,
            ["positive"],
            ["postive"],
            ["positive", "other"],
            "'postive' is none .*mean 'positive'",
        ),
        (score_tags, [["D"]], [], None, "0 tagged sentences against 1"),
        (score_tags, [["D"], ["D", "N"]], [["D"], ["D"]], None, "sentence 1: 1 predicted tags for 2 gold"),
        (score_tags, [[]], [[]], None, "empty corpus"),
    ],
)
def test_what_cannot_be_scored(score, gold, predicted, labels, message):
    with pytest.raises(DataError, match=message):
        score(gold, predicted, labels)
