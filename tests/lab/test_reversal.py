"""The experiment on reading backwards: differences seed by seed, lags, verdict."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.datasets import Example
from regard.datasets.microworld import Microworld
from regard.lab.reversal import (
    EXPERIMENT,
    REGISTERED,
    WAYS,
    ReversalSizes,
    _config,
    differences,
    lags,
    mean_lags,
    measure,
    verdict,
    write_remarks,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.translate.predictor import Translator
from regard.text import GoldLinks
from regard.training.configure import configure

TOY = ReversalSizes(
    200, 12, longest=6, units=8, batch_words=60, updates=4, learning_rate=0.01, seeds=2, short=4
)


def made_up(perplexity: list[float], bleu: list[float]) -> dict[str, Any]:
    """Numbers of models that read backwards, beside forward ones of perplexity 5, 6, 7 and BLEU 30, 50, 40."""
    forward = [{"perplexity": p, "bleu": b} for p, b in zip((5.0, 6.0, 7.0), (30.0, 50.0, 40.0), strict=True)]
    backward = [{"perplexity": p, "bleu": b} for p, b in zip(perplexity, bleu, strict=True)]
    for model in forward + backward:
        model["short_bleu"] = 60.0
    return {"ways": {"forwards": forward, "backwards": backward}}


def test_differences_are_of_the_same_seed() -> None:
    """What seeds have in common cancels: the forward models differ by far more than the gain does."""
    numbers = made_up([4.0, 5.0, 5.5], [32.0, 52.0, 43.0])
    assert differences(numbers, "perplexity").values == (-1.0, -1.0, -1.5)
    assert differences(numbers, "bleu").values == (2.0, 2.0, 3.0)
    check = verdict(numbers).checks[1]
    assert check.value == pytest.approx(7 / 3)
    assert check.interval == pytest.approx((7 / 3 - 2.92 / 3, 7 / 3 + 2.92 / 3))
    numbers["ways"]["forwards"][0]["short_bleu"] = 10.0
    assert verdict(numbers).word == NOT_DECIDED
    assert "BLEU on short sentences, the lower of both ways" in verdict(numbers).undecided[0]


def test_losses_have_a_typographic_minus_or_are_called_losses() -> None:
    numbers = made_up([4.0, 5.0, 5.5], [29.0, 49.0, 40.0])
    because = verdict(numbers).because
    assert "perplexity changes by −1.17 ± 0.49" in because
    assert "BLEU by −0.7 ± 1.0 to 39.3" in because
    for way, surprise in (("forwards", [3.0, 3.0, 2.0, 2.0]), ("backwards", [2.75, 2.75, 2.5, 2.5])):
        for model in numbers["ways"][way]:
            model["surprise"] = surprise
    numbers["lags"] = {way: {"mean": 5.0, "least": 2.0} for way in WAYS}
    remark = write_remarks(numbers)[1]
    assert "over the first 2 positions reading backwards saves 0.25 nats per word" in remark
    assert "over the 2 after them it loses 0.50 nats" in remark


@pytest.mark.parametrize(
    ("perplexity", "bleu", "word"),
    [
        ([4.0, 5.1, 6.2], [40.0, 61.0, 51.0], HELD),
        ([4.0, 5.1, 6.2], [40.0, 50.0, 41.0], IN_PART),  # BLEU's gain is within chance
        ([6.0, 7.1, 8.2], [20.0, 39.0, 30.0], NOT_SEEN),  # worse, and surely so
        ([5.0, 6.1, 6.8], [30.5, 49.0, 40.0], NOT_DECIDED),  # either way within chance
    ],
)
def test_the_verdict_follows_from_the_differences(
    perplexity: list[float], bleu: list[float], word: str
) -> None:
    assert verdict(made_up(perplexity, bleu)).word == word


def test_the_two_ways_differ_in_the_order_of_reading_alone() -> None:
    forwards, backwards = (_config(way, REGISTERED.usual) for way in ("forwards", "backwards"))
    assert configure(backwards).model.encoder.reverse
    assert not configure(forwards).model.encoder.reverse
    forwards["model"]["encoder"]["reverse"] = True
    assert configure(forwards) == configure(backwards)
    assert not configure(backwards).model.decoder.attends


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("reversal")
    return folder, measure(Bench(folder, seed=4), TOY)


def test_perplexity_and_surprise_are_those_of_forced_decoding(found: tuple[Path, Any]) -> None:
    folder, finding = found
    model = finding.numbers["ways"]["backwards"][1]
    test = Microworld().splits(train=200, valid=200, test=12, seed=4, longest=6).test
    read = Translator.load(folder / "models" / "backwards-5").align(
        [e.source for e in test], [e.target for e in test]
    )
    # the chain rule: a line's log-probability is the sum over its words, EOS among them
    words = sum(len(e.target.split()) + 1 for e in test)
    assert model["perplexity"] == pytest.approx(math.exp(-sum(each.log_prob for each in read) / words))
    assert model["surprise"][0] == pytest.approx(-sum(each.token_log_probs[0] for each in read) / len(read))


def test_seeds_and_ways_make_different_models(found: tuple[Path, Any]) -> None:
    _, finding = found
    assert finding.numbers["seeds"] == [4, 5]
    perplexities = [model["perplexity"] for way in finding.numbers["ways"].values() for model in way]
    assert len(set(perplexities)) == 4


def test_what_is_found_can_be_written_and_drawn(found: tuple[Path, Any]) -> None:
    _, finding = found
    json.dumps(finding.numbers)
    assert [drawing.name for drawing in finding.figures] == ["bars", "places"]
    curves = finding.figures[1].figure.axes[0].lines[:2]
    drawn = [list(line.get_ydata()) for line in curves]
    for way, line in zip(("forwards", "backwards"), drawn, strict=True):
        models = finding.numbers["ways"][way]
        assert line == pytest.approx(
            [sum(each) / 2 for each in zip(*(m["surprise"] for m in models), strict=True)]
        )
    assert len(finding.tables[0].rows) == 4
    assert EXPERIMENT.name == "reversal"


def test_by_hand() -> None:
    """Of three words read forwards, the first waits for two words, EOS and the writing of its own."""
    links = [(2, 1), (0, 0), (1, 2)]
    assert lags(links, 3, reverse=False) == [4, 3, 5]
    assert lags(links, 3, reverse=True) == [1, 4, 4]


@given(st.integers(1, 40))
def test_in_order_every_lag_is_the_same_forwards_and_grows_backwards(words: int) -> None:
    """The mean is the same but for EOS, which is the paper's point: only the least lag shrinks."""
    links = [(i, i) for i in range(words)]
    there, back = lags(links, words, reverse=False), lags(links, words, reverse=True)
    assert there == [words + 1] * words
    assert back == list(range(1, 2 * words, 2))
    assert sum(there) - sum(back) == words


