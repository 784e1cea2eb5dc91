"""A trace is what the model computes: every cell, decoder and reader, equal to the whole forward pass."""

from itertools import takewhile

import numpy as np
import pytest
import torch

from regard.batches import pad_captioned, pad_lines, pad_pairs, pad_texts, pad_words
from regard.layers import CELLS, Additive, Bilinear, QueryKeyValue, ScaledDot, SelfAttentive
from regard.models import (
    CaptionerConfig,
    CaptionerNetwork,
    ClassifierConfig,
    ClassifierNetwork,
    LanguageModelConfig,
    LanguageModelNetwork,
    TaggerConfig,
    TaggerNetwork,
)
from regard.ops.record import LETTERS, Equation, record
from regard.tasks.tracing import (
    trace_caption,
    trace_cell,
    trace_classification,
    trace_tags,
    trace_text,
    trace_translation,
    traced_model,
)
from regard.text import EncodedPair
from regard.text.specials import BOS, EOS

EXACT = {"rtol": 1e-12, "atol": 1e-12}  # float64: the same equations, steps added up in another order at most
SOURCE, TARGET = [4, 5, 6, 4, 7], [5, 8, 4, 6]
PART = {"embedding_size": 3, "state_size": 4}


def names(ids):
    return [f"w{i}" for i in ids]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def scatter(model):
    generator = torch.Generator().manual_seed(5)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7, generator=generator)
    return model.double().eval()


def traced(model, source=SOURCE, target=TARGET):
    with traced_model(model, "float64") as same:
        assert same is model
        sections = trace_translation(same, source, [*target, EOS], names([*source, EOS]), names)
    return {section.key: section for section in sections}


def check_translation(model, source=SOURCE, target=TARGET):
    sections = traced(model, source, target)
    with torch.inference_mode():
        expected = model(pad_pairs([EncodedPair(source, target)]))
    decoder = sections["decoder"]
    np.testing.assert_allclose(decoder.values("probabilities"), expected.logits.softmax(dim=-1), **EXACT)
    if expected.alpha is not None:
        key = next(part.key for part in decoder.parts if part.name == "alpha" and part.axis == "source")
        alpha = decoder.values(key)
        alpha = alpha.mean(axis=1) if alpha.ndim == 3 else alpha
        np.testing.assert_allclose(alpha, expected.alpha[0].numpy(), **EXACT)
    return sections


def test_every_decoder_and_cell_is_traced_as_it_computes(grid_model):
    sections = check_translation(grid_model)
    model = grid_model
    with torch.inference_mode():
        annotations, *_ = model.encoder(torch.tensor([[*SOURCE, EOS]]), torch.ones(1, 6, dtype=torch.bool))
    if "annotations" in sections and "annotation" in sections["annotations"].steps[0].values:
        np.testing.assert_allclose(sections["annotations"].values("annotation"), annotations[0], **EXACT)
    for key, section in sections.items():
        if key.startswith("encoder"):  # not only its states: every gate and every sum
            found = {part.name for part in section.parts}
            assert found & {"candidate", "preactivation", "summary"}
            assert "state" in found
        for step in section.steps:
            assert set(step.values) == {part.key for part in section.parts}
            for part in section.parts:
                labels = section.labels(part, step)
                if part.axis in ("source", "past"):
                    assert step.values[part.key].shape[-1] == len(labels)
        for part in section.parts:
            for letters in LETTERS:
                assert not {"⟨", "⟩"} & set(part.equations[letters])


@pytest.mark.parametrize("kind", ["bahdanau", "luong"])
@pytest.mark.parametrize("attention", [{}, {"coverage": True}, {"window": "local-p", "window_size": 2}])
def test_a_decoder_that_copies_is_traced_with_its_gate(tiny_model, kind, attention):
    model = tiny_model(kind, copy=True, attention=attention)
    sections = check_translation(model)
    gate = sections["decoder"].values("generation")
    assert ((gate > 0) & (gate < 1)).all()
    # words outside both vocabularies: 9 and 10 of the extended ones
    check_translation(model, [4, 9, 5, 10], [10, 4, 9])


