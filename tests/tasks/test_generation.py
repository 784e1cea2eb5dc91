"""The validation of what writes, with every number known beforehand: a model that says what its batch tells it to."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from regard.tasks.generation import validate_generation
from regard.text import learn

TOKENIZER = learn("word", ["a b c d"], size=8)
REFERENCES = ["a b", "c", "d d d"]
WANTED = TOKENIZER.encode_batch(REFERENCES)
P = 0.9  # of the word it says


class Told(nn.Module):
    """Says the words of its batch with probability P each, and notes the mode it is in."""

    def __init__(self):
        super().__init__()
        self.modes = []

    def forward(self, batch):
        self.modes.append(self.training)
        rest = (1 - P) / (TOKENIZER.size - 1)
        probabilities = torch.full((len(batch.said), TOKENIZER.size), rest)
        probabilities[torch.arange(len(batch.said)), batch.said] = P
        return SimpleNamespace(logits=probabilities.log())


def validated(said, written, free_running=2, model=None):
    """Validate with what is said for each token, teacher-forced, and what is written freely."""
    asked = []

    def batches(members):
        asked.append(list(members))
        for k in members:
            ids = torch.tensor([[*WANTED[k], 0]])
            mask = torch.tensor([[True] * len(WANTED[k]) + [False]])  # padding is no prediction
            yield SimpleNamespace(target_ids=ids, target_mask=mask, said=torch.tensor(said[k]))

    def write(members):
        asked.append(list(members))
        return [written[k] for k in members]

    found = validate_generation(
        model or Told(),
        TOKENIZER,
        batches=batches,
        write=write,
        references=REFERENCES,
        wanted=WANTED,
        free_running=free_running,
    )
    return found, asked


def test_all_right():
    found, asked = validated(WANTED, REFERENCES, free_running=99)
    assert asked == [[0, 1, 2], [], [0, 1, 2]]
    assert found.loss == pytest.approx(-math.log(P), rel=1e-5)
    assert found.perplexity == pytest.approx(1 / P, rel=1e-5)
    assert (found.token_accuracy, found.free_running_accuracy, found.exposure_gap, found.exact_match) == (
        1,
        1,
        0,
        1,
    )
    assert found.chrf == pytest.approx(100)


def test_the_loss_is_of_all_and_the_gap_of_those_written_freely():
    """Of 6 tokens 3 are right, of the 3 written freely 2; a word too many and a wrong one are 2 edits."""
    wrong = [[WANTED[0][0], WANTED[1][0]], WANTED[1], [WANTED[2][0], *WANTED[0]]]
    found, asked = validated(wrong, ["a b b", "d", None])
    assert asked == [[0, 1], [2], [0, 1]]
    rest = (1 - P) / (TOKENIZER.size - 1)
    assert found.loss == pytest.approx(-(3 * math.log(P) + 3 * math.log(rest)) / 6, rel=1e-5)
    assert found.token_accuracy == pytest.approx(3 / 6)
    assert found.free_running_accuracy == pytest.approx(1 - 2 / 3)
    assert found.exposure_gap == pytest.approx(2 / 3 - 1 / 3)
    assert found.exact_match == 0


def test_no_accuracy_falls_below_none():
    found, _ = validated(WANTED, ["d " * 50, "d " * 50, None])
    assert found.free_running_accuracy == 0
    assert found.exposure_gap == 1


@pytest.mark.parametrize("training", [True, False])
def test_dropout_sleeps_for_the_while(training):
    model = Told().train(training)
    validated(WANTED, REFERENCES, model=model)
    assert model.modes == [False] * 3
    assert model.training is training
