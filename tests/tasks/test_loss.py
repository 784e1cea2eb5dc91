import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.layers import Output
from regard.tasks.loss import sequence_loss, words_loss


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
    ours = words_loss(readout, output, targets, smoothing)
    theirs = sequence_loss(output(readout), targets, smoothing)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)
    leaves = [readout, output.W_o, output.b_o]
    for ours_too, theirs_too in zip(
        *(torch.autograd.grad(loss, leaves) for loss in (ours, theirs)), strict=True
    ):
        torch.testing.assert_close(ours_too, theirs_too, rtol=1e-10, atol=1e-12)
