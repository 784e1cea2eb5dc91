"""Training pairs that are other ones each time they are read: BPE-dropout, and each pair twice for R-Drop."""

import pytest
import torch

from regard.errors import ConfigError
from regard.tasks import prepare_task

PAIRS = [(f"the {a} lowest {b} words", f"{b} der {a} niedrigsten") for a in "abcd" for b in "xyz"]


def task(run_config, **over):
    tokenizer = {"source": "bpe", "target": "bpe", "source_size": 60, "target_size": 60, "dropout": 0.5}
    made = prepare_task(run_config(tokenizer=tokenizer, **over), PAIRS, [("ab", "AB")])
    torch.manual_seed(1)
    made.build()
    return made


def ids(task, epoch):
    """The ids of an epoch, source and target, batch by batch."""
    batches = [task.batch(members) for members in task.plan(epoch)]
    return [(batch.source_ids.tolist(), batch.target_ids.tolist()) for batch in batches]


def texts(task, epoch):
    decode = {side: tokenizer.decode for side, tokenizer in task.tokenizers.items()}
    return sorted(
        (decode["source"](source), decode["target"](target))
        for sources, targets in ids(task, epoch)
        for source, target in zip(sources, targets, strict=True)
    )


def test_every_epoch_has_the_same_texts_in_other_pieces(run_config):
    made = task(run_config)
    assert texts(made, 0) == texts(made, 1) == sorted(PAIRS)
    lengths = [[len(row) for batch in ids(made, epoch) for row in batch[0]] for epoch in (0, 1)]
    assert lengths[0] != lengths[1]


def test_a_batch_follows_from_seed_and_epoch_alone(run_config):
    first, again = task(run_config), task(run_config)
    ids(first, 0)  # a run that started earlier
    assert ids(first, 5) == ids(again, 5)
    other = task(run_config, training={"seed": 2})
    assert not torch.equal(again.batch([15]).source_ids, other.batch([15]).source_ids)


def test_validation_pairs_are_in_the_tokenizers_own_pieces(run_config):
    made = task(run_config)
    assert made.prepared.valid[0].source_ids == made.tokenizers["source"].encode("ab")


def test_for_consistency_each_pair_is_twice_in_its_batch(run_config):
    made = task(run_config, auxiliary_losses={"consistency": 1.0})
    batch = made.batch([3, 1])
    assert len(batch.source_ids) == 4
    assert torch.equal(*batch.source_ids.chunk(2))
    assert torch.equal(*batch.target_ids.chunk(2))
    assert made.loss(made.objective(), batch, 0.0) > 0


def test_both_predictions_read_the_same_sampled_words(run_config):
    made = task(run_config, auxiliary_losses={"consistency": 1.0, "scheduled_sampling": 1.0})
    batch = made.batch([3, 1])
    seen = []
    made.loss(lambda mixed: seen.append(mixed.previous_ids) or torch.zeros(()), batch, 1.0)
    assert torch.equal(*seen[0].chunk(2))
    assert not torch.equal(seen[0], batch.previous_ids)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (
            {"tokenizer": {"source": "char", "target": "word", "dropout": 0.1}},
            r"and the tokens are char and word",
        ),
        ({"tokenizer": {"dropout": 1.5}}, r"tokenizer\.dropout"),
        ({"auxiliary_losses": {"consistency": -1.0}}, r"auxiliary_losses\.consistency"),
        (
            {"tokenizer": {"source": "bpe", "dropout": 0.1}, "auxiliary_losses": {"guided_alignment": 0.5}},
            r"tokenizer\.dropout and auxiliary_losses\.guided_alignment",
        ),
    ],
)
def test_what_cannot_be_is_refused(over, message, run_config):
    with pytest.raises(ConfigError, match=message):
        run_config(**over)
