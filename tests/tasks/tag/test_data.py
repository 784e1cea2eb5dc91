"""Tagged sentences prepared: tags of all, words of the training part, and an account of what was left out."""

import pytest

from regard.errors import ConfigError, DataError
from regard.tasks.config import TextTokenizerConfig
from regard.tasks.tag.config import TaggedDataConfig
from regard.tasks.tag.data import as_tagged, prepare, read_corpus
from regard.text import TaggedSentence

SENTENCES = [TaggedSentence((f"w{k}", f"v{k}"), ("W", "V")) for k in range(40)]


def prepared(train=SENTENCES, valid=None, **data):
    return prepare(train, valid, TaggedDataConfig(**data), TextTokenizerConfig(), 1)


def test_some_are_set_aside_whole():
    made = prepared([*SENTENCES, *SENTENCES])
    assert made.labels.names == ("V", "W")
    assert (len(made.train), len(made.valid)) == (76, 4)
    assert made.notes == ("no validation sentences given: 4 of the training sentences are set aside for it",)
    assert all(made.tokenizer.decode(one.word_ids) == "<unk> <unk>" for one in made.valid)
    assert all(one.tag_ids == [1, 0] for one in [*made.train, *made.valid])


def test_long_ones_are_left_out_and_counted():
    long = TaggedSentence(("w1",) * 5, ("W",) * 5)
    made = prepared([*SENTENCES, long], SENTENCES, max_length=4)
    assert (len(made.train), len(made.valid)) == (40, 40)
    assert made.notes == ("training sentences: left out 1 of more than 4 words (data.max_length)",)
    assert len(prepared([*SENTENCES, long], SENTENCES, max_length=5).train) == 41
    with pytest.raises(DataError, match="of 40 training sentences 0 are blank and 40 have more than 1 words"):
        prepared(SENTENCES, SENTENCES, max_length=1)


def test_what_cannot_be_used(tmp_path):
    with pytest.raises(DataError, match="the label 'U' was not in the training data"):
        prepared(SENTENCES, [TaggedSentence(("w1",), ("U",))])
    with pytest.raises(DataError, match="there are no validation sentences in what was given"):
        prepared(SENTENCES, [])
    (tmp_path / "empty").touch()
    with pytest.raises(DataError, match="empty: an empty corpus"):
        read_corpus([str(tmp_path / "empty")], "lines", ())


def test_tuples_are_words_and_tags():
    wanted = [TaggedSentence(("a", "b"), ("X", "Y"))]
    assert as_tagged([("a b", "X Y")]) == as_tagged([(["a", "b"], ("X", "Y"))]) == as_tagged(wanted) == wanted
    with pytest.raises(DataError, match="example 2 has 2 words and 1 tags"):
        as_tagged([("a", "X"), ("a b", "X")])
    with pytest.raises(DataError, match="example 1 has 0 words and 0 tags"):
        as_tagged([("", "")])


def test_every_layout_says_the_same(tmp_path):
    texts = {
        "words": "a b\nc\n",
        "tags": "X Y\nZ\n",
        "tsv": "X Y\ta b\nZ\tc\n",
        "vertical": "X\ta\nY\tb\n\nZ\tc\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    words, tags, tsv, vertical = (str(tmp_path / name) for name in texts)
    found = [
        read_corpus([words, tags], "lines", ()),
        read_corpus([tsv], "lines", (2, 1)),
        read_corpus([vertical], "vertical", (2, 1)),
    ]
    for sentences in found:
        assert [(one.words, one.tags) for one in sentences] == [(("a", "b"), ("X", "Y")), (("c",), ("Z",))]
    with pytest.raises(ConfigError, match="columns"):
        read_corpus([words, tags], "lines", (1, 2))
