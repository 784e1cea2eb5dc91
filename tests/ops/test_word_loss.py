"""The loss of the right words: fused is naive in values and gradients, naive is the formula, and no chunk shows."""

import math

import pytest
import torch
from torch.nn import functional

from regard.errors import RegardError
from regard.ops import backends
from regard.ops import word_loss as package
from regard.ops.native import native_off
from regard.ops.paths import naive_only
from regard.ops.word_loss import fused, naive, word_loss
from regard.ops.word_loss.softmax_loss import softmax_loss_

L = 5
SIZES = {"one word": (1, 2), "63 of 9": (63, 9), "65 of 7": (65, 7), "a vocabulary": (4, 301)}
both = pytest.mark.parametrize("path", [fused.word_loss, naive.word_loss], ids=["fused", "naive"])
smoothings = pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])


def given(num_rows, size, dtype=torch.float64):
    """Readouts, W_o and b_o, and the right words."""
    tensors = [torch.randn(*shape, dtype=dtype) for shape in ((num_rows, L), (size, L), (size,))]
    return tensors, torch.randint(size, (num_rows,))


def running(path, targets, smoothing):
    return lambda readout, W_o, b_o: [path(readout, targets, W_o, b_o, smoothing)]


@pytest.fixture(params=[1, 3, 10**6], ids=["a row a chunk", "three rows a chunk", "one chunk"])
def rows_of_a_chunk(request, monkeypatch):
    """As many rows to a chunk, whatever the vocabulary."""
    monkeypatch.setattr(fused, "_chunk_rows", lambda *sizes: request.param)


@smoothings
@pytest.mark.parametrize(("num_rows", "size"), SIZES.values(), ids=SIZES.keys())
def test_fused_is_naive_in_values_and_gradients(num_rows, size, smoothing, rows_of_a_chunk, agree):
    tensors, targets = given(num_rows, size)
    agree(running(fused.word_loss, targets, smoothing), running(naive.word_loss, targets, smoothing), tensors)


@smoothings
@both
def test_it_is_torch_s_own(path, smoothing, agree):
    tensors, targets = given(6, 8)

    def torchs(readout, W_o, b_o):
        logits = functional.linear(readout, W_o, b_o)
        return [functional.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)]

    agree(running(path, targets, smoothing), torchs, tensors)


@both
def test_gradients_are_the_derivatives(path):
    tensors, targets = given(4, 6)
    assert torch.autograd.gradcheck(
        running(path, targets, 0.1), [tensor.requires_grad_() for tensor in tensors]
    )


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2), (1, 2)], ids=str)
def test_only_what_learns_has_a_gradient(wanted, rows_of_a_chunk):
    tensors, targets = given(7, 9)
    grads = {}
    for path in (fused, naive):
        leaves = [tensor.clone().requires_grad_(k in wanted) for k, tensor in enumerate(tensors)]
        path.word_loss(leaves[0], targets, *leaves[1:], 0.1).backward()
        grads[path] = [leaf.grad for leaf in leaves]
    for k, (ours, theirs) in enumerate(zip(grads[fused], grads[naive], strict=True)):
        assert (ours is None) is (theirs is None) is (k not in wanted)
        if k in wanted:
            torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


def test_a_loss_used_twice_has_the_gradient_of_its_sum():
    """The gradients kept are scaled, never changed: a second way back through the same loss finds them whole."""
    (readout, W_o, b_o), targets = given(3, 4)
    loss = word_loss(readout.requires_grad_(), targets, W_o, b_o)
    one, two = (torch.autograd.grad(scale * loss, readout, retain_graph=True)[0] for scale in (1.0, -0.25))
    torch.testing.assert_close(two, -0.25 * one, rtol=1e-14, atol=0)


def test_a_second_derivative_is_refused_rather_than_forgotten():
    (readout, W_o, b_o), targets = given(3, 4)
    loss = word_loss(readout.requires_grad_(), targets, W_o, b_o)
    with pytest.raises(RegardError, match=r"first derivative only; .* within regard.ops.paths.naive_only"):
        torch.autograd.grad(loss, readout, create_graph=True)
    with naive_only():
        loss = word_loss(readout, targets, W_o, b_o)
    (once,) = torch.autograd.grad(loss, readout, create_graph=True)
    (twice,) = torch.autograd.grad(once.square().sum(), readout)
    assert float(twice.norm()) > 0.01


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients_only_the_loss_is_made(mode, monkeypatch):
    tensors, targets = given(6, 8)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    expected = word_loss(leaves[0], targets, *leaves[1:], 0.1)
    monkeypatch.delattr(fused, "_add_product")  # the gradient of W_o would ask for it
    with mode():
        loss = word_loss(leaves[0], targets, *leaves[1:], 0.1)
    assert not loss.requires_grad
    assert torch.equal(loss, expected)