@given(st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11))))
def test_reading_the_mirrored_source_backwards_is_reading_it_forwards(links: set[tuple[int, int]]) -> None:
    """But for EOS, which is read last forwards and first backwards."""
    mirrored = [(11 - j, i) for j, i in links]
    there = lags(links, 12, reverse=False)
    assert sorted(there) == sorted(lag + 1 for lag in lags(mirrored, 12, reverse=True))


def test_the_mean_lag_hardly_changes_and_the_least_does() -> None:
    """Each sentence's own lags, counted link by link."""
    examples = Microworld().splits(train=0, valid=0, test=40, seed=2, longest=10).test
    there, back = mean_lags(examples, reverse=False), mean_lags(examples, reverse=True)
    counted = [
        [len(e.source.split()) - j + i + 1 for j, i in e.gold.sure]
        for e in examples
        if e.gold and e.gold.sure
    ]
    assert there["mean"] == pytest.approx(sum(map(sum, counted)) / sum(map(len, counted)))
    assert there["least"] == pytest.approx(sum(map(min, counted)) / len(counted))
    assert abs(there["mean"] - back["mean"]) < 2
    assert back["least"] < there["least"] / 2


def test_a_pair_without_sure_links_is_passed_over() -> None:
    linked, bare = (
        Example("a b", "x y", GoldLinks(frozenset({(0, 1), (1, 0)}))),
        Example("a", "x", GoldLinks(frozenset())),
    )
    assert mean_lags([linked, bare], reverse=True) == {"mean": 2.0, "least": 2.0}
    assert mean_lags([linked, bare], reverse=False) == {"mean": 3.0, "least": 2.0}
