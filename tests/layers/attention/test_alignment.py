"""The alignment attention: it knows the word it aligns, learns from links, and leaves the translator as it is."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from regard.batches import pad_pairs
from regard.errors import ConfigError
from regard.inference.ensemble import Ensemble
from regard.layers import AlignmentAttention
from regard.models import Seq2Seq
from regard.ops.attention import guided_alignment, link_rest_to_end
from regard.server.operations.translate import TranslationAnswer
from regard.tasks.translate.objective import TranslationObjective
from regard.tasks.translate.predictor import Translator

GUIDED = {"auxiliary_losses": {"guided_alignment": 0.5}}


@pytest.fixture
def aligning(small_model):
    """A model with an alignment attention."""
    return lambda seed=1: small_model(seed, model={"alignment_size": 16}, **GUIDED).eval()


def test_weights_follow_the_equation_and_padding_changes_nothing():
    torch.manual_seed(1)
    layer = AlignmentAttention(5, 6, 9, 8, 4).double()
    readout, annotations = (torch.randn(2, 3, width, dtype=torch.float64) for width in (5, 6))
    target_ids, source_ids = torch.randint(0, 8, (2, 3)), torch.randint(0, 9, (2, 3))
    mask = torch.tensor([[True, True, True], [True, True, False]])
    target_mask = torch.tensor([[True, True, True], [True, True, False]])
    torch.nn.init.normal_(layer.d)
    alpha = layer(readout, target_ids, annotations, source_ids, mask, target_mask)
    assert torch.equal(alpha[1, :, 2], torch.zeros(3, dtype=torch.float64))
    for b in range(2):
        num_sources, num_targets = int(mask[b].sum()), int(target_mask[b].sum())
        for i in range(num_targets):
            q = layer.A_y.E[target_ids[b, i]] + layer.W_a.weight @ readout[b, i]
            energies = [
                q @ (layer.A_x.E[source_ids[b, j]] + layer.U_a.weight @ annotations[b, j])
                + layer.d[20 + round((i + 0.5) * num_sources / num_targets - 0.5 - j)]
                for j in range(num_sources)
            ]
            torch.testing.assert_close(alpha[b, i, : len(energies)], torch.stack(energies).softmax(0))


def test_links_forced_by_hand(aligning, prepared):
    """Where only two words' vectors meet, the one is aligned with the other, and with nothing else."""
    model = aligning()
    source, target = prepared.tokenizers["source"], prepared.tokenizers["target"]
    line = " ".join(word for word in map(source.decode, [[k] for k in range(4, 8)]))
    with torch.no_grad():
        for parameter in model.alignment.parameters():
            parameter.zero_()
        wanted = source.encode(line)
        reply = target.decode([4, 5, 6])
        for k, (there, here) in enumerate(zip([4, 5, 6], reversed(wanted[:3]), strict=True)):
            model.alignment.A_y.E[there, k] = model.alignment.A_x.E[here, k] = 10.0
    translator = Translator(model, source, target)
    (aligned,) = translator.align([line], [reply])
    assert aligned.links == {(2, 0), (1, 1), (0, 2)}
    assert aligned.shown_alpha.alpha.shape == aligned.word_alpha.alpha.shape
    np.testing.assert_allclose(aligned.alignment[:3].max(axis=1), 1.0, atol=1e-6)
    assert not np.allclose(aligned.alpha, aligned.alignment)


def test_a_search_aligns_what_it_found_as_forced_decoding_does(aligning, prepared):
    line = prepared.tokenizers["source"].decode([4, 5, 6])
    models = [aligning(1), aligning(2)]
    for model in (models[0], Ensemble(models)):
        translator = Translator(model, prepared.tokenizers["source"], prepared.tokenizers["target"])
        (found,) = translator.translate([line], beam=3, n_best=2)
        for each in (found, *found.alternatives):
            assert each.alignment.shape == each.alpha.shape
            np.testing.assert_allclose(each.alignment.sum(axis=1), 1.0, atol=1e-5)
        (forced,) = translator.align([line], [found.text])
        np.testing.assert_allclose(found.alignment, forced.alignment, atol=1e-6)
        own = [Translator(each, translator.source_tokenizer, translator.target_tokenizer) for each in models]
        members = [each.align([line], [found.text])[0].alignment for each in own[: len(translator.models)]]
        np.testing.assert_allclose(forced.alignment, np.mean(members, axis=0), atol=1e-6)
        read = type(found).from_json(found.to_json())
        np.testing.assert_allclose(read.alignment, found.alignment, atol=1e-4)
        assert read.links == found.links
        assert "alignment" not in found.to_json(alpha=False)
        answer = TranslationAnswer.model_validate_json(json.dumps(found.to_json()))
        assert answer.alignment == found.to_json()["alignment"]


def test_words_without_a_link_are_linked_to_eos():
    gold = torch.tensor([[[1.0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 1.0, 0]]])
    mask = torch.tensor([[True, True, True], [True, True, False], [True, True, False]])
    linked = link_rest_to_end(gold, mask)
    assert linked[0].tolist() == [[1, 0, 0], [0, 0, 1]]
    assert linked[1].tolist() == [[0, 0, 0], [0, 0, 0]]  # nothing is known of this pair
    assert linked[2].tolist() == [[0, 1, 0], [0, 1, 0]]


def test_the_links_teach_it_alone(aligning, small_model, prepared):
    """The loss is that of the model without it plus the cost of its weights; the rest of the model learns as before."""
    pairs = [dataclasses.replace(pair, links=frozenset({(0, 0)})) for pair in prepared.train[:5]]
    batch = pad_pairs(pairs)
    plain, model = small_model().eval(), aligning()
    own = dict(model.named_parameters())
    for name, parameter in plain.named_parameters():
        assert torch.equal(parameter, own[name])  # the same model, drawn from the same seed
    expected = TranslationObjective(plain, 0.1)(batch)
    loss = TranslationObjective(model, 0.1, guided_alignment=0.5)(batch)
    costs = guided_alignment(model(batch).alignment, link_rest_to_end(batch.gold, batch.source_mask))
    torch.testing.assert_close(loss, expected + 0.5 * costs[batch.target_mask].sum())
    loss.backward()
    expected.backward()
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(own[name].grad, parameter.grad)
    assert all(each.grad.abs().sum() > 0 for each in model.alignment.parameters())


def test_it_needs_links_and_a_readout(run_config, small_model):
    with pytest.raises(ConfigError, match=r"alignment_size = 16: .* learns from links; .*--guided"):
        run_config(model={"alignment_size": 16})
    config = run_config(model={"alignment_size": 16, "decoder": {"kind": "hard-monotonic"}}, **GUIDED)
    with pytest.raises(ConfigError, match=r"alignment_size = 16: .*hard monotonic has none; set it to 0"):
        Seq2Seq(config.model, 9, 9)
