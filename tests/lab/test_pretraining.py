"""Pre-training at toy size: what differs between the two arms is the weights alone, and the numbers decide."""

import math
from dataclasses import replace
from statistics import mean, stdev
from types import SimpleNamespace

import pytest
import torch

from regard.checkpoint import ModelFolder
from regard.lab import pretraining
from regard.lab.measures.statistics import AFTER, BEFORE, critical_t, gains
from regard.lab.pretraining import USUAL, Arm, Sizes, classify, find, verdict
from regard.lab.runner import Bench
from regard.models import LanguageModelNetwork
from regard.tasks.classify.predictor import Classifier

TOY = Sizes(
    unlabelled=60,
    state_size=6,
    reading=4,
    labelled=(10, 20),
    reference=10,
    seeds=2,
    updates=2,
    rates=(0.01, 0.02),
    test=20,
)


@pytest.fixture(scope="module")
def arms():
    """Those of a run in which the classifiers are replaced by the count of their labels."""
    return []


@pytest.fixture(scope="module")
def ended(arms, tmp_path_factory):
    def count(bench, arm):
        arms.append(arm)
        share = {"before": 0.5, "after": 0.6}[arm.begins.name] + len(arm.labelled) / 100 + arm.seed / 1000
        return {"test": share, "learning_rate": 0.01}

    folder = tmp_path_factory.mktemp("pretraining")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretraining, "classify", count)
        return folder, find(Bench(folder, seed=3), TOY)


def test_every_accuracy_stands_where_it_belongs(ended):
    numbers = ended[1].numbers
    assert numbers["seeds"] == [3, 4]
    for start, base in ((BEFORE, 50), (AFTER, 60)):
        for count, spread in zip(TOY.labelled, numbers["accuracy"][start], strict=True):
            assert spread["values"] == pytest.approx([base + count + 0.3, base + count + 0.4])
            assert spread["mean"] == pytest.approx(base + count + 0.35)
    assert [each for row in gains(numbers) for each in row] == pytest.approx([10] * 4)


def test_both_arms_learn_from_the_same_reviews_and_no_others(arms, ended):
    learnt = {(arm.begins.name, len(arm.labelled), arm.seed): list(arm.labelled) for arm in arms}
    assert set(learnt) == {
        (name, n, seed) for name in ("before", "after") for n in (10, 20) for seed in (3, 4)
    }
    for seed in (3, 4):
        assert learnt["before", 10, seed] == learnt["after", 10, seed] == learnt["after", 20, seed][:10]
        assert learnt["before", 20, seed] == learnt["after", 20, seed]
    one, other = ({example.source for example in learnt["after", 20, seed]} for seed in (3, 4))
    assert not one & other
    tested = {example.source for example in arms[0].test}
    assert len(tested) == TOY.test
    assert not tested & (one | other)


def test_before_and_after_are_one_model_with_one_vocabulary(ended):
    folder, finding = ended
    before, after = (
        ModelFolder(str(folder / "models" / name)).load(task="language_model") for name in ("before", "after")
    )
    size = before.tokenizers["text"].size
    known = [each.tokenizers["text"].tokens(range(size)) for each in (before, after)]
    assert known[0] == known[1]
    assert after.tokenizers["text"].size == size
    torch.manual_seed(3)
    newborn = LanguageModelNetwork(before.model.config, size)
    for name, weight in newborn.state_dict().items():
        assert torch.equal(before.model.state_dict()[name], weight), name
        assert not torch.equal(after.model.state_dict()[name], weight), name
    # a uniform guess over the vocabulary, give or take what small weights say
    assert finding.numbers["perplexity"][BEFORE] == pytest.approx(size, rel=0.1)
    assert finding.numbers["perplexity"][AFTER] < finding.numbers["perplexity"][BEFORE]


def test_a_classifier_begins_with_the_language_models_weights(arms, ended, tmp_path):
    for arm in (arms[0], arms[-1]):
        still = replace(arm, sizes=replace(TOY, rates=(0.0,)))
        config = pretraining._classifier(still, 0.0)
        folder = Bench(tmp_path).train(arm.begins.name, config, arm.labelled[2:], arm.labelled[:2])
        model, begun = (
            Classifier.load(folder).model,
            ModelFolder(str(arm.begins)).load(task="language_model").model,
        )
        assert torch.equal(model.encoder.embedding.E, begun.embedding.E)
        (mine,), (theirs,) = model.encoder.stack.cells, begun.stack.cells
        for name, weight in theirs.named_parameters():
            assert torch.equal(dict(mine.named_parameters())[name], weight), name