def test_the_parts_of_rnnsearch_are_its_equations(tiny_model):
    model = tiny_model("bahdanau")
    sections = traced(model)
    decoder, E = model.decoder, model.decoder.embedding.E.detach().numpy()
    h = sections["annotations"].values("annotation")
    W_a, U_a, v_a, C = (
        each.detach().numpy()
        for each in (decoder.attention.W_a, decoder.attention.U_a, decoder.attention.v_a, decoder.C)
    )
    cell = decoder.stack.layers[0]
    W, U, b = (each.detach().numpy() for each in (cell.W, cell.U, cell.b))
    s = sections["start"].values("state")[0]
    n = len(s)
    for step, previous in zip(sections["decoder"].steps, [BOS, *TARGET], strict=True):
        values = step.values
        e = np.tanh(W_a @ s + h @ U_a.T) @ v_a
        np.testing.assert_allclose(values["energies"], e, **EXACT)
        alpha = np.exp(e) / np.exp(e).sum()
        np.testing.assert_allclose(values["alpha"], alpha, **EXACT)
        np.testing.assert_allclose(values["context"], alpha @ h, **EXACT)
        given = W @ E[previous] + b + C @ (alpha @ h)
        z = sigmoid(given[:n] + U[:n] @ s)
        r = sigmoid(given[n : 2 * n] + U[n : 2 * n] @ s)
        candidate = np.tanh(given[2 * n :] + U[2 * n :] @ (r * s))
        s = (1 - z) * s + z * candidate
        for name, value in {"update": z, "reset": r, "candidate": candidate, "state": s}.items():
            np.testing.assert_allclose(values[name], value, **EXACT)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_by_itself_is_traced_as_it_computes(name):
    torch.manual_seed(2)
    cell = scatter(CELLS[name](3, 4))
    x = torch.randn(5, 3, dtype=torch.float64)
    trace = trace_cell(cell, x)
    (section,) = trace.sections
    with torch.inference_mode():
        states, last = cell(x.unsqueeze(0))
    np.testing.assert_allclose(section.values("state"), states[0], **EXACT)
    np.testing.assert_array_equal(section.values("input"), x)
    if cell.num_parts > 1:
        np.testing.assert_allclose(section.values("memory")[-1], last[1][0], **EXACT)
    if isinstance(cell, SelfAttentive):
        with torch.inference_mode():
            _, _, alpha = cell.forward_with_alpha(x.unsqueeze(0))
        for step, row in zip(section.steps, alpha[0].numpy(), strict=True):
            width = step.position + (not cell.attends_first)
            assert step.past == tuple(f"x_{k + 1}" for k in range(width))
            np.testing.assert_allclose(step.values["past.alpha"], row[:width], **EXACT)
    blocks = list(takewhile(lambda key: key.startswith("W"), trace.parameters))
    np.testing.assert_array_equal(np.concatenate([trace.parameters[key] for key in blocks]), cell.W.detach())


@pytest.mark.parametrize(
    ("name", "blocks"),
    {
        "gru": ["W_z", "W_r", "W"],
        "mut1": ["W_z", "W_r", "W_h"],
        "lstm": ["W_i", "W_f", "W_c", "W_o"],
        "lstm-peephole": ["W_i", "W_f", "W_c", "W_o"],
        "lstm-1997": ["W_i", "W_c", "W_o"],
        "lstm-no-input": ["W_f", "W_c", "W_o"],
        "lstm-no-forget": ["W_i", "W_c", "W_o"],
        "lstm-no-output": ["W_i", "W_f", "W_c"],
    }.items(),
)
def test_blocks_have_the_letters_of_their_gates(name, blocks):
    cell = CELLS[name](3, 4)
    trace = trace_cell(cell, torch.zeros(1, 3))
    assert [key for key in trace.parameters if key.startswith("W")] == blocks
    for k, key in enumerate(blocks):
        np.testing.assert_array_equal(trace.parameters[key], cell.W.detach()[4 * k : 4 * k + 4])


def test_the_peepholes_have_the_letters_of_their_gates():
    cell = CELLS["lstm-peephole"](3, 4)
    torch.nn.init.normal_(cell.p)
    parameters = trace_cell(cell, torch.zeros(1, 3)).parameters
    for k, key in enumerate(("p_i", "p_f", "p_o")):
        np.testing.assert_array_equal(parameters[key], cell.p.detach()[4 * k : 4 * k + 4])


