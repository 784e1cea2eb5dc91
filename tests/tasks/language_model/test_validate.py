"""Validation of a language model: of a uniform one, whose every score is known, and in parts."""

import math
from dataclasses import replace

import pytest
import torch

from regard.tasks.language_model.task import (
    measure_language_model,
    sentence_batches,
    summarize_language_model,
    validation_stream,
)
from regard.text import EncodedLine, encode_lines, train_tokenizer

CPU = torch.device("cpu")


def validated(task, batches, lines):
    return summarize_language_model(measure_language_model(task.model, batches, device=CPU), lines)


@pytest.mark.parametrize(("count", "streams"), [(1, 1), (1999, 1), (2000, 2), (9999, 9), (50_000, 10)])
def test_few_streams_and_none_of_them_short(count, streams):
    [line] = encode_lines([" ".join(["a"] * (count - 1))], train_tokenizer("word", ["a"], size=5))
    stream = validation_stream([line])
    assert len(stream[0].mask) == streams
    assert sum(int(stream[k].mask.sum()) for k in range(len(stream))) == count, "no token is left out"


def test_lines_are_each_read_once(lm_task, lines):
    encoded = lm_task(lines(20), lines(30, seed=1)).prepared.valid
    batches = list(sentence_batches(encoded, 4, 20))
    assert sum(len(batch.mask) for batch in batches) == 30
    assert all(len(batch.mask) <= 4 and batch.mask.numel() <= 20 for batch in batches)
    found = sorted(
        tuple(ids[mask].tolist())
        for batch in batches
        for ids, mask in zip(batch.target_ids, batch.mask, strict=True)
    )
    one_by_one = [next(iter(sentence_batches([line], 1, 99))) for line in encoded]
    assert found == sorted(tuple(batch.target_ids[0].tolist()) for batch in one_by_one)


@pytest.mark.parametrize("kind", ["word", "char"])
def test_a_uniform_model(lm_task, lines, kind):
    """Every token is one of V alike; the text's words and characters are counted with the ends of its lines."""
    text = lines(15, seed=1)
    task = lm_task(lines(20), text, tokenizer={"text": kind})
    with torch.no_grad():
        for parameter in task.model.parameters():
            parameter.zero_()
    encoded: list[EncodedLine] = task.prepared.valid
    found = validated(task, sentence_batches(encoded, 4, 100), encoded)
    V = task.sizes["text"]
    num_words = sum(len(line.split()) + 1 for line in text)
    num_characters = sum(len(line) + 1 for line in text)
    num_tokens = num_words if kind == "word" else num_characters
    assert found.loss == pytest.approx(math.log(V), rel=1e-5)
    assert found.scores["perplexity"] == pytest.approx(V, rel=1e-5)
    assert found.scores["bits_per_character"] == pytest.approx(
        num_tokens * math.log2(V) / num_characters, rel=1e-5
    )
    if kind == "char":
        assert found.scores["word_perplexity"] == pytest.approx(V ** (num_tokens / num_words), rel=1e-4)


def test_the_state_is_carried_only_into_windows_that_continue(lm_task, lines):
    task = lm_task(lines(20), lines(60, seed=1))
    with torch.no_grad():
        for parameter in task.model.parameters():
            parameter.uniform_(-2, 2)  # so that what was read is felt
    encoded = task.prepared.valid
    batches = [next(iter(sentence_batches([line], 1, 99))) for line in encoded]
    alone = validated(task, batches, encoded)
    backwards = validated(task, batches[::-1], encoded)
    windows = [replace(batch, continues=k > 0) for k, batch in enumerate(batches)]
    carried = validated(task, windows, encoded)
    assert backwards.loss == pytest.approx(alone.loss, rel=1e-6)
    assert carried.loss != pytest.approx(alone.loss, rel=1e-4)
