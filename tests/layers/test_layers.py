"""Every public layer used alone: constructed, called with and without a mask, and documented."""

import pydoc
import re
from types import ModuleType

import pytest
import torch

from regard import layers
from regard.errors import ConfigError

B, Tx, Q, n, d = 2, 5, 3, 4, 4
MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


@pytest.mark.parametrize("name", layers.ENERGIES)
def test_every_attention_by_itself(name):
    attention = layers.build_attention(name, n, d, 6)
    annotations, query = torch.randn(B, Tx, d), torch.randn(B, Q, n)
    for mask in (MASK, None):
        context, alpha, _ = attention(query, annotations, mask)
        assert (context.shape, alpha.shape) == ((B, Q, d), (B, Q, Tx))
        torch.testing.assert_close(alpha.sum(-1), torch.ones(B, Q))
        assert (alpha[1, :, 3:] == 0).all() == (mask is not None)


@pytest.mark.parametrize("window", layers.WINDOWS)
@pytest.mark.parametrize("normalizer", layers.NORMALIZERS)
def test_an_attention_of_chosen_parts(normalizer, window):
    attention = layers.build_attention("qkv", n, d, 6, heads=2, normalizer=normalizer, window=window)
    annotations, query = torch.randn(B, Tx, d), torch.randn(B, Q, n)
    assert attention(query, annotations, MASK).context.shape == (B, Q, d)
    assert attention(query, annotations).context.shape == (B, Q, d)


@pytest.mark.parametrize("name", layers.CELLS)
def test_every_cell_by_itself(name):
    cell = layers.CELLS[name](d, n)
    inputs = torch.randn(B, Tx, d)
    states, last = cell(inputs, MASK)
    assert states.shape == (B, Tx, n)
    torch.testing.assert_close(last[0][0], states[0, -1])
    torch.testing.assert_close(last[0][1], states[1, 2])
    states, last = cell(inputs)
    torch.testing.assert_close(last[0], states[:, -1])


@pytest.mark.parametrize("name", [name for name, cell in layers.CELLS.items() if cell.attends_to_past])
def test_a_cell_that_attends_to_its_past_takes_any_attention(name):
    cell = layers.CELLS[name](d, n, lambda query_size, size: layers.Additive(query_size, size, 6), span=3)
    for mask in (MASK, None):
        _, _, alpha = cell.forward_with_alpha(torch.randn(B, Tx, d), mask)
        assert alpha.shape == (B, Tx, Tx)


def test_the_arguments_of_energies_and_cells_are_their_sizes_in_order():
    assert layers.Additive(n, 3, 6).W_a.shape == (6, n)
    assert layers.Additive(n, 3, 6).U_a.shape == (6, 3)
    assert layers.Concat(n, 3, 6).W_a.shape == (6, n + 3)
    assert layers.Bilinear(n, 3).W_a.shape == (n, 3)
    for energy in (layers.Dot, layers.ScaledDot):
        assert energy(n, n).keys(torch.ones(1, 1, n)).shape == (1, 1, n)
    for cell in (layers.RNN, layers.SigmoidRNN, layers.LSTM, layers.GRU, layers.TorchGRU):
        assert cell(3, n).U.shape[1] == n
        assert cell(3, n).W.shape[1] == 3


@pytest.mark.parametrize("stack", [layers.RecurrentStack, layers.BidirectionalStack])
def test_stacks_by_themselves(stack):
    made = stack(layers.LSTM, d, n, 2, residual=True, dropout=0.1)
    for mask in (MASK, None):
        annotations = made(torch.randn(B, Tx, d), mask)[0]
        assert annotations.shape == (B, Tx, n if stack is layers.RecurrentStack else 2 * n)


@pytest.mark.parametrize("name", layers.POOLINGS)
def test_every_pooling_by_itself(name):
    pooling, annotations = layers.POOLINGS[name](d, 6), torch.randn(B, Tx, d)
    for mask in (MASK, None):
        pooled = pooling(annotations, mask, torch.randn(B, d))
        assert layers.Head(d, 3)(pooled.vector).shape == (B, 3)
    if name == "last":
        with pytest.raises(ConfigError, match="LastPooling: give the encoder's last state"):
            pooling(annotations)
    else:
        everywhere = torch.ones(B, Tx, dtype=torch.bool)
        torch.testing.assert_close(pooling(annotations), pooling(annotations, everywhere))


