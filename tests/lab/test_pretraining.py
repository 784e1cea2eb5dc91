"""Pre-training at toy size: what differs between the two arms is the weights alone, and the numbers decide."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.checkpoint import ModelFolder
from regard.datasets import Example
from regard.lab import pretraining
from regard.lab.pretraining import (
    AFTER,
    BEFORE,
    REGISTERED,
    PretrainingSizes,
    gains,
    labels_needed,
    mean_accuracies,
    measure,
    train_classifier,
    verdict,
)
from regard.lab.runner import Bench
from regard.models import LanguageModelNetwork
from regard.tasks.classify.predictor import Classifier

TOY = PretrainingSizes(
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


class Call(NamedTuple):
    """The arguments of `train_classifier` after the bench."""

    start: Path
    labelled: Sequence[Example]
    test: Sequence[Example]
    seed: int
    sizes: PretrainingSizes


@pytest.fixture(scope="module")
def calls():
    """Those of a run in which training a classifier is replaced by counting its labels."""
    return []


@pytest.fixture(scope="module")
def ended(calls, tmp_path_factory):
    def count(bench, *arguments):
        call = Call(*arguments)
        calls.append(call)
        share = {"before": 0.5, "after": 0.6}[call.start.name] + len(call.labelled) / 100 + call.seed / 1000
        return {"test": share, "learning_rate": 0.01}

    folder = tmp_path_factory.mktemp("pretraining")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretraining, "train_classifier", count)
        return folder, measure(Bench(folder, seed=3), TOY)


def test_every_accuracy_is_where_it_belongs(ended):
    numbers = ended[1].numbers
    assert numbers["seeds"] == [3, 4]
    for start, base in ((BEFORE, 50), (AFTER, 60)):
        for count, spread in zip(TOY.labelled, numbers["accuracy"][start], strict=True):
            assert spread["values"] == pytest.approx([base + count + 0.3, base + count + 0.4])
            assert spread["mean"] == pytest.approx(base + count + 0.35)
    assert [each for row in gains(numbers) for each in row] == pytest.approx([10] * 4)


def test_both_starts_are_trained_on_the_same_reviews_and_no_others(calls, ended):
    train = {(call.start.name, len(call.labelled), call.seed): list(call.labelled) for call in calls}
    assert set(train) == {
        (name, n, seed) for name in ("before", "after") for n in (10, 20) for seed in (3, 4)
    }
    for seed in (3, 4):
        assert train["before", 10, seed] == train["after", 10, seed] == train["after", 20, seed][:10]
        assert train["before", 20, seed] == train["after", 20, seed]
    one, other = ({example.source for example in train["after", 20, seed]} for seed in (3, 4))
    assert not one & other
    tested = {example.source for example in calls[0].test}
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


def test_a_classifier_starts_with_the_language_models_weights(calls, ended, tmp_path):
    for call in (calls[0], calls[-1]):
        config = pretraining._classifier(call.start, 0.0, TOY)
        folder = Bench(tmp_path).train(call.start.name, config, call.labelled[2:], call.labelled[:2])
        model, start = (
            Classifier.load(folder).model,
            ModelFolder(call.start).load(task="language_model").model,
        )
        assert torch.equal(model.encoder.embedding.E, start.embedding.E)
        (cell,), (start_cell,) = model.encoder.stack.cells, start.stack.cells
        for name, weight in start_cell.named_parameters():
            assert torch.equal(dict(cell.named_parameters())[name], weight), name


def test_the_rate_is_chosen_on_what_was_held_out_and_never_on_the_test(calls, ended, tmp_path, monkeypatch):
    call, tried = calls[0], []
    plain = Bench.train

    def recorded(bench, name, config, train, valid, **more):
        assert bench.folder.parent == tmp_path, "a stopped run leaves its files inside its own folder"
        tried.append((config["training"]["learning_rate"], list(train), list(valid)))
        return plain(bench, name, config, train, valid, **more)

    monkeypatch.setattr(Bench, "train", recorded)
    chosen = train_classifier(Bench(tmp_path), *call)
    assert [learning_rate for learning_rate, _, _ in tried] == [0.01, 0.02]
    for _, train, valid in tried:
        assert valid + train == list(call.labelled)
        assert len(valid) == len(call.labelled) // 5
    alone = {
        learning_rate: train_classifier(
            Bench(tmp_path), *call._replace(sizes=replace(TOY, rates=(learning_rate,)))
        )
        for learning_rate in TOY.rates
    }
    assert chosen == alone[chosen["learning_rate"]]
    assert chosen == train_classifier(Bench(tmp_path), *call)
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
    facts, chosen, calls, ended, tmp_path, monkeypatch
):
    """Whichever is better on the test: here the first rate has all of it right, and the second nothing."""

    class Scripted:
        def __init__(self, learning_rate):
            self.right = learning_rate == 0.01
            self.facts = dict(zip(("accuracy", "loss"), facts[learning_rate], strict=True))

        def classify(self, lines):
            gold = {example.source: example.target for example in calls[0].test}
            return [SimpleNamespace(label=gold[line] if self.right else "neither") for line in lines]

    monkeypatch.setattr(
        Bench, "train", lambda bench, name, config, *data, seed: config["training"]["learning_rate"]
    )
    monkeypatch.setattr(pretraining, "Classifier", SimpleNamespace(load=Scripted))
    assert train_classifier(Bench(tmp_path), *calls[0]) == {
        "test": float(chosen == 0.01),
        "learning_rate": chosen,
    }


def made_up(before, after, labelled=(100, 200, 400, 800), reference=200):
    """Numbers of an experiment, from the accuracies of each size's seeds."""
    spread = lambda values: {"mean": mean(values), "deviation": stdev(values), "values": list(values)}  # noqa: E731
    accuracy = {BEFORE: [spread(row) for row in before], AFTER: [spread(row) for row in after]}
    return {"labelled": list(labelled), "reference": reference, "accuracy": accuracy}


