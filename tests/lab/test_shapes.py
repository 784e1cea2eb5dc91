"""The experiment on shapes: its steps, its scores against the toolkit's evaluation, its baselines, its verdict."""

import math

import pytest

from regard.datasets import Microworld, PartsOfSpeech, Scenes, Sentiment
from regard.lab.runner import Bench
from regard.lab.shapes import (
    NETWORKS,
    Example,
    ShapeSizes,
    ShapesSizes,
    ambiguous_words,
    corrected,
    measure,
    most_frequent_by_question,
    single_words,
    verdict,
)
from regard.search.options import SearchOptions
from regard.tasks.caption.evaluation import evaluate_captions
from regard.tasks.caption.predictor import Captioner
from regard.tasks.classify.evaluation import evaluate_classifier
from regard.tasks.classify.predictor import Classifier
from regard.tasks.tag.evaluation import evaluate_tagger
from regard.tasks.tag.predictor import Tagger
from regard.tasks.translate.evaluation import evaluate
from regard.tasks.translate.predictor import Translator
from regard.text import LabelledText, TaggedSentence

SMALL = ShapeSizes(examples=150, updates=4, units=16, test=12)
TOY = ShapesSizes(1, *[SMALL] * len(NETWORKS))
SIZES = {"train": 150, "valid": 100, "test": 12, "seed": 1}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("shapes"))


@pytest.fixture(scope="module")
def finding(bench):
    return measure(bench, TOY)


def model(bench, name):
    return bench.folder / "seed-1" / "models" / name


def test_all_shapes_are_done_in_the_order_of_the_lecture(finding):
    assert list(finding.numbers["shapes"]) == list(NETWORKS)
    (drawing,) = finding.figures
    written = [text.get_text() for text in drawing.figure.axes[0].texts]
    for name, shape in finding.numbers["shapes"].items():
        assert name in written
        assert {word for word in (*shape["inputs"], *shape["outputs"]) if word} <= set(written)


def test_the_steps_of_each_shape(finding):
    shapes = finding.numbers["shapes"]

    def steps(name):
        return [
            (bool(read), bool(given))
            for read, given in zip(shapes[name]["inputs"], shapes[name]["outputs"], strict=True)
        ]

    both, reads, gives = (True, True), (True, False), (False, True)
    assert steps("one to one") == [both]
    many = steps("one to many")
    assert many == [both, *[gives] * (len(many) - 1)]
    one = steps("many to one")
    assert one == [*[reads] * (len(one) - 1), both]
    assert set(steps("many to many, in step")) == {both}
    through = steps("many to many")
    reading = through.index(gives)
    assert through == [*[reads] * reading, *[gives] * (len(through) - reading)]
    assert reading == len(" ".join(filter(None, shapes["many to many"]["inputs"])).split()) > 3


def test_accuracies_are_those_of_the_toolkit_s_own_evaluation(bench, finding):
    shapes, tagged = finding.numbers["shapes"], PartsOfSpeech().splits(**SIZES).test
    sentences = [TaggedSentence(tuple(e.source.split()), tuple(e.target.split())) for e in tagged]
    report = evaluate_tagger(Tagger.load(model(bench, "in-step")), sentences)
    assert shapes["many to many, in step"]["score"] == pytest.approx(100 * report.scores()["accuracy"])
    alone = [TaggedSentence((w,), (t,)) for s in sentences for w, t in zip(s.words, s.tags, strict=True)]
    report = evaluate_tagger(Tagger.load(model(bench, "one-to-one")), alone)
    assert shapes["one to one"]["score"] == pytest.approx(100 * report.scores()["accuracy"])
    reviews = [LabelledText(e.target, (e.source,)) for e in Sentiment().splits(**SIZES).test]
    report = evaluate_classifier(Classifier.load(model(bench, "many-to-one")), reviews)
    assert shapes["many to one"]["score"] == pytest.approx(100 * report.scores()["accuracy"])


