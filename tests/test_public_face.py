"""What a user may lean on: the names, how quickly they come, and each layer by itself in three lines."""

import ast
import inspect
import json
import subprocess
import sys
from dataclasses import is_dataclass
from typing import get_args, get_type_hints, is_typeddict

import pytest
import torch

import regard
from regard import layers

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


NAMES = {
    *("Captioner", "Classifier", "LanguageModel", "Tagger", "Translator"),
    *("Caption", "Classification", "Reading", "Sample", "Scored", "SearchTree", "Tagging", "TextScore"),
    *("Translation", "WhatIf", "Evaluation", "TrainedRun", "train", "evaluate", "RegardError", "__version__"),
}
"""What users start from; everything their signatures need is exported too."""

BLOCKS = ("regard.layers.", "regard.models.", "regard.batches.", "regard.search.")
"""Packages of building blocks, public by themselves."""


def checking_names(module):
    """What a module imports for type checkers alone."""
    names = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module, "exec"), names)
    return names


def annotations(public):
    """Where → annotations, of a function, or of a class's fields and public methods, inherited ones too."""
    if inspect.isfunction(public):
        yield public.__name__, get_type_hints(public, localns=checking_names(public.__module__))
        return
    for base in public.__mro__ if inspect.isclass(public) else ():
        if not base.__module__.startswith("regard."):
            continue
        local = checking_names(base.__module__)
        if is_dataclass(base):
            yield base.__name__, get_type_hints(base, localns=local)
        for name, member in vars(base).items():
            function = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
            if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
                yield f"{base.__name__}.{name}", get_type_hints(function, localns=local)


def classes(annotation):
    """The classes an annotation is made of."""
    if isinstance(annotation, list):
        for part in annotation:
            yield from classes(part)
    elif isinstance(annotation, type):
        yield annotation
    for part in get_args(annotation):
        yield from classes(part)


def test_every_type_in_a_public_signature_is_exported():
    exported = {id(getattr(regard, name)) for name in regard.__all__}
    missing = {
        f"{each.__module__}.{each.__qualname__}: {where}"
        for name in regard.__all__
        for where, hints in annotations(getattr(regard, name))
        for hint in hints.values()
        for each in classes(hint)
        if each.__module__.startswith("regard.") and not each.__module__.startswith(BLOCKS)
        if not is_typeddict(each) and id(each) not in exported
    }
    assert not missing, "add to regard.__all__:\n" + "\n".join(sorted(missing))


def test_the_names():
    assert set(regard.__all__) > NAMES
    assert list(regard.__all__) == sorted(set(regard.__all__))
    assert dir(regard) == regard.__all__


def test_type_checkers_see_the_same_names():
    [block] = [
        node
        for node in ast.parse(inspect.getsource(regard)).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {(each.module, alias.name) for each in block.body for alias in each.names}
    assert seen == {(module, name) for name, module in regard._HOMES.items()}


@pytest.mark.parametrize("name", regard.__all__)
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