@smoothings
def test_words_that_are_all_but_impossible_keep_their_loss(smoothing):
    """The probability is below the smallest float32; its logarithm and the gradient are correct."""
    logits = torch.tensor([[0.0, 200.0, 3.0], [-500.0, 500.0, 0.0]])
    targets = torch.tensor([0, 0])
    wide = logits.double().requires_grad_()
    expected = functional.cross_entropy(wide, targets, reduction="sum", label_smoothing=smoothing)
    expected.backward()
    loss = softmax_loss_(logits, targets, smoothing)
    assert float(loss) == pytest.approx(float(expected.detach()), rel=1e-6)
    torch.testing.assert_close(logits.double(), wide.grad, rtol=1e-6, atol=1e-7)


def test_nothing_as_large_as_all_logits_is_made_or_kept(monkeypatch):
    tensors, targets = given(64, 50)
    seen, kept = [], []

    def watched(logits, *rest):
        seen.append(len(logits))
        return softmax_loss_(logits, *rest)

    monkeypatch.setattr(fused, "softmax_loss_", watched)
    monkeypatch.setattr(fused, "_CPU_BYTES", 4 * 50 * 10)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: kept.append(tensor.shape) or tensor, lambda x: x
    ):
        word_loss(leaves[0], targets, *leaves[1:], 0.1).backward()
    assert seen == [10, 10, 10, 10, 10, 10, 4]
    assert kept == [(64, L), (50, L), (50,)]


def test_equal_words_are_equally_likely():
    targets = torch.randint(50, (1000,))
    for path in (fused, naive):
        loss = path.word_loss(torch.randn(1000, L), targets, torch.zeros(50, L), torch.ones(50), 0.3)
        assert float(loss) == pytest.approx(1000 * math.log(50), rel=1e-5)


@smoothings
def test_bfloat16_products_have_a_float32_softmax_and_float32_sums(smoothing, rows_of_a_chunk):
    tensors, targets = given(65, 40, torch.float32)
    narrow = [tensor.bfloat16().double().requires_grad_() for tensor in tensors]
    exact = naive.word_loss(narrow[0], targets, *narrow[1:], smoothing)
    exact.backward()
    leaves = [tensor.requires_grad_() for tensor in tensors]
    with torch.autocast("cpu", torch.bfloat16):
        loss = word_loss(leaves[0], targets, *leaves[1:], smoothing)
    loss.backward()
    assert loss.dtype == torch.float32
    # each logit is rounded to 8 bits of about 5; 65 of them fall on either side
    assert float(loss.detach()) == pytest.approx(float(exact.detach()), rel=2e-3)
    for leaf, wide in zip(leaves, narrow, strict=True):
        assert leaf.grad.dtype == torch.float32
        error = (leaf.grad.double() - wide.grad).norm() / wide.grad.norm()
        assert float(error) < 0.01, "8 bits are 0.4 %"


def test_autocast_narrows_as_it_does_the_naive_path():
    tensors, targets = given(20, 30, torch.float32)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    with torch.autocast("cpu", torch.bfloat16):
        ours, theirs = (path.word_loss(leaves[0], targets, *leaves[1:]) for path in (fused, naive))
    assert float(ours.detach()) == pytest.approx(float(theirs.detach()), rel=1e-5)
    wide = word_loss(leaves[0], targets, *leaves[1:])
    assert float(ours.detach()) != pytest.approx(float(wide.detach()), rel=1e-5)
    doubles = [tensor.detach().double() for tensor in tensors]
    exact = word_loss(doubles[0], targets, *doubles[1:])
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(word_loss(doubles[0], targets, *doubles[1:]), exact), "float64 is left alone"


def test_all_chunks_are_about_alike_and_within_their_limit():
    for num_rows, size in ((1344, 8004), (1, 5_000_000), (7, 3_000_000), (10_000, 40)):
        rows = fused._chunk_rows(num_rows, size, "cpu")
        assert rows == 1 or 4 * rows * size <= fused._CPU_BYTES
        num_chunks = math.ceil(num_rows / rows)
        assert rows * num_chunks - num_rows < num_chunks, "the last chunk is about as large as the others"
        assert rows == math.ceil(num_rows / num_chunks)
    assert fused._chunk_rows(10_000, 40, "cpu") == 10_000
    assert fused._chunk_rows(1344, 8004, "cuda") == 1344
    assert fused._chunk_rows(6400, 30_000, "cuda") == 2134  # three chunks, the limit being 2,236
    assert fused._chunk_rows(0, 40, "cpu") == 1


def test_which_path_runs(monkeypatch):
    taken = []
    plain = naive.word_loss
    for name in ("native", "fused", "naive"):
        monkeypatch.setattr(
            getattr(package, name), "word_loss", lambda *t, n=name: taken.append(n) or plain(*t)
        )
    (readout, W_o, b_o), targets = given(2, 3, torch.float32)

    def run():
        word_loss(readout, targets, W_o, b_o)

    with naive_only():
        run()
    with native_off():
        run()
        with torch.autocast("cpu", torch.bfloat16):
            run()
    with torch.autocast("cpu", torch.float16):
        run()
    assert taken == ["naive", "fused", "fused", "naive"]
    monkeypatch.setattr(backends, "native_refuses", lambda *_, op: "")
    run()
    assert taken[4:] == ["native"]
