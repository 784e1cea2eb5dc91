"""The tagger as programs use it: one tag per word, one tagging per line; the rest of the batch changes nothing."""

import pytest
import torch

from regard.batches import pad_words
from regard.checkpoint import ModelFolder
from regard.errors import ConfigError, DataError, FolderError
from regard.models import EncoderConfig, TaggerConfig, TaggerNetwork
from regard.tasks.classify.predictor import Classifier
from regard.tasks.tag.predictor import Tagger
from regard.text import train_tokenizer

TAGS = ("A", "B", "C")
LINES = ["a b c", "", "c", "a a  a b b b", "\t ", "unheard b"]


def made(kind="word", bidirectional=True, **options):
    tokenizer = train_tokenizer(kind, ["a b c d"], size=30)
    config = TaggerConfig(EncoderConfig(embedding_size=3, state_size=2, bidirectional=bidirectional))
    model = TaggerNetwork(config, tokenizer.size, 3)
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    return Tagger(model.eval(), tokenizer, TAGS, **options)


def test_a_tag_for_each_word_that_blanks_part():
    found = made().tag(LINES)
    assert [one.words for one in found] == [tuple(line.split()) for line in LINES]
    assert all(len(one.tags) == len(one.words) for one in found)
    assert {tag for one in found for tag in one.tags} <= set(TAGS)


def test_the_tag_is_the_most_probable():
    tagger = made()
    [one] = tagger.tag(["a b c"])
    probabilities = tagger.model(pad_words([tagger.tokenizer.encode("a b c")])).softmax(-1)
    assert one.tags == tuple(TAGS[k] for k in probabilities.argmax(-1).tolist())
    assert one.probabilities == pytest.approx(probabilities.max(-1).values.tolist())


@pytest.mark.parametrize("bidirectional", [True, False])
def test_company_changes_nothing(bidirectional):
    tagger = made(bidirectional=bidirectional)
    together = tagger.tag(LINES, batch_sentences=3)
    streamed = list(tagger.tag_stream(iter(LINES), chunk=2))
    assert len({one.tags for one in together}) > 2, "else all would be alike"
    for one, other, line in zip(together, streamed, LINES, strict=True):
        [alone] = tagger.tag([line])
        assert one.tags == other.tags == alone.tags
        assert one.probabilities == pytest.approx(alone.probabilities, abs=1e-6)


def test_what_cannot_be_tagged():
    with pytest.raises(DataError, match=r"takes a list of lines, not one text: tag\(\['a b'\]\)"):
        made().tag("a b")
    with pytest.raises(DataError, match=r"t.txt:3 \('a b c' …\) has 3 words, above the limit of 2"):
        list(made(max_length=2).tag_stream(["a", "b", "a b c"], chunk=2, name="t.txt:"))
    with pytest.raises(ConfigError, match="a tag belongs to a word"):
        made(kind="char").tag(["a"])


def test_loaded_is_equal(tmp_path):
    tagger = made()
    folder = ModelFolder(tmp_path / "model")
    sizes = {"text": tagger.tokenizer.size, "labels": 3}
    folder.create("tag", tagger.model.config, {"text": tagger.tokenizer}, sizes=sizes, labels=TAGS)
    folder.write_weights("best", tagger.model, {"update": 7})
    loaded = Tagger.load(folder.path)
    assert folder.task == "tag"
    assert loaded.facts == {"update": 7}
    assert loaded.tag(LINES) == tagger.tag(LINES)
    with pytest.raises(FolderError, match="a model for tagging; name one for classifying"):
        Classifier.load(folder.path)
