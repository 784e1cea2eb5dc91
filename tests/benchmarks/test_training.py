from dataclasses import replace

from benchmarks.settings import build_task
from benchmarks.training import TrainingResult, batches

from benchmarks import training


def test_tokens_are_target_words_and_end_symbols_without_padding(toy):
    result = training.train(toy.to_json(), "luong", "32")
    task = build_task(toy, "luong")
    pairs, _ = toy.corpus.pairs()
    expected = [sum(len(pairs[k][1].split()) + 1 for k in members) for members in task.plan(0)]
    assert result["tokens"] == expected[: toy.updates]
    assert len(result["seconds"]) == len(result["losses"]) == toy.updates
    padded = [batch.target_ids.numel() for batch, _ in zip(batches(task), expected, strict=False)]
    assert sum(padded) > sum(expected)


def test_the_loss_falls_in_every_precision_over_several_epochs(toy):
    longer = replace(toy, updates=20, dropout=0.0)
    assert len(build_task(longer, "luong").plan(0)) < 20
    for decoder, precision in (("luong", "32"), ("luong", "bf16"), ("bahdanau", "32")):
        result = training.train(longer.to_json(), decoder, precision)
        assert sum(result["losses"][-5:]) < sum(result["losses"][:5])


def test_the_warm_up_is_left_out_of_the_speed_and_the_loss_is_of_the_end():
    result = TrainingResult([10.0, 1.0, 3.0], [1000, 20, 60], [5.0, 4.0, 3.0], 1, warmup=1)
    assert result.tokens_per_second == 20
    assert result.final_loss == 3.0
    assert TrainingResult([1.0] * 10, [1] * 10, [*[9.0] * 8, 2.0, 4.0], 1, 1).final_loss == 3.0
