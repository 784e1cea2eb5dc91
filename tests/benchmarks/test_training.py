from dataclasses import replace

from benchmarks.settings import task_of
from benchmarks.training import Measured, batches

from benchmarks import training


def test_tokens_are_target_words_and_end_marks_without_padding(toy):
    result = training.train(toy.to_json(), "luong", "32")
    task = task_of(toy, "luong")
    pairs, _ = toy.corpus.pairs()
    expected = [sum(len(pairs[k][1].split()) + 1 for k in members) for members in task.plan(0)]
    assert result["tokens"] == expected[: toy.updates]
    assert len(result["seconds"]) == len(result["losses"]) == toy.updates
    padded = [batch.target_ids.numel() for batch, _ in zip(batches(task), expected, strict=False)]
    assert sum(padded) > sum(expected)


def test_it_learns_in_every_precision_and_an_epoch_is_not_the_end(toy):
    longer = replace(toy, updates=20, dropout=0.0)
    assert len(task_of(longer, "luong").plan(0)) < 20
    for decoder, precision in (("luong", "32"), ("luong", "bf16"), ("bahdanau", "32")):
        result = training.train(longer.to_json(), decoder, precision)
        assert sum(result["losses"][-5:]) < sum(result["losses"][:5])


def test_the_warm_up_is_left_out_of_the_speed_and_the_loss_is_of_the_end():
    seen = Measured([10.0, 1.0, 3.0], [1000, 20, 60], [5.0, 4.0, 3.0], 1, warmup=1)
    assert seen.tokens_per_second == 20
    assert seen.final_loss == 3.0
    assert Measured([1.0] * 10, [1] * 10, [*[9.0] * 8, 2.0, 4.0], 1, 1).final_loss == 3.0
