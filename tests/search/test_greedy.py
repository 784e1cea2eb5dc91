"""Greedy search, a beam of one, along scripts written by hand."""

import math

import numpy as np
import pytest

from regard.search.beam import search
from regard.search.options import SearchOptions
from regard.text.specials import BOS, EOS, PAD

A, B, C = 4, 5, 6


def greedy(decoder, encoded, **options):
    return [each.best for each in search(decoder, encoded, SearchOptions(1, **options))]


def test_the_most_probable_word_at_each_step_even_where_another_path_is_more_probable(scripted):
    script = {
        (): {A: 0.6, B: 0.4},
        (A,): {A: 0.5, EOS: 0.3, C: 0.2},
        (A, A): {EOS: 0.9, A: 0.1},
        (B,): {EOS: 1.0},
    }
    decoder = scripted([script])
    (found,) = greedy(decoder, decoder.encode([3]))
    assert found.ids == (A, A, EOS)
    assert found.log_prob == pytest.approx(math.log(0.6 * 0.5 * 0.9))
    assert found.token_log_probs == pytest.approx([math.log(0.6), math.log(0.5), math.log(0.9)])
    assert found.score == pytest.approx(found.log_prob / 3)


def test_the_score_is_under_the_length_penalty(scripted):
    decoder = scripted([{(): {A: 0.6, EOS: 0.4}}])
    for power in (0.0, 0.6, 1.0):
        (found,) = greedy(decoder, decoder.encode([1]), length_power=power)
        assert found.score == pytest.approx(math.log(0.6) / 2**power)


def test_padding_and_the_begin_mark_are_never_chosen(scripted):
    decoder = scripted([{(): {PAD: 0.5, BOS: 0.4, B: 0.1}}])
    (found,) = greedy(decoder, decoder.encode([2]))
    assert found.ids == (B, EOS)
    assert found.log_prob == pytest.approx(math.log(0.1)), "what may not be chosen keeps its probability"


ENDLESS = {tuple([A] * k): {A: 0.9, EOS: 0.1} for k in range(40)}


@pytest.mark.parametrize(("ratio", "extra", "tokens"), [(0, 1, [1, 1]), (0, 4, [4, 4]), (1.5, 2, [3, 6])])
def test_each_sentence_ends_at_its_own_limit(ratio, extra, tokens, scripted):
    """Sources of one and three words and EOS; at the last step only EOS may be chosen."""
    decoder = scripted([ENDLESS, ENDLESS])
    found = greedy(decoder, decoder.encode([2, 4]), max_ratio=ratio, max_extra=extra)
    assert [len(one.ids) for one in found] == tokens
    for one in found:
        assert one.ids[-1] == EOS
        assert EOS not in one.ids[:-1]
        assert one.log_prob == pytest.approx((len(one.ids) - 1) * math.log(0.9) + math.log(0.1))


def test_finished_sentences_leave_the_batch_and_disturb_nobody(scripted):
    scripts = [
        {(): {EOS: 1.0}},
        {(): {A: 1.0}, (A,): {B: 0.7, C: 0.3}, (A, B): {C: 1.0}},
        {(): {B: 1.0}},
    ]
    decoder = scripted(scripts)
    together = greedy(decoder, decoder.encode([2, 5, 3]))
    assert decoder.steps == [3, 2, 1, 1]
    assert [one.ids for one in together] == [(EOS,), (A, B, C, EOS), (B, EOS)]
    for script, length, one in zip(scripts, [2, 5, 3], together, strict=True):
        alone_decoder = scripted([script])
        (alone,) = greedy(alone_decoder, alone_decoder.encode([length]))
        assert (alone.ids, alone.log_prob) == (one.ids, one.log_prob)
        assert np.array_equal(alone.alpha, one.alpha)
        assert one.alpha.shape == (len(one.ids), length)
    # the script's attention reads one source word after another, then stays at the last of the batch
    assert together[1].alpha.argmax(axis=1).tolist() == [0, 1, 2, 3]
