"""Batches: every sentence once, within the budgets; nothing but padding and marks added, and the mask says where."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from lightning.fabric.plugins import MixedPrecision

from regard.batches import (
    Batch,
    Stream,
    batch_by_length,
    batch_shuffled,
    pad,
    pad_captioned,
    pad_labelled,
    pad_lines,
    pad_pairs,
    pad_sources,
    pad_tagged,
    pad_texts,
    pad_words,
    select_positions,
    token_positions,
)
from regard.errors import ConfigError, DataError
from regard.text import EncodedLabelled, EncodedTagged
from regard.text.pairs import EncodedPair
from regard.text.specials import BOS, EOS, PAD

lengths = st.lists(st.integers(1, 40), max_size=120)
max_sentences = st.integers(1, 12)
max_tokens = st.integers(1, 200)


def check_budgets(batches, lengths, max_sentences, max_tokens):
    for batch in batches:
        assert 1 <= len(batch) <= max_sentences
        # a sentence above the budget by itself has a batch by itself
        assert len(batch) * max(lengths[k] for k in batch) <= max_tokens or len(batch) == 1


@given(lengths, max_sentences, max_tokens)
def test_in_order_of_length(lengths, max_sentences, max_tokens):
    batches = batch_by_length(lengths, max_sentences, max_tokens)
    order = [index for batch in batches for index in batch]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[k] for k in order] == sorted(lengths, reverse=True)
    check_budgets(batches, lengths, max_sentences, max_tokens)
    # no batch but the last had room for one more
    for batch in batches[:-1]:
        grown = len(batch) + 1
        assert grown > max_sentences or grown * lengths[batch[0]] > max_tokens


@given(lengths, max_sentences, max_tokens, st.integers(0, 9), st.integers(0, 9))
def test_shuffled(lengths, max_sentences, max_tokens, seed, epoch):
    batches = batch_shuffled(lengths, max_sentences, max_tokens, seed=seed, epoch=epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    check_budgets(batches, lengths, max_sentences, max_tokens)
    assert batches == batch_shuffled(lengths, max_sentences, max_tokens, seed=seed, epoch=epoch)


def test_epochs_and_seeds_have_orders_of_their_own():
    lengths = [1 + k % 7 for k in range(200)]
    orders = {
        (seed, epoch): str(batch_shuffled(lengths, 8, 1000, seed=seed, epoch=epoch))
        for seed in (1, 2)
        for epoch in (1, 2)
    }
    assert len(set(orders.values())) == 4


def test_companions_are_neighbours_in_length():
    lengths = [1 + (k * 37) % 60 for k in range(600)]
    padded = sum(
        len(batch) * max(lengths[k] for k in batch)
        for batch in batch_shuffled(lengths, 20, 10**6, seed=0, epoch=0)
    )
    assert padded < 1.05 * sum(lengths), "at most a twentieth is padding"


def test_batches_do_not_come_in_order_of_length():
    lengths = [1 + k % 50 for k in range(1000)]
    longest = [
        max(lengths[k] for k in batch) for batch in batch_shuffled(lengths, 20, 10**6, seed=0, epoch=0)
    ]
    assert longest != sorted(longest)
    assert longest != sorted(longest, reverse=True)


@pytest.mark.parametrize(("sentences", "tokens", "named"), [(0, 1, "max_sentences"), (1, 0, "max_tokens")])
def test_a_budget_of_nothing_is_refused(sentences, tokens, named):
    with pytest.raises(ConfigError, match=f"{named}: 0 .*at least 1"):
        batch_by_length([1], sentences, tokens)
    with pytest.raises(ConfigError, match=f"{named}: 0 .*at least 1"):
        batch_shuffled([1], sentences, tokens, seed=0, epoch=0)


ids = st.lists(st.integers(0, 50), max_size=6)
rows = st.lists(ids, min_size=1, max_size=5)
sentence = st.lists(st.tuples(st.integers(4, 50), st.integers(0, 5)), max_size=6)
FEATURES = [np.array([1, 2], dtype=np.float32), np.array([3, 4], dtype=np.float32)]


def tensors(batch):
    """Its tensors, in the order of the fields, those of tuples one by one."""
    values = [value if isinstance(value, tuple) else (value,) for value in vars(batch).values()]
    return [tensor for value in values for tensor in value if isinstance(tensor, torch.Tensor)]


BATCHES = {
    "sources": pad_sources([[4, 5], []]),
    "pairs": pad_pairs([EncodedPair([4, 5], [6]), EncodedPair([4], [7, 8])]),
    "pairs with gold": pad_pairs([EncodedPair([4, 5], [6], links=frozenset({(1, 0)}))]),
    "lines": pad_lines([[4, 5], []]),
    "a window": Stream([[4, 5, 6], [7], [8, 9]], 2, 2)[1],
    "captions": pad_captioned(FEATURES, [[4], [5, 6]]),
    "texts": pad_texts([[[4], [5, 6]]]),
    "labelled": pad_labelled([EncodedLabelled(([4], [5]), 1)]),
    "words": pad_words([[4]]),
    "tagged": pad_tagged([EncodedTagged([4, 5], [1, 0]), EncodedTagged([4], [1])]),
}
COUNTS = {
    "pairs": (5, 2),
    "pairs with gold": (2, 1),
    "lines": (4, 2),
    "a window": (5, 2),
    "captions": (5, 2),
    "labelled": (1, 1),
    "tagged": (3, 2),
}
"""Predictions, EOS counted, and rows."""


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_a_batch_moves_whole(batch):
    moved = batch.to("meta")
    assert type(moved) is type(batch)
    assert [tensor.shape for tensor in tensors(moved)] == [tensor.shape for tensor in tensors(batch)]
    assert {tensor.device.type for tensor in tensors(moved)} == {"meta"}
    assert {tensor.device.type for tensor in tensors(batch)} == {"cpu"}
    if isinstance(batch, Batch):
        assert (moved.num_tokens, moved.num_sentences) == (batch.num_tokens, batch.num_sentences)


def test_what_the_loss_is_a_mean_over():
    counts = {
        name: (batch.num_tokens, batch.num_sentences)
        for name, batch in BATCHES.items()
        if isinstance(batch, Batch)
    }
    assert counts == COUNTS


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_fabric_converts_numbers_with_a_point_and_nothing_else(batch):
    """As it does with an objective's arguments in mixed precision; a frozen dataclass would be refused."""
    converted = MixedPrecision("bf16-mixed", "cpu").convert_input(batch)
    assert type(converted) is type(batch)
    for after, before in zip(tensors(converted), tensors(batch), strict=True):
        assert after.dtype == (torch.bfloat16 if before.is_floating_point() else before.dtype)
        assert torch.equal(after.to(before.dtype), before)
    if isinstance(batch, Batch):
        assert (converted.num_tokens, converted.num_sentences) == (batch.num_tokens, batch.num_sentences)
    assert getattr(converted, "continues", None) == getattr(batch, "continues", None)


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
    assert torch.equal(batch.gold, expected), "rows without a link are zero, those of EOS among them"
    assert len(tensors(batch)) == 6
    assert torch.equal(batch.to("cpu").gold, expected)
    plain = pad_pairs(pairs[1:])
    assert plain.gold is None
    assert len(tensors(plain)) == 5