PLAIN = [(50, 52, 51), (54, 55, 53), (61, 60, 62), (71, 70, 69)]


def raised(points, wobble=0.5):
    return [[value + points + (k - 1) * wobble for k, value in enumerate(row)] for row in PLAIN]


def test_a_clear_gain_holds():
    result = verdict(made_up(PLAIN, raised(10)))
    assert result.word == "held"
    gained, saved, lost = result.checks
    # each seed's gain is 10 − 0.5, 10 and 10 + 0.5: their mean's standard error is 0.5 / √3
    half = 2.92 * 0.5 / math.sqrt(3)
    assert gained.value == pytest.approx(10)
    assert gained.interval == pytest.approx((10 - half, 10 + half))
    # 64 % lies a third of the way from 61 at 400 to 70 at 800
    assert saved.value == pytest.approx(400 * 2 ** (1 / 3) / 200)
    assert lost.value == pytest.approx(-10)
    assert "the pre-trained classifier is 10.0 ± 0.3 points ahead" in result.because
    assert "(64 %) takes the plain one about 504" in result.because


def test_no_gain_is_not_seen_here():
    assert verdict(made_up(PLAIN, raised(-10))).word == "not seen here"
    assert (
        "the pre-trained classifier is 10.0 ± 0.3 points behind"
        in verdict(made_up(PLAIN, raised(-10))).because
    )


def test_a_gain_that_may_be_luck_does_not_decide():
    result = verdict(made_up(PLAIN, raised(1, wobble=3)))
    gained, saved, lost = result.checks
    assert gained.outcome == "not decided"
    assert not saved.held
    assert lost.held
    assert result.word == "not seen here"  # that nothing is lost is no gain


def test_three_seeds_need_more_than_two_standard_errors():
    """Their mean is 2.5 of them away from 0: by Student's t with 2 degrees of freedom that is not rare enough."""
    (gained, _, _) = verdict(made_up(PLAIN, raised(2.5, wobble=math.sqrt(3)))).checks
    assert gained.value == pytest.approx(2.5)
    assert gained.interval == pytest.approx((2.5 - 2.92, 2.5 + 2.92))
    assert not gained.held


def test_what_the_plain_one_never_reaches_counts_as_the_most_labels_tried():
    result = verdict(made_up(PLAIN, raised(25)))
    assert result.checks[1].value == 800 / 200
    assert "takes the plain one more than 800" in result.because


def test_what_the_plain_one_reaches_at_once_takes_no_more_than_the_fewest_labels():
    result = verdict(made_up(PLAIN, raised(-5)))
    assert result.checks[1].value == 100 / 200
    assert "(49 %) takes the plain one no more than 100." in result.because


def test_a_loss_where_labels_abound_is_seen():
    after = [*raised(10)[:3], (60, 61, 62)]
    result = verdict(made_up(PLAIN, after))
    assert result.word == "held in part"
    assert result.checks[2].value == pytest.approx(9)


def test_sizes_ascend_and_hold_the_reference():
    for sizes in (REGISTERED.usual, REGISTERED.full, TOY):
        assert list(sizes.labelled) == sorted(sizes.labelled)
        assert sizes.reference in sizes.labelled[:-1]
        assert sizes.seeds >= 2


NUMBERS = {
    "accuracy": {
        BEFORE: [{"mean": 51, "values": [50, 52]}, {"mean": 60, "values": [61, 59]}],
        AFTER: [{"mean": 57, "values": [55, 59]}, {"mean": 59, "values": [60, 58]}],
    }
}


def test_a_curve_has_a_mean_for_each_size():
    assert mean_accuracies(NUMBERS, BEFORE) == [51, 60]
    assert mean_accuracies(NUMBERS, AFTER) == [57, 59]


def test_gains_are_of_the_same_size_and_the_same_seed():
    assert gains(NUMBERS) == [[5, 7], [-1, -1]]


COUNTS = [100, 200, 400, 800]


@pytest.mark.parametrize(
    ("wanted", "needed"),
    [
        (40, 100),
        (50, 100),
        (55, 100 * math.sqrt(2)),
        (60, 200),
        (75, 200 * 2 ** (15 / 20)),
        (80, 400),
        (90, 800),
        (90.1, math.inf),
    ],
)
def test_by_hand(wanted, needed):
    assert labels_needed(COUNTS, [50, 60, 80, 90], wanted) == pytest.approx(needed)


def test_a_curve_that_falls_again_counts_where_it_first_got_there():
    assert labels_needed(COUNTS, [50, 70, 55, 90], 60) == pytest.approx(100 * math.sqrt(2))
    assert labels_needed(COUNTS, [50, 50, 50, 50], 50.1) == math.inf


@given(st.lists(st.floats(0, 100), min_size=4, max_size=4), st.floats(0, 100), st.floats(0, 100))
def test_more_accuracy_never_takes_fewer_labels(accuracies, one, other):
    low, high = sorted((one, other))
    # exp and log leave the last digits in doubt
    assert labels_needed(COUNTS, accuracies, low) <= labels_needed(COUNTS, accuracies, high) * (1 + 1e-9)
    assert labels_needed(COUNTS, accuracies, max(accuracies)) <= 800 * (1 + 1e-9)
