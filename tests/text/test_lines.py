"""Lines for a language model: what is counted, and what becomes of the unknown."""

import pytest

from regard.text import UNK, encode_lines, train_tokenizer, unknown_id, unknown_words

LINES = ["the cat sees the dog", " the <unk>  sees <unk> ", "", "   "]


@pytest.mark.parametrize("kind", ["word", "char", "bpe", "unigram"])
def test_words_and_characters_are_counted_with_the_line_s_end(kind):
    tokenizer = train_tokenizer(kind, LINES, size=60)
    lines = list(encode_lines(iter(LINES), tokenizer))
    assert [line.text for line in lines] == LINES
    assert [line.num_words for line in lines] == [6, 5, 1, 1]
    # blanks are folded, except where they are tokens
    assert [line.num_characters for line in lines][0::2] == [21, 1]
    assert lines[1].num_characters == (
        len(LINES[1]) + 1 if kind == "char" else len("the <unk> sees <unk>") + 1
    )
    assert lines[2].ids == lines[3].ids == []
    for line in lines:
        assert line.length == len(line.ids) + 1
        if kind == "word":
            assert line.num_words == line.length
        if kind == "char":
            assert line.num_characters == line.length


def test_a_corpus_s_own_unknown_word_is_the_unknown_word():
    """As in Penn Treebank's files: it was learnt as a word, so a word that is not known is read as it."""
    tokenizer = train_tokenizer("word", LINES, size=60)
    own = unknown_id(tokenizer)
    assert own != UNK
    [line] = encode_lines(["the zebra sees <unk>"], tokenizer)
    assert [line.ids[1], line.ids[3]] == [own, own]
    assert UNK not in line.ids
    assert tokenizer.decode(line.ids) == "the <unk> sees <unk>"
    # without one of its own it is the special
    plain = train_tokenizer("word", LINES[:1], size=60)
    assert unknown_id(plain) == UNK
    [line] = encode_lines(["the zebra"], plain)
    assert line.ids[1] == UNK
    assert unknown_id(train_tokenizer("char", LINES, size=60)) == UNK


def test_the_other_specials_names_are_words():
    tokenizer = train_tokenizer("word", ["a </s> <s> <pad>"], size=60)
    [line] = encode_lines(["</s> <s> <pad>"], tokenizer)
    assert min(line.ids) > 3
    assert len(set(line.ids)) == 3


def test_unknown_words_by_name():
    tokenizer = train_tokenizer("word", LINES, size=60)
    assert unknown_words("the zebra sees a zebra <unk>", tokenizer) == ["zebra", "a"]
    assert unknown_words("the cat", tokenizer) == []
    assert unknown_words("the catz", train_tokenizer("char", LINES, size=60)) == ["z"]
