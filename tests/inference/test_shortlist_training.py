import numpy as np
import pytest

from regard.batches import pad_pairs
from regard.errors import ConfigError, DataError
from regard.inference.shortlist import train_shortlist
from regard.search.forced import decode_forced
from regard.text import EOS, EncodedPair

PAIRS = [
    EncodedPair([4, 5, 6], [8, 7]),
    EncodedPair([], [4]),
    EncodedPair([5], [6, 6, 4]),
    EncodedPair([7, 8], [5]),
    EncodedPair([4], []),
    EncodedPair([6, 6, 8, 4], [4, 8, 8]),
]


@pytest.fixture
def model(tiny_model):
    return tiny_model("bahdanau")


def plainly(model, least=0.1):
    """Σ alpha between words, pair by pair and cell by cell."""
    mass = {}
    for pair in PAIRS:
        if not (pair.source_ids and pair.target_ids):
            continue
        (read,) = decode_forced(model, pad_pairs([pair]))
        for i, target in enumerate(pair.target_ids):
            for j, source in enumerate([*pair.source_ids, EOS]):
                if read.alpha[i, j] >= least:
                    mass[source, target] = mass.get((source, target), 0.0) + float(read.alpha[i, j])
    return mass


def own(shortlist, source):
    return shortlist.words[shortlist.offsets[source] : shortlist.offsets[source + 1]].tolist()


@pytest.mark.parametrize("per_word", [1, 2, 50])
def test_each_source_word_has_the_words_that_looked_at_it_most(model, per_word):
    mass = plainly(model)
    made = train_shortlist(model, PAIRS, 9, 9, per_word=per_word, frequent=0, batch_sentences=2)
    assert made.source_size == 9
    for source in range(9):
        ranked = sorted((-weight, target) for (s, target), weight in mass.items() if s == source)
        assert own(made, source) == [target for _, target in ranked[:per_word]]
    assert made.facts == {"pairs": 4, "per_word": per_word, "frequent": 0}


def test_the_most_frequent_words_are_everyone_s(model):
    counts = np.bincount([w for p in PAIRS if p.source_ids for w in p.target_ids], minlength=9)
    wanted = sorted(sorted(range(9), key=lambda w: (-counts[w], w))[:2])
    assert train_shortlist(model, PAIRS, 9, 9, frequent=2).frequent.tolist() == wanted
    everyone = train_shortlist(model, PAIRS, 9, 9, frequent=99).frequent.tolist()
    assert everyone == np.flatnonzero(counts).tolist(), "words that were never met are nobody's"


def test_batches_change_nothing(model):
    one, other = (train_shortlist(model, PAIRS, 9, 9, batch_sentences=size) for size in (1, 64))
    assert one.words.tolist() == other.words.tolist()
    assert one.offsets.tolist() == other.offsets.tolist()


def test_weights_that_are_added_up_on_the_way(model, monkeypatch):
    whole = train_shortlist(model, PAIRS, 9, 9)
    monkeypatch.setattr("regard.inference.shortlist._MOST_PENDING", 3)
    parts = train_shortlist(model, PAIRS, 9, 9)
    assert parts.words.tolist() == whole.words.tolist()


def test_the_listener_hears_of_each_pair(model):
    heard = []
    train_shortlist(model, PAIRS, 9, 9, listener=heard.append)
    assert sorted(heard) == [1, 2, 3, 3]


def test_refusals(model):
    with pytest.raises(DataError, match="no pairs to make a shortlist from"):
        train_shortlist(model, [], 9, 9)
    with pytest.raises(ConfigError, match="per_word: 0 is out of range"):
        train_shortlist(model, PAIRS, 9, 9, per_word=0)