def test_a_cell_without_biases_has_none_in_its_equations():
    cell = CELLS["gru"](3, 4, bias=False)
    (section,) = trace_cell(cell, torch.zeros(1, 3)).sections
    assert section.parts[1].equations["papers"] == "z_t = σ(W_z x_t + U_z h_{t−1})"
    config = LanguageModelConfig(cell="lstm", bias=False, **PART)
    with traced_model(scatter(LanguageModelNetwork(config, 9)), "float64") as same:
        (section,) = trace_text(same, [4, EOS], names)
    texts = [part.equations["papers"] for part in section.parts]
    assert not [text for text in texts if "+ b" in text]


def test_the_gates_of_an_lstm_are_its_equations():
    cell = scatter(CELLS["lstm"](3, 4))
    x = torch.randn(5, 3, dtype=torch.float64)
    (section,) = trace_cell(cell, x).sections
    W, U, b = (each.detach().numpy() for each in (cell.W, cell.U, cell.b))
    h = c = np.zeros(4)
    for step, x_t in zip(section.steps, x.numpy(), strict=True):
        i, f, g, o = np.split(W @ x_t + U @ h + b, 4)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        c = f * c + i * g
        h = o * np.tanh(c)
        expected = {
            "input_gate": i,
            "forget_gate": f,
            "candidate": g,
            "output_gate": o,
            "memory": c,
            "state": h,
        }
        for name, value in expected.items():
            np.testing.assert_allclose(step.values[name], value, **EXACT)


@pytest.mark.parametrize("span", [0, 2])
@pytest.mark.parametrize(
    "attention",
    [
        lambda q, n: Additive(q, n, 5),
        ScaledDot,
        Bilinear,
        lambda q, n: QueryKeyValue(q, n, 4, 2),
    ],
)
@pytest.mark.parametrize("name", ["rnn-read", "rnn-sum", "rnn-sum-keep"])
def test_every_attention_to_the_own_past_is_traced(name, attention, span):
    cell = scatter(CELLS[name](3, 4, attention, span))
    x = torch.randn(4, 3, dtype=torch.float64)
    (section,) = trace_cell(cell, x).sections
    with torch.inference_mode():
        states, _, alpha = cell.forward_with_alpha(x.unsqueeze(0))
    np.testing.assert_allclose(section.values("state"), states[0], **EXACT)
    last = section.steps[-1]
    own = last.values["past.alpha"]
    own = own.mean(axis=0) if own.ndim == 2 else own
    width = len(last.past)
    assert width == min(span or 4, 4 - cell.attends_first)
    end = 4 - cell.attends_first
    np.testing.assert_allclose(own, alpha[0, -1, end - width : end], **EXACT)
    assert last.values["past.energies"].shape == last.values["past.alpha"].shape


def test_a_cell_that_records_nothing_is_traced_with_its_state():
    class Leaky(CELLS["rnn"]):
        def step(self, projected, previous_state, state_mask=None):
            return (0.5 * previous_state[0] + projected,)

    cell = scatter(Leaky(3, 4))
    x = torch.randn(4, 3, dtype=torch.float64)
    (section,) = trace_cell(cell, x).sections
    np.testing.assert_allclose(section.values("state"), cell(x.unsqueeze(0))[0][0].detach(), **EXACT)
    assert [part.name for part in section.parts] == ["input", "state"]


def test_such_a_cell_is_traced_within_models(monkeypatch):
    class Leaky(CELLS["rnn"]):
        def step(self, projected, previous_state, state_mask=None):
            return (0.5 * previous_state[0] + projected,)

    monkeypatch.setitem(CELLS, "leaky", Leaky)
    tagger = scatter(
        TaggerNetwork(TaggerConfig.from_mapping({"encoder": PART | {"cell": "leaky"}}, "model"), 9, 4)
    )
    language_model = scatter(LanguageModelNetwork(LanguageModelConfig(cell="leaky", num_layers=2, **PART), 9))
    with traced_model(tagger, "float64") as same:
        forward, _, _ = trace_tags(same, [4, 5], names([4, 5, EOS]), "abcd")
    assert [part.name for part in forward.parts] == ["input", "state"]
    with traced_model(language_model, "float64") as same:
        (section,) = trace_text(same, [4, EOS], names)
    keys = [part.key for part in section.parts]
    assert keys == ["embedded", "layer1.state", "layer2.below", "layer2.state", "logits", "probabilities"]


