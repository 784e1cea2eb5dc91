"""The classifier as programs use it: N in, N out; the rest of the batch changes nothing; weights belong to words."""

import numpy as np
import pytest
import torch

from regard.batches import pad_texts
from regard.checkpoint import ModelFolder
from regard.errors import DataError, FolderError
from regard.models import ClassifierConfig, ClassifierNetwork, EncoderConfig
from regard.tasks.classify.predictor import Classifier
from regard.text import train_tokenizer

LABELS = ("no", "so so", "yes")
LINES = ["a b c", "", "c", "a a a b b b", " ", "unheard b"]


def made(pooling="attention", num_texts=1, kind="word", **options):
    tokenizer = train_tokenizer(kind, ["a b c d"], size=30)
    encoder = EncoderConfig(embedding_size=3, state_size=2)
    sizes = {"pooling_size": 4} if pooling == "attention" else {}
    config = ClassifierConfig(encoder, pooling=pooling, num_texts=num_texts, **sizes)
    model = ClassifierNetwork(config, tokenizer.size, 3)
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    return Classifier(model.eval(), tokenizer, LABELS, **options)


def test_one_for_each_line_and_blank_ones_are_blank():
    found = made().classify(LINES)
    assert [one.texts for one in found] == [(line,) for line in LINES]
    assert [bool(one.label) for one in found] == [True, False, True, True, False, True]
    for one in found:
        assert sum(one.probabilities.values()) == pytest.approx(1.0 if one.label else 0.0)
        assert (one.probabilities == {}) == (one.label == "")
    assert found[1].to_json()["label"] == ""
    assert found[1].probability == 0
    assert found[5].tokens == (("<unk>", "b", "</s>"),)


def test_the_label_is_the_most_probable():
    classifier = made()
    [one] = classifier.classify(["a b c"])
    ids = classifier.tokenizer.encode("a b c")
    logits, (alpha,) = classifier.model(pad_texts([[ids]]))
    torch.testing.assert_close(
        torch.tensor(list(one.probabilities.values())),
        logits[0].double().softmax(-1).float(),
        check_dtype=False,
    )
    assert list(one.probabilities) == list(LABELS)
    assert one.label == max(one.probabilities, key=one.probabilities.get) == LABELS[int(logits.argmax())]
    np.testing.assert_allclose(one.alpha[0], alpha[0].detach().numpy(), rtol=1e-6)
    assert one.word_alpha[0].sum() == pytest.approx(1, abs=1e-6)
    assert one.units[0].labels == ("a", "b", "c", "</s>")


@pytest.mark.parametrize("pooling", ["last", "mean", "attention"])
@pytest.mark.parametrize("num_texts", [1, 2])
def test_company_changes_nothing(pooling, num_texts):
    classifier = made(pooling, num_texts)
    rows = LINES if num_texts == 1 else list(zip(LINES, reversed(LINES), strict=True))
    together = classifier.classify(rows, batch_sentences=3)
    streamed = list(classifier.classify_stream(iter(rows), chunk=2))
    for one, other, row in zip(together, streamed, rows, strict=True):
        [alone] = classifier.classify([row])
        assert one.label == other.label == alone.label
        assert one.texts == other.texts == alone.texts == ((row,) if num_texts == 1 else row)
        for label, value in alone.probabilities.items():
            assert one.probabilities[label] == pytest.approx(value, abs=1e-6)
        assert (one.alpha is not None) == (pooling == "attention" and one.label != "")
        for weights, single in zip(one.alpha or (), alone.alpha or (), strict=True):
            np.testing.assert_allclose(weights, single, atol=1e-6)


def test_a_pair_with_a_blank_side_is_blank():
    found = made(num_texts=2).classify([("a", ""), ("", "a"), ("a", "b")])
    assert [bool(one.label) for one in found] == [False, False, True]
    assert len(found[2].alpha) == 2


def test_characters_and_blanks():
    [one, blank] = made(kind="char").classify(["a b", "   "])
    assert one.words == ((0, None, 1, None),)
    assert one.units[0].labels == ("a", "␣", "b", "</s>")
    assert blank.label == ""


def test_what_cannot_be_classified():
    with pytest.raises(DataError, match=r"takes a list of lines, not one text: classify\(\['a b'\]\)"):
        made().classify("a b")
    with pytest.raises(DataError, match="line 2 has 2 texts, and this model classifies one text"):
        made().classify(["a", ("a", "b")])
    with pytest.raises(DataError, match="line 1 has 1 texts, and this model classifies pairs of texts"):
        made(num_texts=2).classify(["a b"])
    with pytest.raises(DataError, match=r"t.txt:3 \('a b c' …\) has 3 tokens, above the limit of 2"):
        list(made(max_length=2).classify_stream(["a", "b", "a b c"], chunk=2, name="t.txt:"))


def test_loaded_is_equal(tmp_path):
    classifier = made()
    folder = ModelFolder(tmp_path / "model")
    sizes = {"text": classifier.tokenizer.size, "labels": 3}
    folder.create(
        "classify", classifier.model.config, {"text": classifier.tokenizer}, sizes=sizes, labels=LABELS
    )
    folder.write_weights("best", classifier.model, {"update": 7})
    loaded = Classifier.load(folder.path)
    assert folder.task == "classify"
    assert loaded.facts == {"update": 7}
    assert [one.to_json() for one in loaded.classify(LINES)] == [
        one.to_json() for one in classifier.classify(LINES)
    ]
    from regard.tasks.tag.predictor import Tagger

    with pytest.raises(FolderError, match="a model for classifying; name one for tagging"):
        Tagger.load(folder.path)
