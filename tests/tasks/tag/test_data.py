"""Tagged sentences prepared: tags of all, words of the training part, and a note on what was left out."""

import pytest

from regard.errors import ConfigError, DataError
from regard.tasks.tag.task import TagTask, parse_tagged_sentences, read_tagged_sentences
from regard.text import TaggedSentence
from regard.training.configure import configure

SENTENCES = [TaggedSentence((f"w{k}", f"v{k}"), ("W", "V")) for k in range(40)]


def prepared(train=SENTENCES, valid=None, **data):
    return TagTask(configure({"task": "tag", "data": data}), train, valid).prepared


def test_equal_sentences_are_split_off_together():
    made = prepared([*SENTENCES, *SENTENCES])
    assert made.labels == ("V", "W")
    assert (len(made.train), len(made.valid)) == (76, 4)
    assert made.notes == (
        "no validation sentences given: 4 of the training sentences are split off for validation",
    )
    assert all(made.tokenizers["text"].decode(one.word_ids) == "<unk> <unk>" for one in made.valid)
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
    with pytest.raises(DataError, match="the validation sentences given are none at all"):
        prepared(SENTENCES, [])
    (tmp_path / "empty").touch()
    with pytest.raises(DataError, match="empty: an empty corpus"):
        read_tagged_sentences([str(tmp_path / "empty")], "lines", ())


def test_tuples_are_words_and_tags():
    wanted = [TaggedSentence(("a", "b"), ("X", "Y"))]
    assert (
        parse_tagged_sentences([("a b", "X Y")])
        == parse_tagged_sentences([(["a", "b"], ("X", "Y"))])
        == parse_tagged_sentences(wanted)
        == wanted
    )
    with pytest.raises(DataError, match="example 2 has 2 words and 1 tags"):
        parse_tagged_sentences([("a", "X"), ("a b", "X")])
    with pytest.raises(DataError, match="example 1 has 0 words and 0 tags"):
        parse_tagged_sentences([("", "")])


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
        read_tagged_sentences([words, tags], "lines", ()),
        read_tagged_sentences([tsv], "lines", (2, 1)),
        read_tagged_sentences([vertical], "vertical", (2, 1)),
    ]
    for sentences in found:
        assert [(one.words, one.tags) for one in sentences] == [(("a", "b"), ("X", "Y")), (("c",), ("Z",))]
    with pytest.raises(ConfigError, match="columns"):
        read_tagged_sentences([words, tags], "lines", (1, 2))
