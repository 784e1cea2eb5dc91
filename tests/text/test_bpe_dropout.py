"""BPE-dropout: the same text in other pieces, the tokenizer's own at p = 0, characters at p = 1."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.text import EOS, UNK, BPEDropout, train_tokenizer
from regard.text.bpe_dropout import NUM_SAMPLES

LINES = [
    "low lower lowest new newer newest wide wider widest",
    "the lowest of the new ones is the widest",
] * 5
TOKENIZER = train_tokenizer("bpe", LINES, size=70)
HALF = BPEDropout(TOKENIZER, 0.5, seed=1)
words = ["low", "lower", "newest", "widest", "the", "thewide", "ones", "of", "♥", "x♥low"]
text = st.lists(st.sampled_from(words)).map(" ".join)


@given(text, st.integers())
@settings(deadline=None)
def test_the_text_stays_and_unknown_stretches_too(line, seed):
    ids = TOKENIZER.encode(line)
    sampled = HALF.sample(ids, random.Random(seed))
    assert TOKENIZER.decode(sampled) == TOKENIZER.decode(ids)
    assert sampled.count(UNK) == ids.count(UNK)


@given(text)
@settings(deadline=None)
def test_without_dropout_pieces_are_the_tokenizers_own(line):
    ids = TOKENIZER.encode(line)
    assert BPEDropout(TOKENIZER, 0.0, seed=1).sample(ids, random.Random(1)) == ids


def test_with_all_merges_left_out_words_are_characters():
    sampled = BPEDropout(TOKENIZER, 1.0, seed=1).sample(TOKENIZER.encode("the lowest"), random.Random(1))
    assert TOKENIZER.tokens(sampled) == list("▁the▁lowest")


def test_samples_depend_on_the_seed_and_the_word_alone():
    ids = TOKENIZER.encode("lowest widest")
    other_order = BPEDropout(TOKENIZER, 0.5, seed=1)
    other_order.sample(TOKENIZER.encode("widest newest"), random.Random(9))
    assert other_order.sample(ids, random.Random(3)) == HALF.sample(ids, random.Random(3))
    drawn = [BPEDropout(TOKENIZER, 0.5, seed=2).sample(ids, random.Random(k)) for k in range(9)]
    assert drawn != [HALF.sample(ids, random.Random(k)) for k in range(9)]


def test_segmentations_have_the_probabilities_of_the_algorithm():
    """With one merge, a pair is merged with probability 1 − p: checked against the samples of many seeds."""
    tokenizer = train_tokenizer("bpe", ["ab ab"], size=8)  # the specials, ▁, a, b and one merge
    assert len(tokenizer.merges()) == 1
    ids = tokenizer.encode("ab")
    counts = Counter(
        len(BPEDropout(tokenizer, 0.3, seed).sample(ids, random.Random(k)))
        for seed in range(40)
        for k in range(50)
    )
    split = counts[3] / counts.total()
    assert counts.keys() == {2, 3}
    assert split == pytest.approx(0.3, abs=0.06)  # 40 · 64 samples behind it: three deviations are 0.03


def test_specials_and_features_stay():
    tokenizer = TOKENIZER.with_features(["PST", "SG"])
    feature = tokenizer.size - 1
    ids = [*tokenizer.encode("lowest"), feature, UNK, EOS]
    sampled = BPEDropout(tokenizer, 1.0, seed=1).sample(ids, random.Random(1))
    assert sampled[-3:] == [feature, UNK, EOS]
    assert len(sampled) == len("▁lowest") + 3


def test_every_reading_chooses_among_many():
    ids = TOKENIZER.encode("lowest")
    rng = random.Random(1)
    seen = {tuple(HALF.sample(ids, rng)) for _ in range(20 * NUM_SAMPLES)}
    assert len(seen) > 5


def test_other_kinds_are_refused():
    with pytest.raises(ConfigError, match="kind 'word'"):
        BPEDropout(train_tokenizer("word", LINES, size=20), 0.1, seed=1)