def test_embedding_readouts_dropout_and_standardizing_by_themselves():
    embedded = layers.Embedding(9, d)(torch.tensor([[1, 2], [3, 4]]))
    readout = layers.MaxoutReadout(n, d, 7, 6)(torch.randn(2, 2, n), embedded, torch.randn(2, 2, 7))
    assert layers.Output(6, 9)(readout).shape == (2, 2, 9)
    state = torch.randn(2, 2, n)
    assert layers.READOUTS["state"](n, d, 7, 6)(state, embedded, torch.randn(2, 2, 7)) is state
    plain = layers.Output(6, 9, bias=False)
    assert [name for name, _ in plain.named_parameters()] == ["W_o"]
    torch.testing.assert_close(plain(readout), readout @ plain.W_o.T)
    attentional = layers.AttentionalReadout(n, 7, 6)(torch.randn(2, n), torch.randn(2, 7))
    assert attentional.shape == (2, 6)
    assert layers.Dropout(0.5).eval()(embedded) is embedded
    alpha = torch.full((2, 3), 1 / 3)
    rows = (torch.randn(2, size) for size in (9, n, d, 7))  # logits, state, word, context
    copy_ids = torch.tensor([[4, -1, 5]] * 2)
    log_probs = layers.PointerGenerator(n, d, 7)(*rows, alpha, copy_ids)
    torch.testing.assert_close(log_probs.exp().sum(dim=-1), torch.ones(2))
    assert layers.Standardize(d)(torch.randn(B, d)).shape == (B, d)


def test_alignment_attention():
    align = layers.AlignmentAttention(7, d, 9, 8, 6)
    target_ids, source_ids = torch.zeros(B, Q, dtype=torch.long), torch.zeros(B, Tx, dtype=torch.long)
    target_mask = torch.ones(B, Q, dtype=torch.bool)
    alpha = align(torch.randn(B, Q, 7), target_ids, torch.randn(B, Tx, d), source_ids, MASK, target_mask)
    assert (alpha[1, :, 3:] == 0).all()
    torch.testing.assert_close(alpha.sum(dim=-1), torch.ones(B, Q))


TABLES = {"CELLS", "ENERGIES", "NORMALIZERS", "POOLINGS", "READOUTS", "WINDOWS"}
FUNCTIONS = {"build_attention", "is_covering", "is_sized"}
TYPES = {"Attended", "AttentionState", "CellFactory", "Pooled"}
BASES = {"Attention", "Cell", "SelfAttentive"}
PUBLIC = {
    name for name, value in vars(layers).items() if name[0] != "_" and not isinstance(value, ModuleType)
}
MODULES = sorted(PUBLIC - TABLES - FUNCTIONS - TYPES)
OURS = {"Standardize", "LastPooling", "MeanPooling", "Head", "StateReadout"} | BASES - {"SelfAttentive"}
"""Layers of no particular paper."""
PAPER = re.compile(r"[A-Z][\w’-]+(?: et al\.| & [A-Z]\w+)? \d{4}")


@pytest.mark.parametrize("name", MODULES)
def test_help_says_shapes_and_source(name):
    """The shapes of what goes in and comes out, the arguments, and the paper, in the class or in what it inherits."""
    layer = getattr(layers, name)
    assert issubclass(layer, torch.nn.Module)
    own = [base.__doc__ or "" for base in layer.__mro__ if base.__module__.startswith("regard.")]
    text = pydoc.render_doc(layer, renderer=pydoc.plaintext)
    assert re.search(r"\((B|…|N)(, \w+)*\)", text), "no shape"
    if layer.__init__ is not torch.nn.Module.__init__:
        assert any("Args:" in doc for doc in own) or "Arguments as for" in own[0], "no arguments"
    assert name in OURS or PAPER.search(" ".join(" ".join(own).split())), "no paper"


def test_every_module_is_tested_above():
    """A new layer needs a test in this file."""
    tested = {"Dropout", "Embedding", "Standardize", "Head", "Output", "MaxoutReadout", "AttentionalReadout"}
    tested |= {"RecurrentStack", "BidirectionalStack", "LocalM", "LocalP", "PointerGenerator"}
    tested |= {"AlignmentAttention"}
    tested |= {kind.__name__ for table in (layers.CELLS, layers.ENERGIES) for kind in table.values()}
    tested |= {type(make(d, 6)).__name__ for make in layers.POOLINGS.values()}
    tested |= {type(make(n, d, 7, 6)).__name__ for make in layers.READOUTS.values()}
    assert set(MODULES) == tested | BASES
