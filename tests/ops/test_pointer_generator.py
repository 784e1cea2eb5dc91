"""The pointer-generator's mixture against the paper's sums, one word at a time."""

import math

import pytest
import torch

from regard.ops.pointer_generator import copy_probs, generation_logits, pointer_generator


def softmax(row):
    weights = [math.exp(value) for value in row]
    return [weight / sum(weights) for weight in weights]


def test_the_gate_is_the_papers():
    context, state, embedded = torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 5)
    w_c, w_s, w_x, b = torch.randn(3), torch.randn(4), torch.randn(5), torch.randn(())
    logits = generation_logits(context, state, embedded, w_c, w_s, w_x, b)
    for r in range(2):
        expected = (w_c * context[r]).sum() + (w_s * state[r]).sum() + (w_x * embedded[r]).sum() + b
        torch.testing.assert_close(logits[r], expected)


def test_every_words_probability_is_the_papers():
    """A word that occurs twice in the source gets both weights."""
    logits = torch.randn(1, 5, dtype=torch.float64)
    alpha = torch.tensor([[0.1, 0.2, 0.3, 0.4]], dtype=torch.float64)
    copy_ids = torch.tensor([[3, 1, 3, 4]])
    generation = torch.tensor([0.7], dtype=torch.float64)
    p_gen = 1 / (1 + math.exp(-0.7))
    vocabulary = softmax(logits[0].tolist())
    probs = pointer_generator(logits, generation, alpha, copy_ids).exp()[0]
    for word in range(5):
        copied = sum(alpha[0, j].item() for j in range(4) if copy_ids[0, j] == word)
        assert probs[word].item() == pytest.approx(p_gen * vocabulary[word] + (1 - p_gen) * copied)


def test_a_word_without_a_counterpart_cannot_be_copied():
    """Its share is taken away, and what is left sums to 1; without any counterpart, every word is generated."""
    logits = torch.randn(2, 5, dtype=torch.float64)
    alpha = torch.tensor([[0.25, 0.75]], dtype=torch.float64).repeat(2, 1)
    copy_ids = torch.tensor([[2, -1], [-1, -1]])
    generation = torch.zeros(2, dtype=torch.float64)
    probs = pointer_generator(logits, generation, alpha, copy_ids).exp()
    torch.testing.assert_close(probs.sum(-1), torch.ones(2, dtype=torch.float64))
    vocabulary = softmax(logits[0].tolist())
    total = 0.5 + 0.5 * 0.25
    for word in range(5):
        expected = (0.5 * vocabulary[word] + 0.5 * 0.25 * (word == 2)) / total
        assert probs[0, word].item() == pytest.approx(expected)
    torch.testing.assert_close(probs[1], logits[1].softmax(-1))
    closed = pointer_generator(logits, torch.full((2,), -2000.0, dtype=torch.float64), alpha, copy_ids).exp()
    torch.testing.assert_close(closed[0], torch.eye(5, dtype=torch.float64)[2])
    torch.testing.assert_close(closed[1], logits[1].softmax(-1))
    assert copy_probs(alpha, copy_ids, 5).tolist() == [[0, 0, 0.25, 0, 0], [0] * 5]


def test_gradients_are_the_derivatives():
    logits = torch.randn(2, 5, dtype=torch.float64, requires_grad=True)
    generation = torch.randn(2, dtype=torch.float64, requires_grad=True)
    alpha = torch.rand(2, 3, dtype=torch.float64).softmax(-1).requires_grad_()
    copy_ids = torch.tensor([[2, 2, 4], [0, -1, 1]])
    assert torch.autograd.gradcheck(
        lambda *parts: pointer_generator(*parts, copy_ids), (logits, generation, alpha)
    )


def test_words_of_no_weight_have_finite_gradients():
    """As sparsemax gives them, and as padding has them; and gates that are closed either way."""
    alpha = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    logits = torch.randn(2, 4, requires_grad=True)
    generation = torch.tensor([-200.0, 200.0], requires_grad=True)
    log_probs = pointer_generator(logits, generation, alpha, torch.tensor([[1, 2], [-1, 3]]))
    assert log_probs[0].exp().tolist() == pytest.approx([0, 1, 0, 0])
    torch.testing.assert_close(log_probs[1], logits[1].log_softmax(-1))
    log_probs[:, 1].sum().backward()
    for part in (alpha, logits, generation):
        assert part.grad.isfinite().all()


def test_half_precision_is_summed_in_float32():
    logits = torch.randn(1, 5, dtype=torch.bfloat16)
    log_probs = pointer_generator(
        logits,
        torch.zeros(1, dtype=torch.bfloat16),
        torch.ones(1, 1, dtype=torch.bfloat16),
        torch.tensor([[2]]),
    )
    assert log_probs.dtype == torch.float32


def test_words_outside_the_vocabulary_are_copied_and_never_generated():
    torch.manual_seed(5)
    logits, generation = (
        torch.randn(2, 4, dtype=torch.float64),
        torch.tensor([0.3, -1.0], dtype=torch.float64),
    )
    alpha = torch.tensor([[0.5, 0.2, 0.2, 0.1], [0.4, 0.6, 0.0, 0.0]], dtype=torch.float64)
    copy_ids = torch.tensor([[4, 5, 4, 2], [1, -1, 3, 3]])  # 4 and 5 are the extension by two words
    log_probs = pointer_generator(logits, generation, alpha, copy_ids, 2)
    assert log_probs.shape == (2, 6)
    p_gen = generation[0].sigmoid()
    vocabulary = logits[0].softmax(dim=0)
    expected = [*(p_gen * vocabulary), (1 - p_gen) * 0.7, (1 - p_gen) * 0.2]
    expected[2] += (1 - p_gen) * 0.1
    torch.testing.assert_close(log_probs[0].exp(), torch.stack(expected))
    assert log_probs[1, 4:].tolist() == [-math.inf, -math.inf], "the second sentence has no such word"
    alone = pointer_generator(logits[1:], generation[1:], alpha[1:], copy_ids[1:])
    torch.testing.assert_close(log_probs[1:, :4], alone)
    torch.testing.assert_close(log_probs.exp().sum(dim=1), torch.ones(2, dtype=torch.float64))
