"""Tagged sentences: one tag a word in every layout, or an error that counts both."""

import gzip

import pytest

from regard.errors import ConfigError, DataError
from regard.text import (
    UNK,
    EncodedTagged,
    Labels,
    TaggedSentence,
    encode_tagged,
    encode_words,
    read_tagged,
    read_vertical,
    train_tokenizer,
)


def write(tmp_path, text, name="data"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def plain(sentences):
    return [(one.words, one.tags, one.place.line) for one in sentences]


def test_two_files_or_two_columns(tmp_path):
    words = write(tmp_path, "the  dog\nit barks .\n", "words")
    tags = write(tmp_path, "D N\nP V .\n", "tags")
    expected = [(("the", "dog"), ("D", "N"), 1), (("it", "barks", "."), ("P", "V", "."), 2)]
    assert plain(read_tagged(words, tags)) == expected
    table = write(tmp_path, "the dog\tD N\nit barks .\tP V .\n")
    assert plain(read_tagged(table)) == expected
    turned = write(tmp_path, "D N\t1\tthe dog\nP V .\t2\tit barks .\n")
    assert plain(read_tagged(turned, columns=(3, 1))) == expected


def test_unequal_counts_and_empty_lines_are_refused_with_their_place(tmp_path):
    with pytest.raises(DataError, match=r"data:2: 3 words and 2 tags; each word has one tag"):
        list(read_tagged(write(tmp_path, "a\tX\na b c\tX Y\n")))
    with pytest.raises(DataError, match=r"data:1: a line without words"):
        list(read_tagged(write(tmp_path, " \t\n")))


VERTICAL = """# sent_id = 1
the\tD

# a comment\twith a tab
#\tSYM
#5\tNUM


#!comment
dog N
"""


def test_one_word_a_line_with_blank_lines_between_and_comments(tmp_path):
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(VERTICAL.encode()))
    assert plain(read_vertical(path)) == [
        (("the",), ("D",), 2),
        (("#", "#5"), ("SYM", "NUM"), 5),
        (("dog",), ("N",), 10),
    ]


CONLLU = """# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tx\t_\tX\t_\t_\t_\t_\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
"""


def test_conllu_has_its_words_in_column_2_and_what_is_no_word_is_passed_over(tmp_path):
    [one] = read_vertical(write(tmp_path, CONLLU), columns=(2, 4))
    assert one.words == ("vamos", "nos", "a")
    assert one.tags == ("VERB", "PRON", "ADP")
    # a range in a file of two columns is a word like any other
    [range_] = read_vertical(write(tmp_path, "3-4\tNUM\n"))
    assert range_.words == ("3-4",)


def test_vertical_refusals(tmp_path):
    with pytest.raises(DataError, match=r"data:2: 1 column where a word in column 1 and its tag in column 2"):
        list(read_vertical(write(tmp_path, "a\tX\nb\n")))
    with pytest.raises(DataError, match=r"data:1: the tag is blank"):
        list(read_vertical(write(tmp_path, "a\t\n")))
    with pytest.raises(DataError, match=r"data:1: the word 'New York' has a blank in it; write it as one"):
        list(read_vertical(write(tmp_path, "New York\tN\n")))
    with pytest.raises(ConfigError, match=r"columns FORM and 2: .* has no header row; give numbers"):
        list(read_vertical(write(tmp_path, "FORM\tTAG\n"), columns=("FORM", 2)))
    with pytest.raises(ConfigError, match="counted from 1, so 0 and 2 are not allowed"):
        list(read_vertical(write(tmp_path, "a\tX\n"), columns=(0, 2)))


def test_a_vertical_file_is_recognised(tmp_path):
    path = write(tmp_path, "the\tDT\ncat\tNN\n\na\tDT\n")
    assert list(read_tagged(path)) == list(read_vertical(path))
    path = write(tmp_path, CONLLU)
    assert list(read_tagged(path, columns=(2, 4))) == list(read_vertical(path, columns=(2, 4)))


def test_every_word_is_one_id(monkeypatch):
    tokenizer = train_tokenizer("word", ["the dog"], size=20)
    the, dog = tokenizer.encode("the dog")
    # ▁ is folded to a blank by the tokenizer: alone it is nothing, inside a word it parts two
    words = ("the", "cat", "▁", "the▁dog", "dog")
    assert encode_words(words, tokenizer) == [the, UNK, UNK, UNK, dog]
    [encoded] = encode_tagged([TaggedSentence(("dog", "the"), ("N", "D"))], tokenizer, Labels(["D", "N"]))
    assert encoded == EncodedTagged([dog, the], [1, 0])
    assert encoded.length == 3
    monkeypatch.setattr("regard.text.tagged._CHUNK", 2)
    several = [TaggedSentence(words, ("D",) * len(words)) for words in (("the",), ("dog", "the"), ("dog",))]
    encoded = list(encode_tagged(several, tokenizer, Labels(["D", "N"])))
    assert [one.word_ids for one in encoded] == [[the], [dog, the], [dog]]
    with pytest.raises(DataError, match="the label 'V' was not in the training data"):
        list(encode_tagged([TaggedSentence(("dog",), ("V",))], tokenizer, Labels(["D", "N"])))
    with pytest.raises(ConfigError, match="a tokenizer of kind 'char' splits words into pieces"):
        encode_words(words, train_tokenizer("char", ["the dog"], size=20))


def test_conllu_has_its_columns_named(tmp_path):
    path = write(tmp_path, CONLLU)
    with pytest.raises(
        DataError, match=r"looks like CoNLL-U: give --columns 2 4 \(data.columns = \[2, 4\]\)"
    ):
        list(read_vertical(path))
    assert list(read_vertical(path, columns=(1, 2))), "columns that are named are read"


def test_tags_that_are_missing_or_do_not_match(tmp_path):
    words = tmp_path / "words"
    words.write_text("the old man\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"words:1: 1 column .*; name the tags' file second"):
        list(read_tagged(words))
    tags = tmp_path / "tags"
    tags.write_text("D A N\nV\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"1 lines and .* has 2; words and their tags are on lines with the same number"
    ):
        list(read_tagged(words, tags))
    with pytest.raises(ConfigError, match=r"--columns 1 2 .* belongs to one tab-separated file, and two"):
        list(read_tagged(words, tags, columns=(1, 2)))
    table = tmp_path / "table"
    table.write_text("1\tthe man\tD N\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"3 columns, and only columns 1 and 2 are read; name the columns of words and tags"
    ):
        list(read_tagged(table))
