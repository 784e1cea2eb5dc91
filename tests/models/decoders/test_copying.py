"""Decoders that copy: the paper's mixture for one sentence, and what can be copied."""

import pytest
import torch

from regard.batches import pad_pairs
from regard.errors import ConfigError
from regard.text.pairs import EncodedPair

KINDS = [{"kind": "bahdanau"}, {"kind": "luong"}, {"kind": "luong", "input_feeding": False}]
every_kind = pytest.mark.parametrize("options", KINDS, ids=["bahdanau", "feeding", "luong"])
BATCH = pad_pairs([EncodedPair([4, 5, 4], [5, 4])])


def twins(tiny_model, options):
    """A model that copies, and the same weights in one that does not."""
    model, plain = tiny_model(**options, copy=True), tiny_model(**options)
    plain.load_state_dict(
        {
            name: value
            for name, value in model.state_dict().items()
            if "pointer" not in name and name != "copy_map"
        }
    )
    return model, plain


@every_kind
def test_each_words_probability_is_the_papers_mixture(options, tiny_model):
    model, plain = twins(tiny_model, options)
    pointer, decoder = model.decoder.pointer, plain.decoder
    encoded = plain.encode(BATCH.source_ids, BATCH.source_mask)
    state = decoder.initial_state(encoded)
    result = model(BATCH)
    for i, previous in enumerate(BATCH.previous_ids[0]):
        output = decoder.step(previous.view(1), state, encoded)
        state, alpha = output.state, output.alpha[0]
        context = sum(alpha[j] * encoded.annotations[0, j] for j in range(4))
        gate = pointer.w_c @ context + pointer.w_s @ state.cells[-1][0][0] + pointer.b
        p_gen = torch.sigmoid(gate + pointer.w_x @ decoder.embedding.E[previous])
        expected = p_gen * output.logits[0].softmax(-1)
        for j, word in enumerate(BATCH.source_ids[0]):
            expected[word] += (1 - p_gen) * alpha[j]
        torch.testing.assert_close(result.logits[i].exp(), expected)
        torch.testing.assert_close(result.alpha[0, i], alpha)


@every_kind
def test_the_map_says_what_is_copied(options, tiny_model):
    """With the gate closed, every word's probability is the alpha of the source words that are mapped to it."""
    model = tiny_model(**options, copy=True, target_size=7)
    assert model.copy_map.tolist() == [0, 1, 2, 3, 4, 5, 6, -1, -1], "equal ids, as of a shared vocabulary"
    model.set_copy_map([-1, 1, -1, 3, 6, -1, 4, 4, 5])
    with torch.no_grad():
        for parameter in model.decoder.pointer.parameters():
            parameter.zero_()
        model.decoder.pointer.b.fill_(-1e3)
    batch = pad_pairs([EncodedPair([4, 5, 6, 7], [5])])
    result = model(batch)
    alpha = result.alpha[0, 0]
    expected = torch.zeros(7, dtype=torch.float64)
    expected[3], expected[4], expected[6] = alpha[4], alpha[2] + alpha[3], alpha[0]
    torch.testing.assert_close(result.logits[0].exp(), expected / expected.sum())
    assert expected.sum() < 1, "a source word without a counterpart was attended to"


def test_the_map_is_a_buffer_and_selected_with_the_source(tiny_model):
    model = tiny_model(copy=True)
    assert "copy_map" in dict(model.named_buffers())
    assert "copy_map" not in dict(model.named_parameters())
    source_ids = torch.tensor([[4, 5, 3], [6, 3, 0]])
    encoded = model.encode(source_ids, source_ids != 0)
    assert torch.equal(encoded.select(torch.tensor([1])).copy_ids, source_ids[1:])
    plain = tiny_model()
    assert plain.copy_map is None
    assert plain.encode(source_ids, source_ids != 0).copy_ids is None
    assert not plain.decoder.is_mixture


@pytest.mark.parametrize(
    "options", [{"copy": True}, {"kind": "hard-monotonic"}], ids=["copy", "hard-monotonic"]
)
def test_a_mixture_has_no_shortlist(options, tiny_model):
    with pytest.raises(
        ConfigError, match=r"copies from the source or has hard attention.*leave the shortlist out"
    ):
        tiny_model(**options).decoder.shortlist(torch.tensor([1, 3, 5]))


def test_decoders_without_attention_have_nothing_to_copy(tiny_model):
    with pytest.raises(ConfigError, match="no option 'copy'"):
        tiny_model("cho", copy=True)