@given(st.lists(st.lists(st.integers(4, 50), max_size=6), min_size=1, max_size=5))
def test_what_is_read_is_what_is_predicted_one_step_later(lines):
    batch = pad_lines(lines)
    for previous, target, real, line in zip(
        batch.previous_ids, batch.target_ids, batch.mask, lines, strict=True
    ):
        assert previous[real].tolist() == [BOS, *line]
        assert target[real].tolist() == [*line, EOS]
        assert (previous[~real] == PAD).all()
        assert (target[~real] == PAD).all()


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


def test_features_are_stacked_and_descriptions_padded_as_lines():
    batch = pad_captioned(FEATURES, [[4, 5], []])
    assert batch.features.tolist() == [[1, 2], [3, 4]]
    assert batch.features.dtype == torch.float32
    assert all(map(torch.equal, tensors(batch)[1:], tensors(pad_lines([[4, 5], []]))))
    assert batch.source_mask.tolist() == [[True], [True]]


def tokens_of(lines):
    return [token for line in lines for token in (*line, EOS)]


@given(
    st.lists(st.lists(st.integers(4, 20), max_size=5), min_size=1, max_size=12),
    st.integers(1, 6),
    st.integers(1, 7),
)
def test_every_token_is_predicted_once_from_the_one_before_it(lines, num_streams, steps):
    tokens = tokens_of(lines)
    assume(len(tokens) >= num_streams)
    stream = Stream(lines, num_streams, steps)
    windows = list(stream)
    assert len(windows) == len(stream)
    assert stream.num_tokens == len(tokens) == sum(int(window.mask.sum()) for window in windows)
    # every stream's windows put end to end, and the streams put end to end, are the corpus
    targets, previous = [], []
    for row in range(num_streams):
        for window in windows:
            targets += window.target_ids[row][window.mask[row]].tolist()
            previous += window.previous_ids[row][window.mask[row]].tolist()
    assert targets == tokens
    # after a line's end BOS is read, as before a line by itself
    assert previous == [BOS, *(BOS if token == EOS else token for token in tokens[:-1])]
    # no row of any window is empty, padding stands on the right, and windows are as wide as asked
    for window in windows:
        lengths = window.mask.sum(dim=1, keepdim=True)
        assert torch.equal(window.mask, torch.arange(window.mask.shape[1]) < lengths)
        assert lengths.min() >= 1
        assert (window.target_ids[~window.mask] == PAD).all()
    assert all(window.mask.shape[1] == steps for window in windows[:-1])
    assert 1 <= windows[-1].mask.shape[1] <= steps + 1