def test_bleu_is_that_of_the_toolkit_s_own_evaluation(bench, finding):
    shapes = finding.numbers["shapes"]
    scenes = Scenes().splits(**SIZES).test
    captioned = evaluate_captions(
        Captioner.load(model(bench, "one-to-many")),
        [e.features for e in scenes],
        [e.target for e in scenes],
        search=SearchOptions(beam=1),
        tokenize="none",
    )
    assert shapes["one to many"]["score"] == pytest.approx(captioned.quality["bleu"])
    pairs = Microworld().splits(**SIZES, shortest=3, longest=8).test
    translated = evaluate(
        Translator.load(model(bench, "many-to-many")),
        [e.source for e in pairs],
        [e.target for e in pairs],
        beam=1,
        tokenize="none",
    )
    assert shapes["many to many"]["score"] == pytest.approx(translated.quality["bleu"])


def test_the_baselines_are_what_counting_gives(finding):
    splits = PartsOfSpeech().splits(**SIZES)
    counts: dict[str, dict[str, int]] = {}
    tags: dict[str, int] = {}
    for example in splits.train:
        for word, tag in zip(example.source.split(), example.target.split(), strict=True):
            counts.setdefault(word, {}).setdefault(tag, 0)
            counts[word][tag] += 1
            tags[tag] = tags.get(tag, 0) + 1
    common = max(tags, key=tags.get)
    right = total = 0
    for example in splits.test:
        for word, tag in zip(example.source.split(), example.target.split(), strict=True):
            guess = max(counts[word], key=counts[word].get) if word in counts else common
            right, total = right + (guess == tag), total + 1
    for name in ("many to many, in step", "one to one"):
        shape = finding.numbers["shapes"][name]
        assert shape["baseline"] == pytest.approx(100 * right / total)
        assert shape["against"] == "each word's most frequent tag"


def test_half_of_the_errors_must_be_corrected():
    def shape(score, baseline):
        return {"measure": "accuracy", "score": score, "baseline": baseline, "against": "guessing"}

    assert verdict([{"a": shape(75, 50), "b": shape(96, 90)}] * 2).word == "held"
    assert verdict([{"a": shape(75, 50), "b": shape(94, 90)}] * 2).word == "held in part"
    unseen = verdict([{"a": shape(74.9, 50), "b": shape(50, 90), "c": shape(100, 100)}] * 2)
    assert unseen.word == "not seen here"
    assert "B: accuracy" not in unseen.because
    assert "b: accuracy 50.0 (guessing: 90.0)" in unseen.because


def test_one_to_one_is_shown_and_decides_nothing(finding):
    alone = {"measure": "accuracy", "score": 80.0, "baseline": 90.0, "against": "the table"}
    other = {**alone, "score": 99.0}
    result = verdict([{"one to one": alone, "one to many": other}] * 2)
    assert result.word == "held"
    assert [check.what for check in result.checks] == ["one to many: the baseline's errors corrected"]
    assert "One to one: accuracy 80.0 (the table: 90.0)" in result.because
    assert len(finding.verdict.checks) == len(NETWORKS) - 1


def test_four_updates_are_too_few_for_the_claim(finding):
    assert finding.verdict.word != "held"


def test_the_share_of_errors_corrected():
    assert corrected(75, 50) == 50
    assert corrected(100, 90) == 100
    assert corrected(80, 90) == -100
    assert math.isnan(corrected(100, 100))


TAGGED = [
    Example("they can fish", "PRON AUX VERB"),
    Example("the can", "DET NOUN"),
    Example("I can", "PRON AUX"),
]


def test_tagged_sentences_are_split_into_words():
    words = single_words(TAGGED)
    assert [(word.source, word.target) for word in words[:3]] == [
        ("they", "PRON"),
        ("can", "AUX"),
        ("fish", "VERB"),
    ]
    assert len(words) == 7
    assert ambiguous_words(words) == {"can"}
    assert most_frequent_by_question((word.source, word.target) for word in words)["can"] == "AUX"
