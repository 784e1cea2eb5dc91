"""The most probable words are those of a sort, by every path: ties, banned words, short rows, any number of threads."""

import os
from importlib.util import find_spec

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.ops.best_words import Allowed, best_allowed, best_words, fused, naive, native, persistent
from regard.ops.native import load, native_off

compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
PATHS = [pytest.param(fused, id="fused"), pytest.param(native, id="native", marks=compiled)]


def same(path, logits, k, banned=None):
    log_probs, columns = path.best_words(logits.clone(), k, banned)
    expected, expected_columns = naive.best_words(logits.clone(), k, banned)
    there = expected > float("-inf")
    assert torch.allclose(log_probs, expected, atol=2e-6, rtol=5e-7)
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


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
_RUN = find_spec("triton") is not None and (DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")
runs_kernels = pytest.mark.skipif(not _RUN, reason="kernels need a GPU, or Triton and TRITON_INTERPRET=1")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(fused.best_allowed, id="fused"),
        pytest.param(best_allowed, id="by places"),
        pytest.param(persistent.best_allowed, id="Triton", marks=runs_kernels),
    ],
)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_of_the_allowed_words(path, data):
    rows, words = data.draw(st.integers(1, 9)), data.draw(st.sampled_from([4, 7, 300, 5000]))
    k = data.draw(st.integers(1, min(words, 7)))
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 10**6)))
    dtype = data.draw(st.sampled_from([torch.float32, torch.bfloat16]))
    # few different values: many ties, and −0 beside 0
    logits = torch.randint(-3, 4, (rows, words), generator=generator).to(dtype) * -1
    if data.draw(st.booleans()):
        logits[torch.rand(rows, words, generator=generator) < 0.5] = float("-inf")
        logits[:, 3] = 1
    may_end, must_end = (torch.rand(rows, generator=generator) < 0.5 for _ in range(2))
    banned = torch.tensor(data.draw(st.sampled_from([[], [0], [0, 2]])), dtype=torch.long)
    allowed = Allowed(banned.to(DEVICE), 3, may_end.to(DEVICE), must_end.to(DEVICE))
    log_probs, columns = path(logits.clone().to(DEVICE), k, allowed)
    expected, expected_columns = naive.best_allowed(logits.clone().to(DEVICE), k, allowed)
    there = expected > float("-inf")
    # the sum, its logarithm and the difference are rounded at the size of log p
    torch.testing.assert_close(log_probs, expected, atol=2e-6, rtol=5e-7)
    assert torch.equal(columns[there], expected_columns[there])
    assert (columns >= 0).all()
    assert (columns < words).all()


@runs_kernels
def test_the_allowed_words_of_many_blocks():
    torch.manual_seed(1)
    logits = torch.randn(3, 3 * persistent.BLOCK + 5, device=DEVICE)
    flags = torch.tensor([True, False, True], device=DEVICE)
    allowed = Allowed(torch.tensor([0, 2], device=DEVICE), 3, flags, ~flags)
    log_probs, columns = persistent.best_allowed(logits, 5, allowed)
    expected, expected_columns = naive.best_allowed(logits, 5, allowed)
    torch.testing.assert_close(log_probs, expected)
    there = expected > float("-inf")
    assert torch.equal(columns[there], expected_columns[there])
