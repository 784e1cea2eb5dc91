"""The classifier: the rest of the batch changes nothing, alphas sum to 1, and one encoder reads both texts."""

import pytest
import torch
from torch.nn import functional

from regard.batches import TextBatch, pad_texts
from regard.errors import ConfigError
from regard.layers import CELLS, POOLINGS
from regard.models import ClassifierConfig, ClassifierNetwork, EncoderConfig
from regard.ops.paths import naive_only
from regard.text.specials import EOS

ROWS = [([4, 5, 6], [8]), ([], [5, 5, 5, 7]), ([7, 8], []), ([6], [4, 5])]
LABELS = torch.tensor([0, 2, 1, 2])

# every pooling, and every cell with one of them, one way and both, one text and two
COVERING = {
    **{f"{pooling}-gru": {"pooling": pooling} for pooling in POOLINGS},
    **{f"pair-{pooling}-lstm": {"pooling": pooling, "num_texts": 2, "cell": "lstm"} for pooling in POOLINGS},
    **{f"attention-{cell}": {"pooling": "attention", "cell": cell, "num_layers": 2} for cell in CELLS},
    **{f"last-{cell}-one-way": {"pooling": "last", "cell": cell, "bidirectional": False} for cell in CELLS},
    "last-reversed": {"pooling": "last", "bidirectional": False, "reverse": True},
    "hidden": {"pooling": "mean", "num_texts": 2, "hidden_size": 3},
    **{
        f"between-{pooling}": {"pooling": pooling, "num_texts": 2, "between": "attention", "cell": "lstmn"}
        for pooling in ("mean", "max", "attention")
    },
}
covering = pytest.mark.parametrize("options", COVERING.values(), ids=COVERING.keys())


@pytest.fixture
def build(scattered):
    def built(
        pooling="attention", num_texts=1, hidden_size=0, between="none", **encoder: object
    ) -> ClassifierNetwork:
        config = ClassifierConfig(
            EncoderConfig(embedding_size=3, state_size=2, **encoder),
            num_texts=num_texts,
            pooling=pooling,
            pooling_size=5 if pooling == "attention" else None,
            hidden_size=hidden_size,
            between=between,
        )
        return scattered(ClassifierNetwork(config, 9, 3))

    return built


@pytest.fixture
def run(gradients_of):
    """Logits of each row, α of each text over its real words, and every parameter's gradient."""

    def passed(model: ClassifierNetwork, batch: TextBatch, labels=LABELS):
        logits, alphas = model(batch)
        loss = functional.cross_entropy(logits, labels, reduction="sum")
        weights = [
            row[real]
            for alpha, mask in zip(alphas, batch.masks, strict=True)
            if alpha is not None
            for row, real in zip(alpha.detach(), mask, strict=True)
        ]
        return list(logits.detach()), weights, gradients_of(model, loss)

    return passed


def batch_of(rows, num_texts):
    return pad_texts([row[:num_texts] for row in rows])


@covering
def test_padding_order_batch_and_path_change_nothing(options, build, run, same, widened):
    model, num_texts = build(**options), options.get("num_texts", 1)
    batch = batch_of(ROWS, num_texts)
    logits, weights, grads = run(model, batch)
    assert len(weights) == (num_texts * len(ROWS) if options["pooling"] in ("attention", "max") else 0)
    pairs = [
        widened(ids, mask, 2 + k) for k, (ids, mask) in enumerate(zip(batch.ids, batch.masks, strict=True))
    ]
    wide = TextBatch(*zip(*pairs, strict=True))
    result = run(model, wide)
    same([*result[0], *result[1], *result[2]], [*logits, *weights, *grads])
    with naive_only():
        result = run(model, batch)
    same([*result[0], *result[1], *result[2]], [*logits, *weights, *grads])
    order = [2, 0, 3, 1]
    turned = run(model, batch_of([ROWS[k] for k in order], num_texts), LABELS[order])
    same(turned[0], [logits[k] for k in order])
    same(turned[2], grads)
    alone = [
        run(model, batch_of([row], num_texts), label)
        for row, label in zip(ROWS, LABELS.split(1), strict=True)
    ]
    same([one[0][0] for one in alone], logits)
    same([sum(each) for each in zip(*[one[2] for one in alone], strict=True)], grads)


