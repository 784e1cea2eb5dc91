"""The tagger: one row of logits per word, whatever else is in the batch."""

import pytest
import torch
from torch.nn import functional

from regard.batches import TaggedBatch, pad_tagged
from regard.errors import ConfigError
from regard.layers import CELLS
from regard.models import EncoderConfig, TaggerConfig, TaggerNetwork
from regard.ops.paths import naive_only
from regard.text import EncodedTagged

SENTENCES = [
    EncodedTagged([4, 5, 6, 7], [0, 1, 2, 0]),
    EncodedTagged([], []),
    EncodedTagged([8], [2]),
    EncodedTagged([5, 5], [1, 0]),
]
both_ways = pytest.mark.parametrize("bidirectional", [True, False], ids=["both ways", "one way"])


@pytest.fixture
def build(scattered):
    def built(cell: str, bidirectional: bool = True) -> TaggerNetwork:
        encoder = EncoderConfig(cell=cell, embedding_size=3, state_size=2, bidirectional=bidirectional)
        return scattered(TaggerNetwork(TaggerConfig(encoder), 9, 3))

    return built


@pytest.fixture
def run(gradients_of):
    def passed(model: TaggerNetwork, batch: TaggedBatch):
        logits = model(batch)
        loss = functional.cross_entropy(logits, batch.tag_ids[batch.word_mask], reduction="sum")
        return list(logits.detach().split(batch.word_mask.sum(1).tolist())), gradients_of(model, loss)

    return passed


@pytest.mark.parametrize("cell", CELLS)
@both_ways
def test_padding_order_batch_and_path_change_nothing(cell, bidirectional, build, run, same, widened):
    model, batch = build(cell, bidirectional), pad_tagged(SENTENCES)
    logits, grads = run(model, batch)
    assert [one.shape for one in logits] == [(len(one.word_ids), 3) for one in SENTENCES]
    ids, mask = widened(batch.ids, batch.mask, 2)
    _, word_mask = widened(batch.ids, batch.word_mask, 2)
    tag_ids, _ = widened(batch.tag_ids, batch.word_mask, 2, high=3)
    result = run(model, TaggedBatch(ids, mask, word_mask, tag_ids))
    same([*result[0], *result[1]], [*logits, *grads])
    with naive_only():
        result = run(model, batch)
    same([*result[0], *result[1]], [*logits, *grads])
    order = [2, 0, 3, 1]
    turned = run(model, pad_tagged([SENTENCES[k] for k in order]))
    same([*turned[0], *turned[1]], [*(logits[k] for k in order), *grads])
    same([run(model, pad_tagged([SENTENCES[k]]))[0][0] for k in (0, 2, 3)], [logits[k] for k in (0, 2, 3)])


@both_ways
def test_later_words_matter_only_to_a_bidirectional_encoder(bidirectional, build):
    model = build("gru", bidirectional)
    one, other = (model(pad_tagged([EncodedTagged([4, last], [0, 0])])) for last in (5, 6))
    assert torch.equal(one[0], other[0]) == (not bidirectional)


def test_configuration_and_initialisation():
    config = TaggerConfig(EncoderConfig(cell="lstm", bidirectional=False), initialization="luong")
    assert TaggerConfig.from_mapping(config.to_mapping(), "model") == config
    assert all(parameter.abs().max() <= 0.1 for parameter in TaggerNetwork(config, 9, 3).parameters())
    with pytest.raises(ConfigError, match=r"model\.initialization: no 'lung'"):
        TaggerConfig(initialization="lung")


def test_dropout_acts_before_the_output_and_only_in_training():
    model = TaggerNetwork(TaggerConfig(EncoderConfig(embedding_size=3, state_size=8, dropout=0.5)), 9, 3)
    batch = pad_tagged(SENTENCES)
    # with the encoder in evaluation mode, only the dropout before the output is left
    model.encoder.eval()
    assert not torch.equal(model(batch), model(batch))
    model.eval()
    assert torch.equal(model(batch), model(batch))
