"""What the tasks share: the loss by its formula; every option reaches the tokenizer; a note says what is left out."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.layers import Output
from regard.tasks.base import filter_by_length, sequence_loss, train_text_tokenizer
from regard.tasks.config import TextTokenizerConfig


def test_every_option_reaches_the_tokenizer():
    lines = ["B b b", "a a", "c"]
    made = train_text_tokenizer(lines, TextTokenizerConfig(min_frequency=2))
    assert [made.tokens([k])[0] for k in range(4, made.size)] == ["a", "b"]
    assert train_text_tokenizer(lines, TextTokenizerConfig(text_size=5)).size == 5
    assert train_text_tokenizer(lines, TextTokenizerConfig(lowercase=True, text_size=5)).tokens([4]) == ["b"]
    assert train_text_tokenizer(lines, TextTokenizerConfig(text="char")).kind == "char"


@given(st.lists(st.text("ab", max_size=5)), st.integers(1, 5))
def test_all_are_kept_or_counted_in_a_note(texts, limit):
    fit = [text for text in texts if 0 < len(text) <= limit]
    blank, long = texts.count(""), sum(len(text) > limit for text in texts)
    if not fit:
        with pytest.raises(DataError) as caught:
            filter_by_length(texts, len, limit, what="words", unit="letters")
        account = f"of {len(texts)} training words {blank} are blank and {long} have more than {limit} letters; raise"
        assert account in str(caught.value)
        return
    kept, notes = filter_by_length(texts, len, limit, what="words", unit="letters")
    assert kept == fit
    blank_note = [f"training words: left out {blank} blank"] * bool(blank)
    note = f"training words: left out {long} of more than {limit} letters (data.max_length)"
    long_note = [note] * bool(long)
    assert notes == blank_note + long_note


@given(st.floats(0, 0.9), st.integers(2, 9), st.integers(1, 6))
def test_smoothed_loss_is_the_formula(smoothing, size, count):
    """Σ_t −Σ_v q_v log p_v with q = (1 − ε) at the right word and ε / V everywhere."""
    generator = torch.Generator().manual_seed(count)
    logits = torch.randn(count, size, generator=generator)
    targets = torch.randint(size, (count,), generator=generator)
    log_probs = logits.log_softmax(-1)
    expected = 0.0
    for t in range(count):
        for v in range(size):
            q = smoothing / size + (1 - smoothing) * (v == int(targets[t]))
            expected -= q * float(log_probs[t, v])
    assert float(sequence_loss(logits, targets, smoothing)) == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_half_precision_is_summed_in_float32():
    logits = torch.zeros(4000, 2, dtype=torch.bfloat16)
    total = sequence_loss(logits, torch.zeros(4000, dtype=torch.long))
    assert total.dtype == torch.float32
    assert float(total) == pytest.approx(4000 * 0.6931472, rel=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_words_have_the_loss_of_their_logits(smoothing):
    output = Output(3, 7).double()
    torch.nn.init.normal_(output.b_o)
    readout = torch.randn(5, 3, dtype=torch.float64).requires_grad_()
    targets = torch.tensor([0, 6, 3, 3, 1])
    ours = output.loss(readout, targets, smoothing)
    theirs = sequence_loss(output(readout), targets, smoothing)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)
    leaves = [readout, output.W_o, output.b_o]
    for ours_too, theirs_too in zip(
        *(torch.autograd.grad(loss, leaves) for loss in (ours, theirs)), strict=True
    ):
        torch.testing.assert_close(ours_too, theirs_too, rtol=1e-10, atol=1e-12)
