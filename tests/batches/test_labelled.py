"""Texts for a classifier: each ended by its mark, two of them padded apart, labels beside them."""

from hypothesis import given
from hypothesis import strategies as st

from regard.batches import pad_labelled, pad_texts
from regard.text import EncodedLabelled
from regard.text.specials import EOS, PAD

ids = st.lists(st.integers(4, 50), max_size=6)


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=4), st.sampled_from([1, 2]))
def test_every_text_ends_with_its_mark(rows, num_texts):
    rows = [row[:num_texts] for row in rows]
    batch = pad_labelled([EncodedLabelled(row, k) for k, row in enumerate(rows)])
    assert batch.label_ids.tolist() == list(range(len(rows)))
    assert len(batch.ids) == len(batch.masks) == num_texts
    for t in range(num_texts):
        assert batch.ids[t].shape[1] == max(len(row[t]) for row in rows) + 1
        for padded, mask, row in zip(batch.ids[t], batch.masks[t], rows, strict=True):
            assert padded[mask].tolist() == [*row[t], EOS]
            assert (padded[~mask] == PAD).all()


def test_batches_move_whole():
    texts = pad_texts([[[4], [5, 6]]]).to("meta")
    labelled = pad_labelled([EncodedLabelled(([4],), 1)]).to("meta")
    for tensor in (*texts.ids, *texts.masks, *labelled.ids, *labelled.masks, labelled.label_ids):
        assert tensor.device.type == "meta"
