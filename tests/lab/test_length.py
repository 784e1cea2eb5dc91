"""The experiment on length: its bands, its four models, its verdict."""

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from math import exp
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from regard.datasets import Example
from regard.datasets.microworld import Microworld
from regard.evaluation import measure_quality as score
from regard.lab.length import (
    BOUNDS,
    EXPERIMENT,
    REGISTERED,
    LengthSizes,
    _config,
    kept_bleu,
    length_bands,
    length_kept,
    measure,
    verdict,
    write_remarks,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.translate.predictor import Translator
from regard.training.configure import configure

TOY = LengthSizes(
    300,
    short=6,
    long=12,
    longest=24,
    width=6,
    test=6,
    units=12,
    batch_words=100,
    updates=25,
    learning_rate=0.02,
    seeds=2,
)


def made_up(encdec: tuple[float, float], search: tuple[float, float]) -> dict[str, Any]:
    """Numbers of four models that keep so many of 50 BLEU, trained on short and on long sentences."""
    models = {}
    for kind, shares in (("RNNencdec", encdec), ("RNNsearch", search)):
        for longest, share in zip((15, 30), shares, strict=True):
            models[f"{kind}-{longest}"] = {
                "longest": longest,
                "bands": [{"lower": 3, "upper": 5, "bleu": 60.0}],
                "short": {"bleu": 50.0},
                "beyond": {"bleu": share / 2},
            }
    return {"models": models}


def judged(numbers: dict[str, Any]) -> Any:
    """The verdict on two seeds with the same numbers."""
    return verdict([numbers["models"]] * 2)


def test_bands_touch_and_the_training_lengths_are_edges() -> None:
    for sizes in (REGISTERED.usual, REGISTERED.full, TOY):
        bands = length_bands(sizes)
        assert bands[0][0] == 3
        assert bands[-1][1] == sizes.longest
        assert all(low == before + 1 for (_, before), (low, _) in pairwise(bands))
        assert {sizes.short, sizes.long, 2 * sizes.short, 2 * sizes.long} <= {high for _, high in bands}


@pytest.mark.parametrize(
    ("encdec", "search", "word"),
    [
        ((20, 49), (80, 95), HELD),
        ((20, 49), (79, 95), IN_PART),
        ((20, 51), (80, 95), IN_PART),
        ((90, 90), (30, 40), NOT_SEEN),
    ],
)
def test_the_verdict_follows_from_what_is_kept(
    encdec: tuple[float, float], search: tuple[float, float], word: str
) -> None:
    assert judged(made_up(encdec, search)).word == word


def test_the_verdict_names_the_lengths_and_the_bounds() -> None:
    checks = judged(made_up((20, 40), (85, 90))).checks
    assert [check.what for check in checks] == [
        "BLEU kept at 16–30 words, RNNencdec-15",
        "BLEU kept at 31–60 words, RNNencdec-30",
        "BLEU kept at 16–30 words, RNNsearch-15",
        "BLEU kept at 31–60 words, RNNsearch-30",
    ]
    assert [(check.value, check.relation, check.bound) for check in checks] == [
        (20.0, "at most", 50.0),
        (40.0, "at most", 50.0),
        (85.0, "at least", 80.0),
        (90.0, "at least", 80.0),
    ]


@pytest.mark.parametrize(
    ("shares", "failing"), [((85, 90), []), ((79, 80), ["-15"]), ((20, 30), ["-15", "-30"])]
)
def test_only_models_that_fail_are_remarked_on(shares: tuple[float, float], failing: list[str]) -> None:
    numbers = {**made_up((20, 20), shares), "short": 15, "long": 30}
    for model in numbers["models"].values():
        model["beyond"]["length_ratio"] = 0.5
        model |= {"bands": [{"lower": 56, "upper": 60, "bleu": 40.0}], "thirds": [70.0, 60.0, 50.0]}
    remarks = write_remarks(numbers)
    assert len(remarks) == 2 + bool(failing)
    if failing:
        assert [name for name in ("-15", "-30") if f"RNNsearch{name} writes 0.50" in remarks[0]] == failing
        assert "counting from" not in remarks[0]
        for model in numbers["models"].values():
            model["thirds"] = [50.0, 60.0, 70.0]
        assert "counting from the sentence's end" in write_remarks(numbers)[0]


def test_of_nothing_nothing_is_kept_and_no_claim_holds() -> None:
    numbers = made_up((20, 20), (90, 90))
    for model in numbers["models"].values():
        model["short"]["bleu"] = 0.0
    assert judged(numbers).word == NOT_SEEN


def test_a_model_that_has_not_learned_short_sentences_does_not_count() -> None:
    numbers = made_up((20, 20), (90, 90))
    numbers["models"]["RNNencdec-15"]["bands"][0]["bleu"] = 59.0
    assert [check.outcome for check in judged(numbers).checks] == ["not decided", "yes", "yes", "yes"]
    for model in numbers["models"].values():
        model["bands"][0]["bleu"] = 59.0
    assert judged(numbers).word == NOT_DECIDED
    assert "BLEU of RNNencdec-15 at 3–5 words is 59, and must be at least 60" in judged(numbers).undecided[0]


def test_the_models_differ_in_attention_and_share_the_rest() -> None:
    search, encdec = (configure(_config(kind, REGISTERED.usual)) for kind in ("RNNsearch", "RNNencdec"))
    assert search.training == encdec.training
    assert search.tokenizer == encdec.tokenizer
    assert (search.model.decoder.kind, encdec.model.decoder.kind) == ("bahdanau", "cho")
    assert search.model.encoder.bidirectional
    assert not encdec.model.encoder.bidirectional
    # what the decoder gets of the source is as wide, and so is the decoder
    assert (
        search.model.encoder.annotation_size
        == encdec.model.encoder.annotation_size
        == 2 * REGISTERED.usual.units
    )
    assert search.model.decoder.state_size == encdec.model.decoder.state_size


def drawn(low: int, high: int) -> Sequence[Example]:
    """The test sentences of a band of the toy."""
    return Microworld().splits(train=0, valid=0, test=TOY.test, seed=3, shortest=low, longest=high).test


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("length")
    return folder, measure(Bench(folder, seed=3), TOY)


def test_each_number_is_that_of_a_translator_asked_again(found: tuple[Path, Any]) -> None:
    """BLEU and likely words of one model, from its folder and sentences drawn anew."""
    folder, finding = found
    model = finding.numbers["runs"][1]["RNNsearch-6"]
    translator = Translator.load(folder / "models" / "RNNsearch-6-4")
    for band, (low, high) in zip(model["bands"], length_bands(TOY), strict=True):
        examples = drawn(low, high)
        assert all(low <= len(e.source.split()) <= high for e in examples)
        sources, targets = [e.source for e in examples], [e.target for e in examples]
        output = [t.text for t in translator.translate(sources, beam=1)]
        assert band["bleu"] == pytest.approx(score(output, targets, tokenize="none")["bleu"])
        log_probs = [p for t in translator.align(sources, targets) for p in t.token_log_probs]
        assert band["likely"] == pytest.approx(100 * sum(exp(p) > 0.5 for p in log_probs) / len(log_probs))
    assert model["bands"][0]["likely"] > 0


class Remembers:
    """Stands for a translator: it writes the first words of each reference, and is sure of these alone."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.model = SimpleNamespace(num_parameters=0)
        self.references = {e.source: e.target for band in length_bands(TOY) for e in drawn(*band)}

    def translate(self, sources: Sequence[str], *, beam: int) -> list[Any]:
        assert beam == 1
        return [SimpleNamespace(text=" ".join(self.references[s].split()[: self.words])) for s in sources]

    def align(self, sources: Sequence[str], targets: Sequence[str]) -> list[Any]:
        assert [self.references[s] for s in sources] == list(targets)
        sure = [[-0.1 if i < self.words else -0.7 for i in range(len(t.split()))] for t in targets]
        return [SimpleNamespace(token_log_probs=row) for row in sure]


def test_one_that_remembers_a_few_words_loses_and_one_that_remembers_all_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an output that is right as far as it goes BLEU is exp(1 − r/c), by hand."""
    monkeypatch.setattr(Bench, "train", lambda self, name, *_, seed: name.removesuffix(f"-{seed}"))
    memories = {"RNNencdec-6": 4, "RNNencdec-12": 6, "RNNsearch-6": 99, "RNNsearch-12": 99}
    monkeypatch.setattr(Translator, "load", lambda name: Remembers(memories[name]))
    finding = measure(Bench(tmp_path, seed=3), TOY)
    models = finding.numbers["models"]
    for name, spans in (("RNNencdec-6", [(7, 12)]), ("RNNencdec-12", [(13, 18), (19, 24)])):
        due = [len(e.target.split()) for span in spans for e in drawn(*span)]
        ratio = sum(min(length, memories[name]) for length in due) / sum(due)
        beyond = models[name]["beyond"]
        assert beyond["length_ratio"] == pytest.approx(ratio)
        assert beyond["bleu"] == pytest.approx(100 * exp(1 - 1 / ratio))
        assert beyond["sentences"] == len(due)
        # what is remembered are the first words; of the last third none
        assert models[name]["thirds"][0] > 75
        assert models[name]["thirds"][2] == 0
        assert kept_bleu(models[name]) == pytest.approx(100 * beyond["bleu"] / models[name]["short"]["bleu"])
    assert kept_bleu(models["RNNsearch-6"]) == kept_bleu(models["RNNsearch-12"]) == pytest.approx(100)
    assert models["RNNsearch-12"]["thirds"] == [100, 100, 100]
    reached = [row[4] for row in finding.tables[0].rows]
    assert reached == [f"{length_kept(model, BOUNDS['kept']):.0f}" for model in models.values()]
    assert int(reached[0]) < int(reached[3]) == TOY.longest
    assert finding.verdict.word == HELD


def test_the_four_models_learn_from_their_own_lengths(found: tuple[Path, Any]) -> None:
    _, finding = found
    models = finding.numbers["models"]
    assert list(models) == ["RNNencdec-6", "RNNencdec-12", "RNNsearch-6", "RNNsearch-12"]
    pairs = Microworld().splits(train=300, valid=1, test=0, seed=3, longest=12).train
    assert models["RNNencdec-12"]["pairs"] == models["RNNsearch-12"]["pairs"] == 300
    few = sum(len(example.source.split()) <= 6 for example in pairs)
    assert models["RNNencdec-6"]["pairs"] == models["RNNsearch-6"]["pairs"] == few
    assert models["RNNsearch-12"]["beyond"]["sentences"] == 2 * TOY.test


def test_what_is_found_can_be_written_and_drawn(found: tuple[Path, Any]) -> None:
    _, finding = found
    assert len(finding.figures[0].figure.axes) == 2
    assert all(len(axes.lines) == 4 + 2 for axes in finding.figures[0].figure.axes)  # curves and marks
    json.dumps(finding.numbers, allow_nan=True)
    share = f"{kept_bleu(finding.numbers['models']['RNNsearch-12']):.0f} %"
    assert finding.tables[0].rows[3][3] == share
    assert EXPERIMENT.name == "length"


def test_kept_is_a_share_of_the_models_own_height() -> None:
    assert kept_bleu({"short": {"bleu": 40.0}, "beyond": {"bleu": 30.0}}) == pytest.approx(75)
    assert math.isnan(kept_bleu({"short": {"bleu": 0.0}, "beyond": {"bleu": 30.0}}))


def test_reach_ends_before_the_first_band_that_falls() -> None:
    heights = {10: 50.0, 20: 40.0, 30: 39.9, 40: 50.0}
    bands = [{"upper": upper, "bleu": bleu} for upper, bleu in heights.items()]
    assert length_kept({"short": {"bleu": 50.0}, "bands": bands}, 80) == 20
    assert length_kept({"short": {"bleu": 90.0}, "bands": bands}, 80) == 0
    assert length_kept({"short": {"bleu": 50.0}, "bands": bands}, 79) == 40