def test_a_window_by_number_is_the_one_met_on_the_way():
    stream = Stream([[4, 5, 6], [7], [8, 9]], 2, 2)
    for k, window in enumerate(stream):
        assert all(map(torch.equal, tensors(stream[k]), tensors(window)))
    assert torch.equal(stream[-1].target_ids, stream[len(stream) - 1].target_ids)
    with pytest.raises(IndexError):
        stream[len(stream)]


def test_streams_by_hand():
    """4 5 </s> 6 </s> in two streams: 4 5 </s> and 6 </s>; the shorter one's padding is masked."""
    [first, second] = Stream([[4, 5], [6]], 2, 1)
    assert first.previous_ids.tolist() == [[BOS], [BOS]]
    assert first.target_ids.tolist() == [[4], [6]]
    # a third window would have nothing of the second stream, so the last is one step wider
    assert second.previous_ids.tolist() == [[4, 5], [6, PAD]]
    assert second.target_ids.tolist() == [[5, EOS], [EOS, PAD]]
    assert second.mask.tolist() == [[True, True], [True, False]]


def test_streams_that_cannot_be():
    with pytest.raises(DataError, match="3 tokens, EOS counted, cannot be cut into 4 streams"):
        Stream([[4], []], 4, 2)
    with pytest.raises(ConfigError, match="the number of streams: 0 is out of range"):
        Stream([[4]], 0, 2)
    with pytest.raises(ConfigError, match="the steps of a window: 0 is out of range"):
        Stream([[4]], 1, 0)


PADDED = torch.tensor([[True, True, False], [True, False, False], [True, True, True]])


def test_token_positions_are_counted_row_by_row():
    assert token_positions(PADDED).tolist() == [0, 1, 3, 6, 7, 8]
    assert token_positions(torch.zeros(2, 2, dtype=torch.bool)).tolist() == []


@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 4)])
def test_selecting_positions_is_indexing_by_the_mask_with_its_gradient(shape):
    ours, theirs = (torch.randn(shape, dtype=torch.float64).requires_grad_() for _ in range(2))
    theirs.data.copy_(ours.data)
    selected, expected = select_positions(ours, token_positions(PADDED)), theirs[PADDED]
    assert torch.equal(selected, expected)
    for values in (selected, expected):
        (values**3).sum().backward()
    assert torch.equal(ours.grad, theirs.grad)
    assert not ours.grad[~PADDED].any()
