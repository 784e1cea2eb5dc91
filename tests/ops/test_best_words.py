"""The most probable words are those of a sort, by every path: ties, banned words, short rows, any number of threads."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.ops.best_words import best_words, fused, naive, native
from regard.ops.native import load, native_off

compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
PATHS = [pytest.param(fused, id="fused"), pytest.param(native, id="native", marks=compiled)]


def same(path, logits, k, banned=None):
    log_probs, columns = path.best_words(logits.clone(), k, banned)
    expected, expected_columns = naive.best_words(logits.clone(), k, banned)
    there = expected > float("-inf")
    assert torch.allclose(log_probs, expected, atol=2e-6)
    assert torch.equal(columns[there], expected_columns[there])


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=50, deadline=None)
@given(st.data())
def test_of_any_size_with_ties_and_banned_words(path, data):
    rows, words = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 400))
    k = data.draw(st.integers(1, min(words, 12)))
    torch.manual_seed(rows * words)
    # few different values: many ties
    logits = (
        torch.randint(-9, 9, (rows, words)).float() if data.draw(st.booleans()) else torch.randn(rows, words)
    )
    banned = torch.randint(rows * words, (data.draw(st.integers(0, rows * words // 2)),))
    same(path, logits, k, data.draw(st.sampled_from([None, banned])))


@compiled
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_are_shared_among_threads(threads):
    used = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        logits = 4 * torch.randn(161, 1003)
        banned = torch.arange(161) * 1003 + logits.argmax(dim=1)
        same(native, logits, 5, banned)
    finally:
        torch.set_num_threads(used)


@pytest.mark.parametrize("path", [naive, fused, pytest.param(native, marks=compiled)])
def test_a_banned_word_keeps_its_share(path):
    logits = torch.tensor([[0.25, 0.5, 0.25]]).log()
    log_probs, columns = path.best_words(logits, 3, torch.tensor([1]))
    assert columns[0, :2].tolist() == [0, 2]
    assert log_probs[0].exp().tolist() == pytest.approx([0.25, 0.25, 0])


@compiled
def test_large_logits_do_not_overflow_and_what_is_no_number_shows():
    same(native, torch.tensor([[1e30, 0.0, -1e30], [500.0, 499.0, -500.0]]), 3)
    assert native.best_words(torch.tensor([[0.0, float("nan"), 1.0]]), 2)[0].isnan().all()


@compiled
def test_the_kernel_is_taken_for_a_beam_s_few_words_in_float32(monkeypatch):
    taken = []
    monkeypatch.setattr(
        native, "best_words", lambda *given: taken.append(given[1]) or naive.best_words(*given)
    )
    best_words(torch.randn(2, 100), 5)
    best_words(torch.randn(2, 100), 65)
    best_words(torch.randn(2, 100).double(), 5)
    with native_off():
        best_words(torch.randn(2, 100), 5)
    assert taken == [5]
