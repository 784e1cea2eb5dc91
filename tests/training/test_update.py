import pytest
import torch

from regard.batches import pad_pairs
from regard.ops.native import native_off
from regard.tasks.config import TrainingConfig
from regard.tasks.translate.objective import TranslationObjective
from regard.training.loop import update
from regard.training.optimizer import build_optimizer

# sums in another order: float64 leaves about 1e-16 for each of some hundred terms
CLOSE = {"rtol": 1e-10, "atol": 1e-13}


@pytest.fixture
def learn_from(fabric, small_model, prepared):
    """One update by plain gradient descent of rate 1, so that the step is the gradient; in float64."""

    def learn(*groups, clip=0.0, spoil=None, **options):
        model = small_model().double()
        if spoil is not None:
            with torch.no_grad():
                model.decoder.output.W_o.fill_(spoil)
        before = torch.cat([parameter.detach().clone().flatten() for parameter in model.parameters()])
        config = TrainingConfig(optimizer="sgd", learning_rate=1.0, max_updates=1)
        wrapped, optimizer = fabric.setup(TranslationObjective(model, 0.1), build_optimizer(model, config))
        batches = [pad_pairs([prepared.train[k] for k in group]) for group in groups]
        result = update(fabric, wrapped, optimizer, batches, wrapped, clip=clip, **options)
        after = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
        assert all(parameter.grad is None for parameter in model.parameters())
        return result, before - after

    return learn


def test_accumulated_batches_are_one_big_batch(learn_from):
    """Whatever their sizes: the mean is over all tokens, not over batches."""
    whole, gradient = learn_from(range(12))
    parts, accumulated = learn_from([0], range(1, 8), range(8, 12))
    torch.testing.assert_close(accumulated, gradient, **CLOSE)
    assert gradient.norm() > 0.01
    assert parts.num_tokens == whole.num_tokens
    assert parts.loss == pytest.approx(whole.loss, rel=1e-12)


def test_the_gradient_is_of_the_mean_loss_a_token(learn_from, small_model, prepared):
    model = small_model().double()
    batch = pad_pairs(prepared.train[:6])
    loss = TranslationObjective(model, 0.1)(batch)
    num_tokens = sum(len(pair.target_ids) + 1 for pair in prepared.train[:6])
    (loss / num_tokens).backward()
    expected = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    result, gradient = learn_from(range(6))
    torch.testing.assert_close(gradient, expected, **CLOSE)
    assert result.num_tokens == num_tokens
    assert result.loss == pytest.approx(float(loss.detach()) / num_tokens)
    assert result.gradient_norm == pytest.approx(float(expected.norm()), rel=1e-6)


def test_clipping_shortens_the_gradient_and_keeps_its_direction(learn_from):
    free, gradient = learn_from(range(6))
    norm = float(gradient.norm())
    clipped, shortened = learn_from(range(6), clip=norm / 4)
    # torch divides by the norm plus 1e-6
    torch.testing.assert_close(shortened, gradient / 4, rtol=1e-4, atol=1e-9)
    assert float(shortened.norm()) <= norm / 4
    assert clipped.gradient_norm == pytest.approx(free.gradient_norm), "the norm is reported unclipped"


def test_a_mean_over_sentences_is_the_same_direction_in_another_unit(learn_from):
    by_tokens, gradient = learn_from(range(4), range(4, 6))
    by_sentences, other = learn_from(range(4), range(4, 6), normalize="sentences")
    torch.testing.assert_close(other, gradient * by_tokens.num_tokens / 6, **CLOSE)
    assert by_sentences.loss == pytest.approx(by_tokens.loss), "the loss is reported per token all the same"


def test_a_gradient_that_is_not_finite_leaves_the_weights_alone(fabric, small_model, prepared, monkeypatch):
    model = small_model()
    config = TrainingConfig(optimizer="sgd", learning_rate=1.0, max_updates=1)
    wrapped, optimizer = fabric.setup(TranslationObjective(model, 0.0), build_optimizer(model, config))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    monkeypatch.setattr(fabric, "clip_gradients", lambda *args, **options: torch.tensor(float("inf")))
    batch = pad_pairs(prepared.train[:3])
    result = update(fabric, wrapped, optimizer, [batch], wrapped, clip=1.0)
    assert result.skipped == "the gradient's norm is inf"
    assert all(map(torch.equal, before, model.parameters()))
    assert update(fabric, wrapped, optimizer, [batch], wrapped, clip=1.0, scaled=True).skipped == ""


def test_a_gradient_within_bounds_is_left_alone(learn_from):
    _, gradient = learn_from(range(6))
    _, same = learn_from(range(6), clip=1000.0)
    torch.testing.assert_close(same, gradient, **CLOSE)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_leaves_the_weights_alone(learn_from, value):
    result, step = learn_from(range(3), spoil=value)
    assert result.skipped in ("the loss is nan", "the loss is inf")
    assert not step[step.isfinite()].any()


def test_an_update_waits_for_its_device_once(fabric, small_model, prepared, monkeypatch):
    """A loss that is read as soon as it is there would keep a GPU waiting before the backward pass of the next."""
    model = small_model()
    config = TrainingConfig(optimizer="sgd", learning_rate=1.0, max_updates=1)
    wrapped, optimizer = fabric.setup(TranslationObjective(model, 0.0), build_optimizer(model, config))
    batches = [pad_pairs(prepared.train[k : k + 3]) for k in (0, 3)]
    read = []

    def spy(name):
        plain = getattr(torch.Tensor, name)

        def call(tensor, *args):
            read.append((name, tensor.shape))
            return plain(tensor, *args)

        monkeypatch.setattr(torch.Tensor, name, call)

    for name in ("item", "tolist", "__float__", "__bool__", "__int__", "cpu"):
        spy(name)
    with native_off():  # as on a GPU: the kernels in C look at what is on the CPU anyway
        update(fabric, wrapped, optimizer, batches, wrapped, clip=1.0)
    assert read == [("tolist", (3,))], "two losses and the norm"