def test_the_rate_is_chosen_on_what_was_held_back_and_never_on_the_test(arms, ended, tmp_path, monkeypatch):
    arm, tried = arms[0], []
    plain = Bench.train

    def watched(bench, name, config, train, valid, **more):
        assert bench.folder.parent == tmp_path, "what a stopped run leaves is with the rest of it"
        tried.append((config["training"]["learning_rate"], list(train), list(valid)))
        return plain(bench, name, config, train, valid, **more)

    monkeypatch.setattr(Bench, "train", watched)
    chosen = classify(Bench(tmp_path), arm)
    assert [learning_rate for learning_rate, _, _ in tried] == [0.01, 0.02]
    for _, train, valid in tried:
        assert valid + train == list(arm.labelled)
        assert len(valid) == len(arm.labelled) // 5
    alone = {
        learning_rate: classify(Bench(tmp_path), replace(arm, sizes=replace(TOY, rates=(learning_rate,))))
        for learning_rate in TOY.rates
    }
    assert chosen == alone[chosen["learning_rate"]]
    assert chosen == classify(Bench(tmp_path), arm)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("facts", "chosen"),
    [
        ({0.01: (0.7, 0.9), 0.02: (0.8, 1.5)}, 0.02),
        ({0.01: (0.8, 0.9), 0.02: (0.7, 0.1)}, 0.01),
        ({0.01: (0.8, 0.9), 0.02: (0.8, 1.5)}, 0.01),
        ({0.01: (0.8, 0.9), 0.02: (0.8, 0.5)}, 0.02),
    ],
)
def test_the_more_accurate_is_chosen_and_of_equals_the_surer(
    facts, chosen, arms, ended, tmp_path, monkeypatch
):
    """Whichever is better on the test: here the first rate has all of it right, and the second nothing."""

    class Told:
        def __init__(self, learning_rate):
            self.right = learning_rate == 0.01
            self.facts = dict(zip(("accuracy", "loss"), facts[learning_rate], strict=True))

        def classify(self, lines):
            gold = {example.source: example.target for example in arms[0].test}
            return [SimpleNamespace(label=gold[line] if self.right else "neither") for line in lines]

    monkeypatch.setattr(
        Bench, "train", lambda bench, name, config, *data, seed: config["training"]["learning_rate"]
    )
    monkeypatch.setattr(pretraining, "Classifier", SimpleNamespace(load=Told))
    assert classify(Bench(tmp_path), arms[0]) == {"test": float(chosen == 0.01), "learning_rate": chosen}


def made_up(before, after, labelled=(100, 200, 400, 800), reference=200):
    """Numbers of an experiment, from the accuracies of each size's seeds."""
    spread = lambda values: {"mean": mean(values), "deviation": stdev(values), "values": list(values)}  # noqa: E731
    accuracy = {BEFORE: [spread(row) for row in before], AFTER: [spread(row) for row in after]}
    return {"labelled": list(labelled), "reference": reference, "accuracy": accuracy}


PLAIN = [(50, 52, 51), (54, 55, 53), (61, 60, 62), (71, 70, 69)]


def raised(points, wobble=0.5):
    return [[value + points + (k - 1) * wobble for k, value in enumerate(row)] for row in PLAIN]


def test_a_clear_gain_holds():
    told = verdict(made_up(PLAIN, raised(10)))
    assert told.word == "held"
    in_errors, saved, lost = told.checks
    # each seed's gain is 10 − 0.5, 10 and 10 + 0.5: their mean's standard error is 0.5 / √3
    assert in_errors.value == pytest.approx(10 / (0.5 / math.sqrt(3)))
    # 64 % lies a third of the way from 61 at 400 to 70 at 800
    assert saved.value == pytest.approx(400 * 2 ** (1 / 3) / 200)
    assert lost.value == pytest.approx(-10)
    assert "the pre-trained classifier is 10.0 ± 0.3 points ahead" in told.because
    assert "(64 %) takes the plain one about 504" in told.because


def test_no_gain_is_not_seen_here():
    assert verdict(made_up(PLAIN, raised(-10))).word == "not seen here"
    assert (
        "the pre-trained classifier is 10.0 ± 0.3 points behind"
        in verdict(made_up(PLAIN, raised(-10))).because
    )


def test_a_gain_that_may_be_luck_does_not_decide():
    told = verdict(made_up(PLAIN, raised(1, wobble=3)))
    in_errors, saved, lost = told.checks
    assert in_errors.value == pytest.approx(1 / (3 / math.sqrt(3)))
    assert not in_errors.held
    assert not saved.held
    assert lost.held
    assert told.word == "not seen here"  # that nothing is lost is no gain


def test_three_seeds_need_more_than_two_standard_errors():
    """Their mean is 2.5 of them away from 0: by Student's t with 2 degrees of freedom that is not rare enough."""
    (in_errors, _, _) = verdict(made_up(PLAIN, raised(2.5, wobble=math.sqrt(3)))).checks
    assert in_errors.value == pytest.approx(2.5)
    assert in_errors.bound == critical_t(3) == 2.92
    assert not in_errors.held


@pytest.mark.parametrize("points", [0, 8, -8])
def test_seeds_that_agree_to_the_last_digit_have_no_t(points):
    """As in the other experiments: where nothing is known of chance, nothing is held against it."""
    in_errors = verdict(made_up(PLAIN, raised(points, wobble=0))).checks[0]
    assert math.isnan(in_errors.value)
    assert not in_errors.held


def test_what_the_plain_one_never_reaches_counts_as_the_most_labels_tried():
    told = verdict(made_up(PLAIN, raised(25)))
    assert told.checks[1].value == 800 / 200
    assert "takes the plain one more than 800" in told.because


def test_what_the_plain_one_reaches_at_once_takes_no_more_than_the_fewest_labels():
    told = verdict(made_up(PLAIN, raised(-5)))
    assert told.checks[1].value == 100 / 200
    assert "(49 %) takes the plain one no more than 100." in told.because


def test_a_loss_where_labels_abound_is_seen():
    after = [*raised(10)[:3], (60, 61, 62)]
    told = verdict(made_up(PLAIN, after))
    assert told.word == "held in part"
    assert told.checks[2].value == pytest.approx(9)


def test_sizes_ascend_and_hold_the_reference():
    for sizes in (USUAL, pretraining.FULL, TOY):
        assert list(sizes.labelled) == sorted(sizes.labelled)
        assert sizes.reference in sizes.labelled[:-1]
        assert sizes.seeds >= 2
    assert isinstance(Arm(begins=None, labelled=(), test=(), seed=1, sizes=TOY), Arm)