def test_a_cell_of_one_s_own_names_its_parts_in_one_place():
    equations = {"half": Equation("g_t = ½ h_{t−1}", "g_t = h_{t−1} / 2")}

    class Leaky(CELLS["rnn"]):
        def step(self, projected, previous_state, state_mask=None):
            half = 0.5 * previous_state[0]
            record(equations, half=half)
            return (half + projected,)

    cell = scatter(Leaky(3, 4))
    (section,) = trace_cell(cell, torch.randn(4, 3, dtype=torch.float64)).sections
    assert [part.name for part in section.parts] == ["input", "half", "state"]
    assert section.parts[1].equations == {"papers": "g_t = ½ h_{t−1}", "slides": "g_t = h_{t−1} / 2"}
    np.testing.assert_allclose(section.values("half")[1:], 0.5 * section.values("state")[:-1], **EXACT)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("num_layers", [1, 2])
def test_a_language_model_is_traced_as_it_computes(cell, num_layers):
    config = LanguageModelConfig(cell=cell, num_layers=num_layers, residual=num_layers > 1, **PART)
    model = scatter(LanguageModelNetwork(config, 9))
    ids = [4, 6, 5, 8]
    with traced_model(model, "float64") as same:
        (section,) = trace_text(same, [*ids, EOS], names)
    batch = pad_lines([ids])
    with torch.inference_mode():
        logits, _ = model(batch.previous_ids, batch.mask)
    np.testing.assert_allclose(section.values("logits"), logits, **EXACT)
    assert [step.output for step in section.steps] == names([*ids, EOS])


@pytest.mark.parametrize("pooling", ["attention", "mean", "last"])
@pytest.mark.parametrize("num_texts", [1, 2])
def test_a_classifier_is_traced_as_it_computes(pooling, num_texts):
    config = ClassifierConfig.from_mapping(
        {"encoder": PART, "pooling": pooling, "num_texts": num_texts, "hidden_size": 3}, "model"
    )
    model = scatter(ClassifierNetwork(config, 9, 3))
    texts = [[4, 5, 6], [7, 4]][:num_texts]
    with traced_model(model, "float64") as same:
        sections = trace_classification(same, texts, [names([*ids, EOS]) for ids in texts], "abc")
    by_key = {section.key: section for section in sections}
    with torch.inference_mode():
        logits, alphas = model(pad_texts([texts]))
    np.testing.assert_allclose(by_key["output"].values("logits"), logits, **EXACT)
    for k, alpha in enumerate(alphas):
        key = "pooling" if num_texts == 1 else f"text{k + 1}.pooling"
        if alpha is not None:
            np.testing.assert_allclose(by_key[key].values("alpha"), alpha[:, : len(texts[k]) + 1], **EXACT)
    assert by_key["output"].steps[0].output == "abc"[int(logits.argmax())]


def test_a_tagger_is_traced_as_it_computes():
    model = scatter(TaggerNetwork(TaggerConfig.from_mapping({"encoder": PART}, "model"), 9, 4))
    ids = [4, 6, 5]
    with traced_model(model, "float64") as same:
        sections = trace_tags(same, ids, names([*ids, EOS]), "abcd")
    with torch.inference_mode():
        logits = model(pad_words([ids]))
    np.testing.assert_allclose(sections[-1].values("logits"), logits, **EXACT)
    assert [step.output for step in sections[-1].steps] == ["abcd"[k] for k in logits.argmax(dim=-1)]


@pytest.mark.parametrize("kind", ["cho", "sutskever"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_captioner_is_traced_as_it_computes(kind, cell):
    config = CaptionerConfig.from_mapping({"decoder": {"kind": kind, "cell": cell, **PART}}, "model")
    model = scatter(CaptionerNetwork(config, 2, 9))
    features, ids = [0.5, -1.0], [4, 6, 5]
    with traced_model(model, "float64") as same:
        *_, section = trace_caption(same, torch.tensor([features], dtype=torch.float64), [*ids, EOS], names)
    batch = pad_captioned([np.array(features)], [ids])
    with torch.inference_mode():
        logits = model(batch).logits
    np.testing.assert_allclose(section.values("probabilities"), logits.softmax(dim=-1), **EXACT)


def test_a_trace_in_double_precision_leaves_the_model_alone(tiny_model):
    model = tiny_model("luong").float()
    with traced_model(model, "float64") as double:
        assert double.decoder.output.W_o.dtype == torch.float64
    assert model.decoder.output.W_o.dtype == torch.float32
