"""The hard monotonic decoder against the paper's sum over alignments, one sentence at a time; what it refuses."""

from itertools import product

import pytest
import torch

from regard.batches import pad_pairs
from regard.errors import ConfigError
from regard.models import AttentionConfig, HardMonotonicConfig
from regard.text.pairs import EncodedPair

SOURCE, TARGET = [4, 5, 6], [5, 4]


def by_hand(model, source_ids, previous_ids):
    """E_ij and log p(w | a_i = j), for each step and position."""
    decoder = model.decoder
    encoded = model.encode(torch.tensor([source_ids]), torch.ones(1, len(source_ids), dtype=torch.bool))
    h, ((s,),) = encoded.annotations[0], decoder.initial_state(encoded).cells
    energies, emissions = [], []
    for previous in previous_ids:
        (s,) = decoder.stack.layers[0].step(
            decoder.stack.layers[0].project(decoder.embedding.E[previous].unsqueeze(0)), (s,)
        )
        energies.append(torch.stack([s[0] @ decoder.attention.W_a @ h_j for h_j in h]))
        readouts = [torch.tanh(decoder.readout.W_c.weight @ torch.cat([h_j, s[0]])) for h_j in h]
        logits = [decoder.output.W_o @ t + decoder.output.b_o for t in readouts]
        emissions.append(torch.stack([row - row.exp().sum().log() for row in logits]))
    return torch.stack(energies), torch.stack(emissions)


def test_a_sentences_probability_is_the_sum_over_its_monotone_alignments(tiny_model):
    model = tiny_model("hard-monotonic", attention={"energy": "bilinear"})
    batch = pad_pairs([EncodedPair(SOURCE, TARGET)])
    energies, emissions = by_hand(model, batch.source_ids[0].tolist(), batch.previous_ids[0].tolist())
    words, size = batch.target_ids[0].tolist(), energies.shape[1]
    total = 0.0
    for alignment in product(range(size), repeat=len(words)):
        probability, before = 1.0, 0
        for i, j in enumerate(alignment):
            allowed = energies[i, before:].exp().sum()
            probability = probability * (energies[i, j].exp() / allowed if j >= before else 0.0)
            probability = probability * emissions[i, j, words[i]].exp()
            before = j
        total = total + probability
    log_probs = model(batch).logits.gather(1, batch.target_ids[0].unsqueeze(1))
    torch.testing.assert_close(log_probs.sum(), total.log())


def test_alpha_is_where_the_model_expects_to_read_and_rows_of_logits_are_log_probabilities(tiny_model):
    model = tiny_model("hard-monotonic", attention={"energy": "bilinear"})
    batch = pad_pairs([EncodedPair(SOURCE, TARGET)])
    energies, _ = by_hand(model, batch.source_ids[0].tolist(), batch.previous_ids[0].tolist())
    result = model(batch)
    # before the first word every position is still to come
    torch.testing.assert_close(result.alpha[0, 0], energies[0].softmax(-1))
    torch.testing.assert_close(result.logits.exp().sum(-1), torch.ones(3, dtype=torch.float64))


def test_the_words_chosen_say_where_the_next_is_read(tiny_model):
    """Two hypotheses of one sentence with the same state but different words: their alphas differ."""
    model = tiny_model("hard-monotonic")
    encoded = model.encode(torch.tensor([[4, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.bool))
    first = model.decoder.step(torch.tensor([2]), model.decoder.initial_state(encoded), encoded)
    both = first.state.select(torch.tensor([0, 0]))
    alpha = model.decoder.step(torch.tensor([4, 7]), both, encoded).alpha
    assert not torch.allclose(alpha[0], alpha[1])
    torch.testing.assert_close(alpha.sum(-1), torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize(
    ("attention", "message"),
    [
        ({"window": "local-m"}, r'model\.decoder\.attention\.window = "local-m".*not yet passed'),
        ({"coverage": True}, r"model\.decoder\.attention\.coverage = true.*bahdanau or luong"),
        ({"normalizer": "sparsemax"}, r'model\.decoder\.attention\.normalizer = "sparsemax"'),
        ({"energy": "qkv"}, r'model\.decoder\.attention\.energy = "qkv".*choose additive'),
    ],
)
def test_options_that_it_does_not_have_are_refused(attention, message):
    with pytest.raises(ConfigError, match=message):
        HardMonotonicConfig(attention=AttentionConfig(**attention))


def test_dropout_acts_only_in_training(tiny_model):
    model = tiny_model("hard-monotonic", dropout=0.5)
    batch = pad_pairs([EncodedPair(SOURCE, TARGET)])
    assert torch.equal(model(batch).logits, model(batch).logits)
    model.train()
    assert not torch.equal(model(batch).logits, model(batch).logits)