@pytest.mark.parametrize("num_texts", [1, 2])
def test_pooling_weights_sum_to_one_and_are_zero_on_padding(num_texts, build):
    batch = batch_of(ROWS, num_texts)
    _, alphas = build(num_texts=num_texts)(batch)
    assert len(alphas) == num_texts
    for alpha, mask in zip(alphas, batch.masks, strict=True):
        assert alpha.shape == mask.shape
        torch.testing.assert_close(alpha.sum(dim=1), torch.ones(len(ROWS), dtype=alpha.dtype))
        assert bool((alpha[~mask] == 0).all())
        assert bool((alpha[mask] > 0).all())


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_text_becomes_the_vector_of_its_pooling(pooling, build):
    model = build(pooling)
    ids = torch.tensor([[4, 5, EOS]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    annotations, ((ahead,),), ((back,),) = model.encoder(ids, mask)
    vector, alpha = model.pool(model.encode(ids, mask))
    match pooling:
        case "last":
            expected = torch.cat([ahead, back], dim=-1)
            # →h at the last position, ←h at the first
            torch.testing.assert_close(
                expected, torch.cat([annotations[:, -1, :2], annotations[:, 0, 2:]], dim=-1)
            )
        case "mean":
            expected = annotations.mean(dim=1)
        case "max":
            expected = annotations.amax(dim=1)
        case "attention":
            p = model.pooling
            energies = torch.stack([p.v_a @ torch.tanh(p.q + p.U_a @ h) for h in annotations[0]])
            torch.testing.assert_close(alpha[0], energies.softmax(dim=0))
            expected = (alpha.unsqueeze(-1) * annotations).sum(dim=1)
    torch.testing.assert_close(vector, expected)


def test_two_texts_are_joined_as_infersent_joins_them(build):
    model = build("mean", num_texts=2)
    batch = batch_of(ROWS, 2)
    texts = zip(batch.ids, batch.masks, strict=True)
    u, v = (model.pool(model.encode(ids, mask)).vector for ids, mask in texts)
    head = model.head.output
    expected = torch.cat([u, v, (u - v).abs(), u * v], dim=1) @ head.weight.T + head.bias
    torch.testing.assert_close(model(batch).logits, expected)


def test_each_word_is_joined_with_what_it_attends_to_in_the_other_text(build):
    """c_i = Σ_j softmax_j(h_iᵀ W g_j) g_j over the other text's annotations g, and the mean is of [h_i; c_i]."""
    model = build("mean", num_texts=2, between="attention")
    (first, second) = (torch.tensor([[4, 5, EOS]]), torch.tensor([[7, EOS]]))
    h, g = (
        model.encode(ids, torch.ones_like(ids, dtype=torch.bool)).annotations[0] for ids in (first, second)
    )
    W = model.between.W_a

    def pooled(own, other):
        energies = own @ W @ other.T
        return torch.cat([own, energies.softmax(dim=1) @ other], dim=1).mean(dim=0)

    u, v = pooled(h, g), pooled(g, h)
    head = model.head.output
    expected = torch.cat([u, v, (u - v).abs(), u * v]) @ head.weight.T + head.bias
    torch.testing.assert_close(model(pad_texts([([4, 5], [7])])).logits[0], expected)


def test_configuration():
    config = ClassifierConfig(EncoderConfig(cell="lstm"), num_texts=2, pooling="mean", hidden_size=7)
    assert ClassifierConfig.from_mapping(config.to_mapping(), "model") == config
    with pytest.raises(ConfigError, match=r"model\.pooling: no 'sum'; known: attention, last, max, mean"):
        ClassifierConfig(pooling="sum")
    with pytest.raises(ConfigError, match=r"model\.num_texts: 3 is out of range; it must be from 1 to 2"):
        ClassifierConfig(num_texts=3)
    with pytest.raises(ConfigError, match=r"model\.between: no 'both'; known: attention, none"):
        ClassifierConfig(between="both")
    with pytest.raises(
        ConfigError, match=r'model\.between = "attention": there is one text; set model\.num_texts'
    ):
        ClassifierConfig(between="attention")
    with pytest.raises(
        ConfigError, match="the pooling last reads the encoder's last state alone; choose mean"
    ):
        ClassifierConfig(between="attention", num_texts=2, pooling="last")
    for name in ("pooling_size", "hidden_size", "dropout"):
        with pytest.raises(ConfigError, match=rf"model\.{name}: -1 is out of range"):
            ClassifierConfig(**{name: -1})
    for pooling in ("last", "mean", "max"):
        message = (
            rf"model\.pooling_size = 5: the pooling '{pooling}' has no alignment units; .*choose attention"
        )
        with pytest.raises(ConfigError, match=message):
            ClassifierConfig(pooling=pooling, pooling_size=5)


def test_dropout_on_the_head_acts_only_in_training():
    config = ClassifierConfig(EncoderConfig(embedding_size=3, state_size=8), hidden_size=8, dropout=0.5)
    model = ClassifierNetwork(config, 9, 3)
    batch = batch_of(ROWS, 1)
    assert not torch.equal(model(batch).logits, model(batch).logits)
    model.eval()
    assert torch.equal(model(batch).logits, model(batch).logits)
