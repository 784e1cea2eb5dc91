"""Lists of ids become padded tensors; nothing but padding is added, and the mask says where."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.batches import pad, pad_pairs, pad_sources
from regard.text.pairs import EncodedPair
from regard.text.specials import BOS, EOS, PAD

ids = st.lists(st.integers(0, 50), max_size=6)
rows = st.lists(ids, min_size=1, max_size=5)


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


@given(rows)
def test_padding_stands_on_the_right_and_the_mask_takes_it_off_again(rows):
    padded, mask = pad(rows)
    assert padded.dtype == torch.long
    assert mask.dtype == torch.bool
    assert padded.shape == mask.shape == (len(rows), max(map(len, rows)))
    assert [one[real].tolist() for one, real in zip(padded, mask, strict=True)] == rows
    assert mask.tolist() == [[k < len(row) for k in range(mask.shape[1])] for row in rows]
    assert (padded[~mask] == PAD).all()


@given(rows)
def test_every_source_ends_with_its_mark_even_an_empty_one(sources):
    batch = pad_sources(sources)
    for row, real, source in zip(batch.source_ids, batch.source_mask, sources, strict=True):
        assert row[real].tolist() == [*source, EOS]
    assert batch.source_mask.any(dim=1).all()


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=5))
def test_previous_words_are_the_targets_one_step_earlier(pairs):
    batch = pad_pairs([EncodedPair(source, target) for source, target in pairs])
    assert torch.equal(batch.source_ids, pad_sources([source for source, _ in pairs]).source_ids)
    rows = zip(batch.previous_ids, batch.target_ids, batch.target_mask, strict=True)
    for (previous, following, real), (_, target) in zip(rows, pairs, strict=True):
        assert previous[real].tolist() == [BOS, *target]
        assert following[real].tolist() == [*target, EOS]
        assert (previous[~real] == PAD).all()
        assert (following[~real] == PAD).all()


def test_a_batch_moves_whole():
    batch = pad_pairs([EncodedPair([4, 5], [6])])
    moved = batch.to("meta")
    for name in ("source_ids", "source_mask", "previous_ids", "target_ids", "target_mask"):
        assert getattr(moved, name).device.type == "meta", name
        assert getattr(moved, name).shape == getattr(batch, name).shape
    assert pad_sources([[4]]).to("meta").source_mask.device.type == "meta"


def test_gold_links_stand_at_their_tokens():
    pairs = [
        EncodedPair([5, 6, 7], [8, 9], links=frozenset({(0, 0), (2, 0), (1, 1)})),
        EncodedPair([5], [8, 8, 8]),
    ]
    batch = pad_pairs(pairs)
    assert batch.gold is not None
    expected = torch.zeros(2, 4, 4)
    expected[0, 0] = torch.tensor([1.0, 0, 1.0, 0])
    expected[0, 1, 1] = 1
    assert torch.equal(batch.gold, expected), "rows without a link are zero, those of the end mark among them"
    assert len(tensors(batch)) == 6
    assert torch.equal(batch.to("cpu").gold, expected)
    plain = pad_pairs(pairs[1:])
    assert plain.gold is None
    assert len(tensors(plain)) == 5
