import importlib

import pytest
import torch
from benchmarks.changes import _RECURRENCES, WITHOUT, changes_section, train, without
from benchmarks.contest import OURS, Turn
from benchmarks.training import Measured

from regard.ops.native import load, native_applies
from regard.ops.paths import fused_wanted

needs_c = pytest.mark.skipif(load().library is None, reason="there is no compiler here")
W = torch.ones(4, 4)


def in_c():
    """The ops that would run in C now."""
    ops = (*_RECURRENCES, "word_loss", "affine")
    return {op for op in ops if importlib.import_module(f"regard.ops.{op}").native_applies(W)}


@needs_c
@pytest.mark.parametrize(
    ("what", "gone"),
    [
        ("recurrences in C", {*_RECURRENCES}),
        ("the loss in C", {"word_loss"}),
        ("W x + b in C", {"affine"}),
        ("anything in C", {*_RECURRENCES, "word_loss", "affine"}),
        ("freed memory kept", set()),
    ],
)
def test_a_variant_does_without_what_it_says_and_nothing_else(what, gone):
    everything = in_c()
    assert everything == {*_RECURRENCES, "word_loss", "affine"}
    with without(what):
        assert in_c() == everything - gone
        assert fused_wanted()
    assert in_c() == everything


def test_without_anything_but_autograd_the_naive_path_runs():
    with without("anything but autograd"):
        assert not fused_wanted()
        assert not native_applies(W)


def test_memory_is_not_kept_in_the_variant_without_it(monkeypatch, toy):
    asked = []
    monkeypatch.setattr("regard.training.fabric.keep_freed_memory", lambda: asked.append(1))
    train(toy.to_json(), "luong", "freed memory kept")
    assert not asked
    train(toy.to_json(), "luong", "the loss in C")
    assert asked


def test_all_variants_learn_alike(toy):
    losses = [train(toy.to_json(), "luong", what)["losses"] for what in WITHOUT]
    for other in losses[1:]:
        assert other == pytest.approx(losses[0], rel=1e-4)


def test_the_table_has_shares_of_the_neighbours():
    def turn(name, seconds):
        return Turn(name, Measured([seconds], [10], [2.0], 1, 0))

    section = changes_section({"toy, luong": [turn(OURS, 1.0), turn("the loss in C", 2.0), turn(OURS, 1.0)]})
    assert section.tables[0].rows[0][:2] == ["without the loss in C", "0.50"]
    assert section.numbers["toy, luong"][1]["tokens_per_second"] == 5
