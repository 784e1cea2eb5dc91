from regard.text import EncodedPair, GoldLinks, Place, SentencePair, encode_pairs, train_tokenizer


def test_same_order_and_number_across_chunks():
    source = train_tokenizer("word", ["a b c"], size=10)
    target = train_tokenizer("char", ["xyz"], size=10)
    texts = ["a", "b c", "", "c d"]
    pairs = [SentencePair(texts[n % 4], "xyzx"[: n % 5], Place("f", n)) for n in range(9001)]
    encoded = list(encode_pairs(iter(pairs), source, target))
    assert encoded == [
        EncodedPair(source.encode(pair.source), target.encode(pair.target), pair.place) for pair in pairs
    ]


def test_pairs_are_read_as_they_are_needed():
    tokenizer = train_tokenizer("word", ["a"], size=10)

    waiting = iter([SentencePair("a", "a")] * 20_000)
    assert next(encode_pairs(waiting, tokenizer, tokenizer)).source_ids == tokenizer.encode("a")
    assert len(list(waiting)) > 15_000


def test_gold_links_between_words_become_links_between_tokens():
    """Every token of a word is linked to every token of the other; blanks and unlinked words to none."""
    source, target = train_tokenizer("char", ["ab c"], size=10), train_tokenizer("word", ["x y z"], size=10)
    gold = GoldLinks(frozenset({(0, 1), (1, 2)}), frozenset({(0, 0)}))
    (pair,) = encode_pairs([SentencePair("ab c", "x y z", gold=gold)], source, target)
    assert len(pair.source_ids) == 4, "two letters, a blank, a letter"
    assert pair.links == {(0, 1), (1, 1), (3, 2)}, "sure links only"
    (plain,) = encode_pairs([SentencePair("ab c", "x y z")], source, target)
    assert plain.links is None
