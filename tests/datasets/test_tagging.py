import random
import re
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from regard.datasets import PartsOfSpeech
from regard.datasets.tagging import LONGEST, RULES, SHORTEST, sample_ambiguous


@pytest.fixture(scope="module")
def splits():
    return PartsOfSpeech().splits(train=8000, valid=100, test=800, seed=1)


@pytest.fixture(scope="module")
def tags_of(splits):
    found = defaultdict(Counter)
    for example in splits.train:
        for word, tag in zip(example.source.split(), example.target.split(), strict=True):
            found[word][tag] += 1
    return found


def accuracy(examples, tags_of):
    right = [
        word in tags_of and tags_of[word].most_common(1)[0][0] == tag
        for example in examples
        for word, tag in zip(example.source.split(), example.target.split(), strict=True)
    ]
    return sum(right) / len(right)


def test_the_most_frequent_tag_is_not_enough(splits, tags_of):
    """About 90 % of all words, and 83 % where the words are chosen to be two things."""
    assert 0.87 < accuracy(splits.test, tags_of) < 0.92
    assert 0.80 < accuracy(splits.extra["ambiguous"], tags_of) < 0.87


def test_many_words_are_two_things_and_some_three(tags_of):
    ambiguous = {word for word, tags in tags_of.items() if len(tags) > 1}
    assert len(ambiguous) > 80
    assert {
        "that",
        "saw",
        "light",
        "watch",
        "book",
        "flies",
        "like",
        "can",
        "before",
        "left",
        "fast",
    } <= ambiguous
    assert set(tags_of["that"]) == {"DET", "PRON", "SCONJ"}
    assert set(tags_of["light"]) == {"ADJ", "NOUN", "VERB"}


def test_one_sentence_has_one_tagging():
    rng = random.Random(0)
    found = {}
    repeated = 0
    for _ in range(20_000):
        words, tags = sample_ambiguous(rng)
        line = " ".join(words)
        repeated += line in found
        assert found.setdefault(line, tags) == tags, line
    assert repeated > 500


def test_to_is_a_particle_before_a_verb_that_it_leads_to(splits):
    seen = Counter()
    for example in splits.train:
        pairs = list(zip(example.source.split(), example.target.split(), strict=True))
        for (word, tag), (_, following) in pairwise(pairs):
            if word == "to":
                seen[tag] += 1
                assert (tag == "PART") == (following in ("VERB", "AUX")), example.source
    assert min(seen["PART"], seen["ADP"]) > 300


def test_tags_and_lengths(splits):
    tags = {tag for example in splits.train for tag in example.target.split()}
    assert tags == {
        "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "VERB",
    }  # fmt: skip
    lengths = {len(example.source.split()) for example in splits.extra["ambiguous"]}
    assert min(lengths) >= SHORTEST
    assert max(lengths) == LONGEST
    assert any(example.source.startswith("Marie ") for example in splits.train)
    for example in splits.extra["ambiguous"]:
        assert example.target.endswith(" PUNCT")
        assert not re.search(r"\b(a [aeiou]|an [^aeiou])", example.source)


def test_every_symbol_is_written_and_used():
    used = {piece for alternatives in RULES.values() for alternative in alternatives for piece in alternative}
    assert {piece for piece in used if "/" not in piece} | {"TEXT"} == set(RULES)
    assert all(alternative for alternatives in RULES.values() for alternative in alternatives)


def test_neighbours_decide_as_a_reader_would(splits):
    """The words before like and that leave no choice."""
    seen = Counter()
    for example in splits.extra["ambiguous"]:
        pairs = list(zip(example.source.split(), example.target.split(), strict=True))
        for (before, _), (word, tag) in pairwise(pairs):
            if word == "like" and before in ("look", "looks", "can", "will", "might", "must", "they", "we"):
                seen[before, tag] += 1
                assert tag == ("ADP" if before.startswith("look") else "VERB"), example.source
            if word == "that" and before in ("think", "thinks", "said"):
                seen[word, tag] += 1
                assert tag == "SCONJ", example.source
    assert len(seen) > 6
