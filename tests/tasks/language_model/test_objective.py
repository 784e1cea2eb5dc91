import pytest
import torch

from regard.batches import pad_lines
from regard.models import LanguageModelConfig, LanguageModelNetwork
from regard.tasks.base import sequence_loss
from regard.tasks.language_model.task import LanguageModelObjective


@pytest.mark.parametrize("tie", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_objective_is_the_logits_loss_with_its_gradient(tie, smoothing):
    config = LanguageModelConfig(cell="gru", embedding_size=4, state_size=4, tie=tie)
    model = LanguageModelNetwork(config, 9).double().eval()
    batch = pad_lines([[4, 5, 6], [7], [], [8, 4]])
    ours, last = LanguageModelObjective(model, smoothing)(batch)
    predicted = model(batch.previous_ids, batch.mask)
    theirs = sequence_loss(predicted.logits, batch.target_ids[batch.mask], smoothing)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)
    assert torch.equal(last[0][0], predicted.state[0][0])
    leaves = list(model.parameters())
    for one, other in zip(*(torch.autograd.grad(loss, leaves) for loss in (ours, theirs)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)
