"""The describer: a vector in the place of a source, and every search as for a translator."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from regard.batches import CaptionBatch, pad_captioned
from regard.errors import ConfigError
from regard.layers import CELLS
from regard.models import (
    BahdanauConfig,
    CaptionerConfig,
    CaptionerNetwork,
    ChoConfig,
    LuongConfig,
    SutskeverConfig,
)
from regard.ops.paths import naive_only
from regard.search import LengthLimit, SearchOptions, decode_forced, search
from regard.text.specials import BOS, EOS

FEATURES = list(np.random.default_rng(5).normal(size=(4, 6)).astype(np.float32))
WORDS = [[4, 5, 6], [], [8], [7, 4]]
KINDS = {
    f"{kind}-{cell}-{depth}": (kind, cell, depth)
    for kind, depth in (("cho", 1), ("sutskever", 2))
    for cell in CELLS
} | {"cho-lstm-2": ("cho", "lstm", 2), "sutskever-gru-1": ("sutskever", "gru", 1)}
every_kind = pytest.mark.parametrize(("kind", "cell", "depth"), KINDS.values(), ids=KINDS.keys())


@pytest.fixture
def build(scattered):
    def built(kind: str, cell: str, depth: int, **options: object) -> CaptionerNetwork:
        sizes = {"cell": cell, "num_layers": depth, "embedding_size": 3, "state_size": 4}
        if kind == "cho":
            config = CaptionerConfig(ChoConfig(readout_size=3, **sizes), summary_size=5, **options)
        else:
            config = CaptionerConfig(SutskeverConfig(**sizes), **options)
        return scattered(CaptionerNetwork(config, 6, 9))

    return built


def batch_of(order):
    batch = pad_captioned([FEATURES[k] for k in order], [WORDS[k] for k in order])
    return replace(batch, features=batch.features.double())


@pytest.fixture
def run(gradients_of):
    def passed(model: CaptionerNetwork, batch: CaptionBatch):
        logits = model(batch).logits
        loss = functional.cross_entropy(logits, batch.target_ids[batch.target_mask], reduction="sum")
        return list(logits.detach().split(batch.target_mask.sum(1).tolist())), gradients_of(model, loss)

    return passed


@every_kind
def test_padding_order_company_and_path_change_nothing(kind, cell, depth, build, run, same, widened):
    model, batch = build(kind, cell, depth), batch_of(range(4))
    logits, grads = run(model, batch)
    previous_ids, mask = widened(batch.previous_ids, batch.target_mask, 2)
    target_ids, _ = widened(batch.target_ids, batch.target_mask, 2)
    found = run(model, CaptionBatch(batch.features, previous_ids, target_ids, mask))
    same([*found[0], *found[1]], [*logits, *grads])
    with naive_only():
        found = run(model, batch)
    same([*found[0], *found[1]], [*logits, *grads])
    order = [2, 0, 3, 1]
    turned = run(model, batch_of(order))
    same([*turned[0], *turned[1]], [*(logits[k] for k in order), *grads])
    same([run(model, batch_of([k]))[0][0] for k in range(4)], logits)


@every_kind
def test_searched_as_a_translator_is(kind, cell, depth, build):
    model = build(kind, cell, depth)
    encoded = model.encode(batch_of(range(4)).features)
    limit = LengthLimit(extra=6)
    best = [each.best for each in search(model.decoder, encoded, SearchOptions(3, limit=limit))]
    assert all(one.ids[-1] == EOS and len(one.ids) <= 6 and one.alpha is None for one in best)
    # what was found has the score that the same words get when they are given
    given = pad_captioned(FEATURES, [one.ids[:-1] for one in best])
    scored = decode_forced(model, replace(given, features=given.features.double()))
    assert [one.ids for one in scored] == [one.ids for one in best]
    assert [one.log_prob for one in scored] == pytest.approx([one.log_prob for one in best], rel=1e-9)


@pytest.mark.parametrize("ratio", [0.0, 2.0])
def test_a_limit_is_of_tokens_whatever_its_ratio(ratio, build):
    encoded = build("cho", "gru", 1).encode(batch_of(range(4)).features)
    assert LengthLimit(ratio=ratio, extra=7).of(encoded.mask).tolist() == [7] * 4


@pytest.mark.parametrize("activation", ["tanh", "identity"])
def test_features_take_the_place_of_what_was_read(activation, build):
    features = batch_of(range(4)).features
    model = build("cho", "lstm", 2, activation=activation)
    (layer,) = model.W_f
    projected = features @ layer.weight.T + layer.bias
    expected = projected.tanh() if activation == "tanh" else projected
    torch.testing.assert_close(model.encode(features).summary, expected)
    model = build("sutskever", "lstm", 2, activation=activation)
    state = model.decoder.initial_state(model.encode(features))
    for layer, (h, c) in zip(model.W_f, state.cells, strict=True):
        projected = features @ layer.weight.T + layer.bias
        torch.testing.assert_close(h, projected.tanh() if activation == "tanh" else projected)
        assert torch.equal(c, torch.zeros_like(h))


def test_other_features_other_words(build):
    model = build("sutskever", "gru", 1)
    encoded = model.encode(batch_of(range(4)).features)
    logits = model.decoder.step(torch.full((4,), BOS), model.decoder.initial_state(encoded), encoded).logits
    assert len({tuple(row) for row in logits.tolist()}) == 4


def test_configuration():
    config = CaptionerConfig(SutskeverConfig(cell="lstm", state_size=7, num_layers=2), activation="identity")
    assert CaptionerConfig.from_mapping(config.to_mapping(), "model") == config
    assert config.vector_sizes == (7, 7)
    assert CaptionerConfig(summary_size=3).vector_sizes == (3,)
    with pytest.raises(
        ConfigError, match=r"model\.summary_size = 3: a sutskever decoder .*model\.decoder\.state_size"
    ):
        CaptionerConfig(SutskeverConfig(), summary_size=3)
    # a table that names no kind is a cho decoder's only if it says so
    for decoder in (BahdanauConfig(), LuongConfig()):
        with pytest.raises(
            ConfigError, match=rf'kind = "{decoder.kind}": it attends .* choose cho or sutskever'
        ):
            CaptionerConfig(decoder)
    with pytest.raises(ConfigError, match=r"model\.activation: no 'relu'; known: identity, tanh"):
        CaptionerConfig(activation="relu")
    with pytest.raises(
        ConfigError, match=r"model.tie: .* reads 128 units .* has 256; .*embedding_size = 128"
    ):
        CaptionerConfig(tie=True)
    tied = CaptionerNetwork(CaptionerConfig(ChoConfig(embedding_size=128), tie=True), 6, 9)
    assert tied.decoder.output.W_o is tied.decoder.embedding.E
