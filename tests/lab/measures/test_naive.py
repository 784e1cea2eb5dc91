from regard.datasets import Example
from regard.lab.measures.shaped import (
    most_frequent,
    most_frequent_of_each,
    nearest,
    several_tags,
    word_for_word,
    words_of,
)
from regard.text import GoldLinks

TAGGED = [
    Example("they can fish", "PRON AUX VERB"),
    Example("the can", "DET NOUN"),
    Example("I can", "PRON AUX"),
]


def test_the_most_frequent_and_of_equals_the_first():
    assert most_frequent("abcbc") == "b"
    assert most_frequent_of_each([("x", 1), ("y", 2), ("x", 3), ("x", 3)]) == {"x": 3, "y": 2}


def test_tagged_sentences_are_cut_into_words():
    words = words_of(TAGGED)
    assert [(word.source, word.target) for word in words[:3]] == [
        ("they", "PRON"),
        ("can", "AUX"),
        ("fish", "VERB"),
    ]
    assert len(words) == 7
    assert several_tags(words) == {"can"}
    assert most_frequent_of_each((word.source, word.target) for word in words)["can"] == "AUX"


def test_the_nearest_is_by_distance():
    known = [Example("", "left", features=(-1.0, 0.0)), Example("", "far", features=(0.0, 10.0))]
    assert nearest(known, [(-0.5, 4.0), (3.0, 6.0)]) == ["left", "far"]


def test_word_for_word_keeps_the_order_of_the_source_and_leaves_out_what_is_not_linked():
    gold = GoldLinks(frozenset({(0, 0), (1, 2), (2, 1)}))
    pairs = [Example("the red car does", "la voiture rouge", gold=gold)]
    assert word_for_word(pairs, ["the red car does", "a car"]) == ["la rouge voiture", "a voiture"]
    double = Example("not", "ne pas", gold=GoldLinks(frozenset({(0, 1), (0, 0)})))
    assert word_for_word([double], ["not"]) == ["ne pas"]
