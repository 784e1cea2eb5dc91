import pytest

from regard.datasets import Microworld, Scenes, Sentiment, Tagging
from regard.lab.measures.shaped import NETWORKS, Amount
from regard.lab.runner import Bench
from regard.lab.shapes import FULL, USUAL, find, verdict
from regard.tasks.caption.evaluation import evaluate_captions
from regard.tasks.caption.predictor import Captioner
from regard.tasks.classify.evaluation import evaluate_classifier
from regard.tasks.classify.predictor import Classifier
from regard.tasks.tag.evaluation import evaluate_tagger
from regard.tasks.tag.predictor import Tagger
from regard.tasks.translate.evaluation import evaluate
from regard.tasks.translate.predictor import Translator
from regard.text import LabelledText, TaggedSentence

TOY = {name: Amount(examples=150, updates=4, units=16, test=12) for name in NETWORKS}
SIZES = {"train": 150, "valid": 100, "test": 12, "seed": 1}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("shapes"))


@pytest.fixture(scope="module")
def finding(bench):
    return find(bench, TOY)


def model(bench, name):
    return bench.folder / "models" / name


def test_all_shapes_are_done_in_the_order_of_the_lecture(finding):
    assert list(finding.numbers["shapes"]) == list(NETWORKS) == list(USUAL) == list(FULL)
    (drawing,) = finding.drawings
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
    shapes, tagged = finding.numbers["shapes"], Tagging().splits(**SIZES).test
    sentences = [TaggedSentence(tuple(e.source.split()), tuple(e.target.split())) for e in tagged]
    found = evaluate_tagger(Tagger.load(model(bench, "in-step")), sentences)
    assert shapes["many to many, in step"]["score"] == pytest.approx(100 * found.scores()["accuracy"])
    alone = [TaggedSentence((w,), (t,)) for s in sentences for w, t in zip(s.words, s.tags, strict=True)]
    found = evaluate_tagger(Tagger.load(model(bench, "one-to-one")), alone)
    assert shapes["one to one"]["score"] == pytest.approx(100 * found.scores()["accuracy"])
    moods = [LabelledText(e.target, (e.source,)) for e in Sentiment().splits(**SIZES).test]
    found = evaluate_classifier(Classifier.load(model(bench, "many-to-one")), moods)
    assert shapes["many to one"]["score"] == pytest.approx(100 * found.scores()["accuracy"])


def test_bleu_is_that_of_the_toolkit_s_own_evaluation(bench, finding):
    shapes = finding.numbers["shapes"]
    scenes = Scenes().splits(**SIZES).test
    captioned = evaluate_captions(
        Captioner.load(model(bench, "one-to-many")),
        [e.features for e in scenes],
        [e.target for e in scenes],
        beam=1,
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
    splits = Tagging().splits(**SIZES)
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


def test_half_of_the_errors_must_be_mended():
    def shape(score, baseline):
        return {"measure": "accuracy", "score": score, "baseline": baseline, "against": "guessing"}

    assert verdict({"a": shape(75, 50), "b": shape(96, 90)}).word == "held"
    assert verdict({"a": shape(75, 50), "b": shape(94, 90)}).word == "held in part"
    unseen = verdict({"a": shape(74.9, 50), "b": shape(50, 90), "c": shape(100, 100)})
    assert unseen.word == "not seen here"
    assert "B: accuracy" not in unseen.because
    assert "b: accuracy 50.0 (guessing: 90.0)" in unseen.because


def test_one_to_one_is_told_and_decides_nothing(finding):
    alone = {"measure": "accuracy", "score": 80.0, "baseline": 90.0, "against": "the table"}
    other = {**alone, "score": 99.0}
    told = verdict({"one to one": alone, "one to many": other})
    assert told.word == "held"
    assert [check.what for check in told.checks] == ["one to many: the baseline's errors mended"]
    assert "One to one: accuracy 80.0 (the table: 90.0)" in told.because
    assert len(finding.verdict.checks) == len(NETWORKS) - 1


def test_four_updates_teach_nothing_and_the_verdict_says_so(finding):
    assert finding.verdict.word != "held"
