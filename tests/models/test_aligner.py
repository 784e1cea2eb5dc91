"""The aligner's network: what a query may know, words that share affixes, padding, and hidden Markov models by hand."""

import pytest
import torch

from regard.batches import pad_word_pairs
from regard.errors import ConfigError
from regard.models import AlignerConfig, AlignerNetwork, EncoderConfig
from regard.models.alignment_hmm import HmmConfig
from regard.text.word_pairs import EncodedWordPair, affix_ids

SMALL = EncoderConfig(cell="gru", embedding_size=6, state_size=5)


def network(num_entries=1, **options):
    torch.manual_seed(1)
    config = AlignerConfig(
        encoder=SMALL, attention_size=4, affixes=50, hmm=HmmConfig(longest_jump=3), **options
    )
    return AlignerNetwork(config, 12, 12, num_entries).eval().double()


def pair(source, target):
    words = [tuple(f"w{k}" for k in ids) for ids in (source, target)]
    return EncodedWordPair(*words, list(source), list(target))


def batch(*pairs):
    return pad_word_pairs([pair(*each) for each in pairs], 50)


@pytest.mark.parametrize(
    ("query", "changes"),
    [
        ("foresight", [True] * 4),
        ("current", [False, False, True, True]),
        ("previous", [False, False, False, True]),
    ],
)
def test_a_query_knows_the_target_as_far_as_its_name_says(query, changes):
    model = network(query=query, hmm_share=0.0)
    one, other = (
        model.attend(batch(([4, 5, 6], target))).log_alphas.forward[0]
        for target in ([7, 8, 9, 10], [7, 8, 11, 10])
    )
    moved = (one - other).abs().amax(dim=1) > 1e-9
    assert moved.tolist() == changes


def test_padding_changes_nothing():
    model = network(hmm_share=0.5)
    alone = model(batch(([4, 5], [6, 7, 8])))
    padded = model(batch(([4, 5], [6, 7, 8]), ([4, 5, 6, 7, 8], [9, 10, 11, 4, 5])))
    for one, other in zip(alone, padded, strict=True):
        torch.testing.assert_close(one[0], other[0, :3, :2])
        assert (
            other[0, 3:].abs().sum() + other[0, :, 2:].abs().sum() < 1.1 * 5
        )  # what padding has is cut away


def test_both_directions_are_distributions():
    model = network(hmm_share=0.3)
    alphas = model(batch(([4, 5, 6], [7, 8])))
    assert (alphas.forward.sum(dim=2) <= 1 + 1e-9).all()
    assert (alphas.backward.sum(dim=1) <= 1 + 1e-9).all()


def test_an_unknown_word_is_known_by_its_affixes():
    model = network(hmm_share=0.0)
    known, other = (
        EncodedWordPair(("maison", word), ("house", "garden"), [4, 1], [5, 6]) for word in ("gardens", "xyz")
    )
    one, two = (model(pad_word_pairs([each], 50)).forward for each in (known, other))
    assert not torch.allclose(one, two)
    assert affix_ids("gardens", 50)[:2] == affix_ids("gardener", 50)[:2]


def test_links_of_tables_made_by_hand():
    """Source word 4 is target word 6 and 5 is 7, whatever their order; 8 is nobody's."""
    model = network(2, hmm_share=1.0)
    hmm = model.hmm
    hmm.keys.copy_(torch.tensor([4 * 12 + 6, 5 * 12 + 7]))
    for table in (hmm.forward_table, hmm.backward_table):
        table.copy_(torch.tensor([1.0, 1.0, 1e-9]))
    for null in (hmm.forward_null, hmm.backward_null):
        null.fill_(1e-3)
    alphas = model(batch(([4, 5], [7, 8, 6])))
    expected = torch.tensor([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    for alpha in alphas:
        torch.testing.assert_close(alpha[0].double(), expected, atol=0.01, rtol=0)


def test_the_output_reads_through_attention_alone():
    """With attention on null alone, the loss of translation does not depend on the source."""
    model = network(output=True, hmm_share=0.0)
    with torch.no_grad():
        model.target_null_bias.fill_(1e4)
    losses = []
    for source in ([4, 5], [9, 10]):
        given = batch((source, [6, 7]))
        losses.append(model.translation_loss(given, model.attend(given)))
    torch.testing.assert_close(*losses)
    with torch.no_grad():
        model.target_null_bias.fill_(-1e4)
    given = batch(([4, 5], [6, 7]))
    assert abs(model.translation_loss(given, model.attend(given)) - losses[0]) > 1e-6


def test_one_direction_of_reading_is_refused():
    with pytest.raises(ConfigError, match="reads the source in both directions"):
        AlignerConfig(encoder=EncoderConfig(bidirectional=False))
