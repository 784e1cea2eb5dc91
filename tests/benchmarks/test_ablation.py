import pytest
import torch
from benchmarks.ablation import ABLATIONS, RECURRENCES, ablation_section, disabled, train
from benchmarks.interleave import REGARD, Trial
from benchmarks.training import TrainingResult

from regard.ops.native import load, native_applies
from regard.ops.paths import fused_wanted

needs_c = pytest.mark.skipif(load().library is None, reason="there is no compiler here")
W = torch.ones(4, 4)


def in_c():
    """The ops that would run in C now."""
    ops = (*RECURRENCES, "word loss", "affine")
    return {op for op in ops if native_applies(W, op=op)}


@needs_c
@pytest.mark.parametrize(
    ("optimization", "expected"),
    [
        ("recurrences in C", {*RECURRENCES}),
        ("the loss in C", {"word loss"}),
        ("W x + b in C", {"affine"}),
        ("all C kernels", {*RECURRENCES, "word loss", "affine"}),
        ("reuse of freed memory", set()),
    ],
)
def test_an_ablation_disables_one_optimization_only(optimization, expected):
    before = in_c()
    assert before == {*RECURRENCES, "word loss", "affine"}
    with disabled(optimization):
        assert in_c() == before - expected
        assert fused_wanted()
    assert in_c() == before


def test_without_all_fused_paths_the_naive_path_runs():
    with disabled("all fused paths"):
        assert not fused_wanted()
        assert not native_applies(W)


def test_freed_memory_is_not_reused_where_that_is_disabled(monkeypatch, toy):
    calls = []
    monkeypatch.setattr("regard.training.fabric.keep_freed_memory", lambda: calls.append(1))
    train(toy.to_json(), "luong", "reuse of freed memory")
    assert not calls
    train(toy.to_json(), "luong", "the loss in C")
    assert calls


def test_all_variants_have_the_same_losses(toy):
    losses = [train(toy.to_json(), "luong", optimization)["losses"] for optimization in ABLATIONS]
    for other in losses[1:]:
        assert other == pytest.approx(losses[0], rel=1e-4)


def test_the_table_has_ratios_to_the_full_runs_next_to_it():
    def trial(name, seconds):
        return Trial(name, TrainingResult([seconds], [10], [2.0], 1, 0))

    section = ablation_section(
        {"toy, luong": [trial(REGARD, 1.0), trial("the loss in C", 2.0), trial(REGARD, 1.0)]}
    )
    assert section.tables[0].rows[0][:2] == ["without the loss in C", "0.50"]
    assert section.numbers["toy, luong"][1]["tokens_per_second"] == 5
