import dataclasses

import pytest
import torch

from regard.batches import pad_pairs
from regard.tasks.base import sequence_loss
from regard.tasks.translate.objective import TranslationObjective


def test_the_objective_is_the_model_with_its_loss(small_model, prepared):
    model = small_model().eval()
    batch = pad_pairs(prepared.train[:5])
    with torch.no_grad():
        loss = TranslationObjective(model, 0.1)(batch)
        expected = sequence_loss(model(batch).logits, batch.target_ids[batch.target_mask], 0.1)
    torch.testing.assert_close(loss, expected, rtol=1e-6, atol=0)  # float32, summed in another order


@pytest.mark.parametrize("tied", [False, True])
def test_its_gradient_is_that_of_the_logits_loss(tied, small_model, prepared):
    """Also where the output matrix is the embedding, which then learns from both its ends."""
    model = small_model().double()
    if tied:
        model.decoder.output.W_o = model.decoder.embedding.E
    batch = pad_pairs(prepared.train[:5])
    ours = TranslationObjective(model, 0.1)(batch)
    theirs = sequence_loss(model(batch).logits, batch.target_ids[batch.target_mask], 0.1)
    leaves = list(model.parameters())
    for one, other in zip(*(torch.autograd.grad(loss, leaves) for loss in (ours, theirs)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def linked(prepared, count=5):
    """Some pairs with the toy's own links, word k to word k."""
    return [
        dataclasses.replace(pair, links=frozenset((k, k) for k in range(len(pair.target_ids))))
        for pair in prepared.train[:count]
    ]


def test_guided_alignment_adds_the_gold_links_cross_entropy(small_model, prepared):
    model = small_model().eval()
    batch = pad_pairs(linked(prepared))
    with torch.no_grad():
        plain = TranslationObjective(model, 0.0)(batch)
        guided = TranslationObjective(model, 0.0, guided_alignment=0.5)(batch)
        alpha = model(batch).alpha
    nats = 0.0
    for b, pair in enumerate(prepared.train[:5]):
        for k in range(len(pair.target_ids)):
            nats -= float(alpha[b, k, k].log())
    assert float(guided - plain) == pytest.approx(0.5 * nats, rel=1e-4)


def test_coverage_adds_what_is_looked_at_twice(small_model, prepared):
    model = small_model().eval()
    batch = pad_pairs(prepared.train[:5])
    with torch.no_grad():
        plain = TranslationObjective(model, 0.0)(batch)
        covered = TranslationObjective(model, 0.0, coverage=2.0)(batch)
        alpha = model(batch).alpha
    again = 0.0
    for b in range(5):
        seen = torch.zeros(alpha.shape[2])
        for t in range(int(batch.target_mask[b].sum())):
            again += float(torch.minimum(alpha[b, t], seen).sum())
            seen = seen + alpha[b, t]
    assert again > 0
    assert float(covered - plain) == pytest.approx(2 * again, rel=1e-4)


def test_consistency_adds_the_divergence_of_the_two_halves(small_model, prepared):
    model = small_model().double().eval()
    twice = pad_pairs(prepared.train[:4] * 2)
    plain = TranslationObjective(model, 0.1)(twice)
    same = TranslationObjective(model, 0.1, consistency=5.0)(twice)
    torch.testing.assert_close(same, plain, rtol=1e-9, atol=0)  # without dropout the halves agree
    others = pad_pairs([*prepared.train[:4], *prepared.train[:4]])
    others.source_ids = torch.cat([others.source_ids[:4], others.source_ids[:4].roll(1, dims=0)])
    with torch.no_grad():
        log_p, log_q = model(others).logits.log_softmax(dim=-1).chunk(2)
        divergence = sum(
            torch.nn.functional.kl_div(one, other, log_target=True, reduction="sum")
            for one, other in ((log_p, log_q), (log_q, log_p))
        )
        plain, ours = (TranslationObjective(model, 0.1, consistency=weight)(others) for weight in (0.0, 5.0))
    assert divergence > 1e-6
    torch.testing.assert_close(ours - plain, 5.0 * divergence / 2, rtol=1e-6, atol=0)
