"""What a user may lean on: the names, how quickly they come, and each layer by itself in three lines."""

import json
import subprocess
import sys

import pytest
import torch

import regard
from regard import layers

NAMES = {
    "Captioner",
    "Classification",
    "Caption",
    "Evaluation",
    "Reading",
    "RegardError",
    "Sample",
    "Scored",
    "SearchTree",
    "Tagging",
    "Classifier",
    "TextScore",
    "Tagger",
    "TrainedRun",
    "Translation",
    "Translator",
    "WhatIf",
    "LanguageModel",
    "__version__",
    "evaluate",
    "train",
}
HEAVY = {
    "torch",
    "lightning",
    "matplotlib",
    "tokenizers",
    "sacrebleu",
    "babel",
    "numpy",
    "tensorboard",
    "rich",
}


def loaded_by(code):
    """The heavy packages that are in memory after some code, in a fresh interpreter."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted({HEAVY!r} & sys.modules.keys())))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_exactly_these_names():
    assert set(regard.__all__) == NAMES
    assert list(regard.__all__) == sorted(regard.__all__)
    assert dir(regard) == sorted(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_name_is_there(name):
    value = getattr(regard, name)
    assert value is getattr(regard, name)
    if name != "__version__":
        assert value.__name__ == name
        assert value.__doc__
        assert value.__module__.startswith("regard.")


def test_no_other_name():
    with pytest.raises(AttributeError, match="module 'regard' has no attribute 'transalte'"):
        regard.transalte  # noqa: B018


def test_import_regard_is_quick():
    assert loaded_by("import regard; regard.RegardError; regard.__version__; dir(regard)") == []


def test_help_waits_for_no_tensors():
    assert "torch" not in loaded_by("import regard.cli.app")


def test_translating_needs_neither_training_nor_drawing():
    assert not {"lightning", "matplotlib", "sacrebleu", "tensorboard"} & set(
        loaded_by("import regard; regard.Translator")
    )


B, Tx, Q, n, d = 2, 5, 3, 4, 4
MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


@pytest.mark.parametrize("name", layers.ENERGIES)
def test_every_attention_by_itself(name):
    attention = layers.ENERGIES[name](n, d, 6)
    annotations, query = torch.randn(B, Tx, d), torch.randn(B, Q, n)
    context, alpha, _ = attention(query, annotations, MASK)
    assert (context.shape, alpha.shape) == ((B, Q, d), (B, Q, Tx))
    torch.testing.assert_close(alpha.sum(-1), torch.ones(B, Q))
    assert (alpha[1, :, 3:] == 0).all()


@pytest.mark.parametrize("window", layers.WINDOWS)
@pytest.mark.parametrize("normalizer", layers.NORMALIZERS)
def test_an_attention_of_chosen_parts(normalizer, window):
    attention = layers.build_attention("qkv", n, d, 6, heads=2, normalizer=normalizer, window=window)
    annotations, query = torch.randn(B, Tx, d), torch.randn(B, Q, n)
    keys, values = attention.keys(annotations), attention.values(annotations)
    assert attention.attend_sequence(query, keys, values, MASK).context.shape == (B, Q, d)


@pytest.mark.parametrize("name", layers.CELLS)
def test_every_cell_by_itself(name):
    cell = layers.CELLS[name](d, n)
    inputs = torch.randn(B, Tx, d)
    states, last = cell(inputs, MASK, cell.zero_state(B, inputs))
    assert states.shape == (B, Tx, n)
    torch.testing.assert_close(last[0][0], states[0, -1])
    torch.testing.assert_close(last[0][1], states[1, 2])


def test_the_classes_by_name():
    from regard.layers import (
        GRU,
        LSTM,
        LSTMN,
        RNN,
        Additive,
        Bilinear,
        Concat,
        Dot,
        RNNRead,
        RNNSum,
        RNNSumKeep,
        ScaledDot,
        SigmoidRNN,
        TorchGRU,
    )

    assert Additive(n, d, 6).v_a.shape == (6,)
    assert Concat(n, d, 6).W_a.shape == (6, n + d)
    assert Bilinear(n, d).W_a.shape == (n, d)
    for energy in (Dot, ScaledDot):
        assert energy(n, n).keys(torch.ones(1, 1, n)).shape == (1, 1, n)
    for cell in (RNN, SigmoidRNN, LSTM, GRU, TorchGRU):
        assert cell(d, n).U.shape[1] == n
    inputs = torch.randn(B, Tx, d)
    for cell in (RNNRead, RNNSum, RNNSumKeep, LSTMN):
        made = cell(d, n, lambda query_size, size: Additive(query_size, size, 6), span=3)
        _, _, alpha = made.forward_with_alpha(inputs, MASK, made.zero_state(B, inputs))
        assert alpha.shape == (B, Tx, Tx)


@pytest.mark.parametrize("stack", [layers.RecurrentStack, layers.BidirectionalStack])
def test_stacks_by_themselves(stack):
    made = stack(layers.LSTM, d, n, 2, residual=True, dropout=0.1)
    annotations = made(torch.randn(B, Tx, d), MASK)[0]
    assert annotations.shape == (B, Tx, n if stack is layers.RecurrentStack else 2 * n)


@pytest.mark.parametrize("name", layers.POOLINGS)
def test_every_pooling_by_itself(name):
    pooled = layers.POOLINGS[name](d, 6)(torch.randn(B, Tx, d), MASK, torch.randn(B, d))
    assert layers.Head(d, 3)(pooled.vector).shape == (B, 3)


def test_the_rest_by_itself():
    embedded = layers.Embedding(9, d)(torch.tensor([[1, 2], [3, 4]]))
    readout = layers.MaxoutReadout(n, d, 7, 6)(torch.randn(2, 2, n), embedded, torch.randn(2, 2, 7))
    assert layers.Output(6, 9)(readout).shape == (2, 2, 9)
    attentional = layers.AttentionalReadout(n, 7, 6)(torch.randn(2, n), torch.randn(2, 7))
    assert attentional.shape == (2, 6)
    assert layers.Dropout(0.5).eval()(embedded) is embedded
    assert layers.Standardize(d)(torch.randn(B, d)).shape == (B, d)


def test_every_layer_is_met_above():
    """A new layer wants its three lines here."""
    assert set(layers.__all__) == {
        *("CELLS", "Cell", "CellFactory", "RNN", "SigmoidRNN", "LSTM", "GRU", "TorchGRU"),
        *("SelfAttentive", "RNNRead", "RNNSum", "RNNSumKeep", "LSTMN"),
        *("ENERGIES", "Attention", "Attended", "Additive", "Concat", "Dot", "ScaledDot", "Bilinear"),
        *("QueryKeyValue", "LocalM", "LocalP", "AttentionState", "build_attention"),
        *("is_sized", "is_covering", "NORMALIZERS", "WINDOWS"),
        *("RecurrentStack", "BidirectionalStack", "Dropout", "Standardize"),
        *("POOLINGS", "LastPooling", "MeanPooling", "AttentionPooling", "Pooled", "Head"),
        *("Embedding", "MaxoutReadout", "AttentionalReadout", "Output"),
    }
