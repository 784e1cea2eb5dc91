"""The presets of attention variants: each differs from its base in what its name says, and in nothing else."""

import pytest

from regard.training.configure import configure


def attention(name):
    return configure(preset=name).model.decoder.attention


@pytest.mark.parametrize(
    ("name", "base", "changed"),
    [
        ("heads-small", "rnnsearch-small", {"energy": "qkv", "heads": 4, "scaled": True, "value_size": 0}),
        ("sparsemax-small", "rnnsearch-small", {"normalizer": "sparsemax"}),
        ("coverage-small", "rnnsearch-small", {"coverage": True}),
        ("luong-local", "luong-general", {"window": "local-p", "window_size": 10}),
        ("luong-monotonic", "luong-general", {"window": "local-m", "window_size": 10}),
    ],
)
def test_only_the_attention_differs(name, base, changed):
    one, other = configure(preset=name), configure(preset=base)
    assert one.model.decoder.attention.to_mapping() == {**attention(base).to_mapping(), **changed}
    assert one.model.encoder == other.model.encoder
    assert one.training == other.training


def test_coverage_is_charged():
    assert configure(preset="coverage-small").auxiliary_losses.coverage > 0


def test_the_pointer_is_added_to_rnnsearch():
    one, other = configure(preset="pointer-small"), configure(preset="rnnsearch-small")
    assert one.model.decoder.copy
    assert not other.model.decoder.copy
    assert {**one.model.to_mapping()["decoder"], "copy": False} == other.model.to_mapping()["decoder"]
    assert one.tokenizer.shared
    assert one.training.label_smoothing == 0


def test_hard_monotonic_attention_is_for_characters():
    run = configure(preset="hard-monotonic-small")
    assert run.model.decoder.kind == "hard-monotonic"
    assert (run.tokenizer.source, run.tokenizer.target) == ("char", "char")


@pytest.mark.parametrize(
    ("name", "kind"), [("lstmn-shallow-small", "bahdanau"), ("lstmn-deep-small", "deep-fusion")]
)
def test_both_fusions_are_of_two_lstmns(name, kind):
    model = configure(preset=name).model
    assert model.decoder.kind == kind
    assert (model.encoder.cell, model.decoder.cell) == ("lstmn", "lstmn")
    assert not model.encoder.bidirectional


@pytest.mark.parametrize("form", ["rnn-read", "rnn-sum", "rnn-sum-keep"])
def test_each_form_of_self_attention_has_a_language_model(form):
    run = configure(preset=f"{form}-lm")
    assert (run.task, run.model.cell) == ("language_model", form)
    assert run.model.state_size == configure(preset="lstm-lm").model.state_size
