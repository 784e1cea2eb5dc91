"""Validation of generated text with every number known: a model that predicts what its batch says."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from regard.errors import ConfigError
from regard.tasks.base import Validation
from regard.tasks.generation import (
    check_selection,
    line_unit,
    measure_generation,
    summarize_generation,
    token_unit,
    unit_of_lines,
)
from regard.tasks.translate.config import TranslateRun
from regard.text import train_tokenizer

TOKENIZER = train_tokenizer("word", ["a b c d"], size=8)
REFERENCES = ["a b", "c", "d d d"]
WANTED = TOKENIZER.encode_batch(REFERENCES)
P = 0.9  # of the word it says


class Scripted(nn.Module):
    """Predicts the words of its batch with probability P each, and records its mode."""

    def __init__(self):
        super().__init__()
        self.modes = []

    def forward(self, batch):
        self.modes.append(self.training)
        rest = (1 - P) / (TOKENIZER.size - 1)
        probabilities = torch.full((len(batch.said), TOKENIZER.size), rest)
        probabilities[torch.arange(len(batch.said)), batch.said] = P
        return SimpleNamespace(logits=probabilities.log())


def validated(said, written, free_running=2, model=None, select="loss"):
    """Validate with what is said for each token, teacher-forced, and what is written freely."""
    calls = []

    def batches(members):
        calls.append(list(members))
        for k in members:
            ids = torch.tensor([[*WANTED[k], 0]])
            mask = torch.tensor([[True] * len(WANTED[k]) + [False]])  # padding is not predicted
            yield SimpleNamespace(target_ids=ids, target_mask=mask, said=torch.tensor(said[k]))

    def generate(members):
        calls.append(list(members))
        return [written[k] for k in members]

    measured = measure_generation(
        model or Scripted(),
        batches=batches,
        generate=generate,
        num_examples=len(REFERENCES),
        free_running=free_running,
    )
    found = summarize_generation(
        [measured], TOKENIZER, references=REFERENCES, reference_ids=WANTED, select=select
    )
    return found, calls


def test_all_right():
    found, calls = validated(WANTED, REFERENCES, free_running=99)
    assert calls == [[0, 1, 2], [], [0, 1, 2]]
    assert found.loss == pytest.approx(-math.log(P), rel=1e-5)
    assert found.scores["perplexity"] == pytest.approx(1 / P, rel=1e-5)
    names = ("token_accuracy", "free_running_accuracy", "exposure_gap", "exact_match", "wer", "per")
    assert [found.scores[name] for name in names] == [1, 1, 0, 1, 0, 0]
    assert found.scores["chrf"] == pytest.approx(100)


def test_the_loss_is_of_all_and_the_gap_of_those_written_freely():
    """Of 6 tokens 3 are right, of the 3 written freely 2; a word too many and a wrong one are 2 edits."""
    wrong = [[WANTED[0][0], WANTED[1][0]], WANTED[1], [WANTED[2][0], *WANTED[0]]]
    found, calls = validated(wrong, ["a b b", "d", None])
    assert calls == [[0, 1], [2], [0, 1]]
    rest = (1 - P) / (TOKENIZER.size - 1)
    assert found.loss == pytest.approx(-(3 * math.log(P) + 3 * math.log(rest)) / 6, rel=1e-5)
    assert found.scores["token_accuracy"] == pytest.approx(3 / 6)
    assert found.scores["free_running_accuracy"] == pytest.approx(1 - 2 / 3)
    assert found.scores["exposure_gap"] == pytest.approx(2 / 3 - 1 / 3)
    assert found.scores["exact_match"] == 0


def test_no_accuracy_falls_below_none():
    found, _ = validated(WANTED, ["d " * 50, "d " * 50, None])
    assert found.scores["free_running_accuracy"] == 0
    assert found.scores["exposure_gap"] == 1


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_off_during_validation(training):
    model = Scripted().train(training)
    validated(WANTED, REFERENCES, model=model)
    assert model.modes == [False] * 3
    assert model.training is training


@pytest.mark.parametrize(
    ("tokenizer", "unit"),
    [
        (train_tokenizer("char", ["two words"], size=30), "characters"),
        (train_tokenizer("word", ["K AE1 T", "d͡ʒː ɔ ɪ", "t͡sˤʼ ʃʷʼ"], size=30), "symbols"),
        (train_tokenizer("word", ["a cat sleeps"], size=30), "words"),
        (train_tokenizer("bpe", ["a b", "ab ba"], size=30), "words"),
    ],
)
def test_what_a_target_consists_of(tokenizer, unit):
    assert token_unit(tokenizer) == unit
    assert line_unit(tokenizer, ["word", "two words"]) == unit
    running = ["a line of running text", "and another one"]
    assert line_unit(tokenizer, running) == ("words" if unit == "characters" else unit)


@pytest.mark.parametrize(
    ("lines", "unit"),
    [
        (["K AE1 T", "d͡ʒː ɔ ɪ"], "symbols"),
        (["cat", "dogs"], "characters"),
        (["hatte gesehen", "ging", "sah"], "characters"),
        (["a", "b"], "characters"),
        (["a cat sleeps"], "words"),
        (["x" * 41], "words"),
    ],
)
def test_what_lines_consist_of(lines, unit):
    assert unit_of_lines(lines) == unit


def test_the_selecting_score_is_always_computed():
    """The first to look at come first; what is not reported of such text is there if the run selects by it."""
    found, _ = validated(WANTED, REFERENCES)
    assert list(found.scores)[:3] == ["wer", "per", "exact_match"]
    assert "ter" not in found.scores
    found, _ = validated(WANTED, REFERENCES, select="ter")
    assert found.scores["ter"] == 0


def test_error_rates_of_phones_are_selected_for_phones_only():
    """WER and PER are reported where they mean something, and naming them elsewhere is an error before training."""
    check_selection("per", TOKENIZER)
    words = train_tokenizer("word", ["a cat sleeps"], size=30)
    check_selection("bleu", words)
    with pytest.raises(
        ConfigError, match=r"training\.select = 'wer': WER is for a target of phones or characters"
    ):
        check_selection("wer", words)
    assert {"loss", "wer", "per"} <= set(TranslateRun.selections())
    assert "ter" not in TranslateRun.selections()


def test_the_better_validation_by_direction_and_by_loss_at_a_tie():
    one = Validation(1.0, {"per": 0.5, "bleu": 3.0})
    other = Validation(2.0, {"per": 0.25, "bleu": 3.0})
    assert other.better_than(one, "per")
    assert not one.better_than(other, "per")
    assert one.better_than(other, "bleu"), "a tie goes to the lower loss"
    assert not other.better_than(one, "bleu")
    assert not one.better_than(one, "loss")
