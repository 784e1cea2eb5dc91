"""Words for a tagger: the end mark is read and gets no tag."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.batches import pad_tagged, pad_words
from regard.text import EncodedTagged
from regard.text.specials import EOS, PAD

sentence = st.lists(st.tuples(st.integers(4, 50), st.integers(0, 5)), max_size=6)


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


@given(st.lists(sentence, min_size=1, max_size=5))
def test_a_tag_for_each_word_and_none_for_the_mark(sentences):
    encoded = [EncodedTagged([w for w, _ in one], [t for _, t in one]) for one in sentences]
    batch = pad_tagged(encoded)
    assert batch.word_mask.sum() == batch.mask.sum() - len(sentences)
    for k, one in enumerate(encoded):
        assert batch.ids[k][batch.word_mask[k]].tolist() == one.word_ids
        assert batch.tag_ids[k][batch.word_mask[k]].tolist() == one.tag_ids
        assert batch.ids[k][batch.mask[k]].tolist() == [*one.word_ids, EOS]
        assert (batch.ids[k][~batch.mask[k]] == PAD).all()
    plain = pad_words([one.word_ids for one in encoded])
    for name in ("ids", "mask", "word_mask"):
        assert torch.equal(getattr(plain, name), getattr(batch, name))


def test_batches_move_whole():
    batch = pad_tagged([EncodedTagged([4], [1])]).to("meta")
    assert all(tensor.device.type == "meta" for tensor in tensors(batch))
    words = pad_words([[4]]).to("meta")
    assert words.ids.device.type == words.mask.device.type == words.word_mask.device.type == "meta"
