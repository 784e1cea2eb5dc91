"""The translator's task: what a batch holds, what else is taught, and when."""

import pytest
import torch

from regard.batches import pad_pairs
from regard.errors import ConfigError
from regard.tasks import prepare_task
from regard.tasks.translate.objective import mix_in_samples
from regard.tasks.translate.task import add_gold_links, parse_pairs

PAIRS = [("a b", "A B"), ("b", "B"), ("a a c", "C A"), ("c b a", "A B C")]


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


@pytest.fixture
def task(run_config):
    def build(pairs=PAIRS, **over):
        made = prepare_task(run_config(**over), pairs, PAIRS[:2])
        torch.manual_seed(1)
        made.build()
        return made

    return build


def test_a_batch_is_its_pairs_padded(task):
    made = task()
    batch = made.batch([0, 3])
    assert (batch.num_tokens, batch.num_sentences) == (3 + 4, 2), "ends counted"
    expected = tensors(pad_pairs([made.prepared.train[0], made.prepared.train[3]]))
    assert all(torch.equal(one, other) for one, other in zip(tensors(batch), expected, strict=True))
    assert made.sizes == {"source": 4 + 3, "target": 4 + 3}


def test_every_pair_is_planned_once(task):
    made = task(PAIRS * 10, training={"batch_tokens": 12})
    plan = made.plan(0)
    assert sorted(k for members in plan for k in members) == list(range(40))
    assert all(max(made.lengths[k] for k in members) * len(members) <= 12 for members in plan)
    assert plan == task(PAIRS * 10, training={"batch_tokens": 12}).plan(0) != made.plan(1)


def test_sampled_words_come_in_as_the_run_goes_on(task):
    """They are sampled with a separate generator: the global one is not used."""
    plain, sampled = task(), task(auxiliary_losses={"scheduled_sampling": 1.0})
    batch = plain.batch([2, 3])
    expected = float(plain.loss(plain.objective(), batch, 1.0).detach())
    assert float(sampled.loss(sampled.objective(), batch, 0.0).detach()) == expected
    before = torch.get_rng_state()
    sampled_losses = [float(sampled.loss(sampled.objective(), batch, 1.0).detach()) for _ in range(8)]
    assert torch.equal(torch.get_rng_state(), before)
    assert len({*sampled_losses, expected}) > 2


def test_auxiliary_losses_are_of_the_attention_after_sampled_words(task):
    made = task(auxiliary_losses={"scheduled_sampling": 1.0, "coverage": 0.5})
    batch = made.batch([2, 3])
    loss = float(made.loss(made.objective(), batch, 1.0).detach())
    generator = torch.Generator().manual_seed(made.config.training.seed)
    mixed = mix_in_samples(made.model, batch, 1.0, generator)
    assert not torch.equal(mixed.previous_ids, batch.previous_ids)
    assert loss == float(made.objective()(mixed).detach())
    assert loss != float(task().objective()(mixed).detach()), "with coverage"


def test_gold_links_reach_the_loss(task, tmp_path):
    (tmp_path / "links").write_text("0-0 1-1\n0-0\n0-1 2-0\n0-2 1-1 2-0\n")
    guided = {"auxiliary_losses": {"guided_alignment": 0.5}}
    made = task(**guided, data={"train_links": str(tmp_path / "links")})
    given = add_gold_links(parse_pairs(PAIRS), str(tmp_path / "links"))
    [losses, same, without] = [
        float(one.loss(one.objective(), one.batch([0, 2, 3]), 0.0).detach())
        for one in (made, task(given, **guided), task())
    ]
    assert losses == same > without


def test_what_is_missing_is_named(task, run_config):
    with pytest.raises(ConfigError, match=r"guided_alignment needs links; .*data\.train_links"):
        task(auxiliary_losses={"guided_alignment": 0.5})
    with pytest.raises(
        ConfigError, match=r"data\.train: no training pairs; name them with --train pairs\.tsv"
    ):
        prepare_task(run_config(), None, None)
