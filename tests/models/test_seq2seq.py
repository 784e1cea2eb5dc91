"""The whole model: nobody's company changes a result, gradients are derivatives, shared matrices are one."""

import pytest
import torch

from regard.batches import PairBatch, pad_pairs
from regard.errors import ConfigError
from regard.models import (
    AttentionConfig,
    BahdanauConfig,
    EncoderConfig,
    LuongConfig,
    ModelConfig,
    Seq2Seq,
    SutskeverConfig,
)
from regard.ops.paths import naive_only
from regard.text.pairs import EncodedPair

PAIRS = [
    EncodedPair([4, 5, 6, 7, 8], [5, 4]),
    EncodedPair([], [6]),
    EncodedPair([7, 7], [8, 5, 6, 4]),
]
BATCH = pad_pairs(PAIRS)
every_kind = pytest.mark.parametrize("kind", ["bahdanau", "luong", "cho", "sutskever"])


def widened(batch: PairBatch, source_extra: int, target_extra: int) -> PairBatch:
    """The same pairs with more padding, and in all padding words that stand for something."""

    def wide(ids, mask, extra):
        mask = torch.cat([mask, torch.zeros(len(mask), extra, dtype=torch.bool)], dim=1)
        garbage = torch.randint(1, 9, mask.shape)
        garbage[:, : ids.shape[1]] = torch.where(mask[:, : ids.shape[1]], ids, garbage[:, : ids.shape[1]])
        return garbage, mask

    source_ids, source_mask = wide(batch.source_ids, batch.source_mask, source_extra)
    previous_ids, target_mask = wide(batch.previous_ids, batch.target_mask, target_extra)
    target_ids, _ = wide(batch.target_ids, batch.target_mask, target_extra)
    return PairBatch(source_ids, source_mask, previous_ids, target_ids, target_mask)


def run(model: Seq2Seq, batch: PairBatch):
    """Logits of each pair, α of each pair over real words, and every parameter's gradient."""
    model.zero_grad()
    result = model(batch)
    loss = torch.nn.functional.cross_entropy(
        result.logits, batch.target_ids[batch.target_mask], reduction="sum"
    )
    loss.backward()
    logits = result.logits.detach().split(batch.target_mask.sum(1).tolist())
    alpha = None
    if result.alpha is not None:
        sizes = zip(batch.target_mask.sum(1).tolist(), batch.source_mask.sum(1).tolist(), strict=True)
        alpha = [one[:i, :j] for one, (i, j) in zip(result.alpha.detach(), sizes, strict=True)]
    # of one word alone, what a cell sums up of its past is read by nobody, nor has a gradient
    grads = [
        torch.zeros_like(each) if each.grad is None else each.grad.clone() for each in model.parameters()
    ]
    return list(logits), alpha, grads


def observed(result):
    """Everything a pass gives that may be learnt from: logits, and α at real words."""
    return [result.logits, *([] if result.alpha is None else [result.alpha[BATCH.target_mask]])]


def same(one, other):
    for ours, theirs in zip(one, other, strict=True):
        if ours is None:
            assert theirs is None
        else:
            torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-11)


def test_padding_order_and_company_change_nothing(grid_model):
    model = grid_model
    logits, alpha, grads = expected = run(model, BATCH)
    # more padding, and words in it that stand for something
    same(run(model, widened(BATCH, 3, 2)), expected)
    with naive_only():
        same(run(model, widened(BATCH, 1, 0)), expected)
    # another order
    order = [2, 0, 1]
    turned = [logits[k] for k in order], alpha and [alpha[k] for k in order], grads
    same(run(model, pad_pairs([PAIRS[k] for k in order])), turned)
    # each sentence alone
    alone = [run(model, pad_pairs([pair])) for pair in PAIRS]
    same((logits, alpha), ([one[0][0] for one in alone], alpha and [one[1][0] for one in alone]))
    same((grads,), ([sum(each) for each in zip(*[one[2] for one in alone], strict=True)],))


def test_gradients_of_a_whole_model_are_the_derivatives(grid_model):
    """Along one direction that moves every parameter, against a difference of two values."""
    generator = torch.Generator().manual_seed(5)
    parameters = list(grid_model.parameters())
    direction = [torch.randn(each.shape, generator=generator, dtype=each.dtype) for each in parameters]
    result = grid_model(BATCH)
    mixtures = [torch.randn(each.shape, generator=generator) for each in observed(result)]

    def value() -> torch.Tensor:
        return sum((m * each).sum() for m, each in zip(mixtures, observed(grid_model(BATCH)), strict=True))

    def moved(distance: float) -> float:
        with torch.no_grad():
            for parameter, step in zip(parameters, direction, strict=True):
                parameter.add_(step, alpha=distance)
            there = value().item()
            for parameter, step in zip(parameters, direction, strict=True):
                parameter.sub_(step, alpha=distance)
        return there

    grads = torch.autograd.grad(value(), parameters)
    along = sum((grad * step).sum().item() for grad, step in zip(grads, direction, strict=True))
    epsilon = 1e-6
    assert along == pytest.approx((moved(epsilon) - moved(-epsilon)) / (2 * epsilon), rel=1e-6, abs=1e-6)


@every_kind
def test_logits_are_for_real_positions_row_by_row(kind, tiny_model):
    model = tiny_model(kind)
    result = model(BATCH)
    assert result.logits.shape == (3 + 2 + 5, 9)
    encoded = model.encode(BATCH.source_ids, BATCH.source_mask)
    unrolled = model.decoder(BATCH.previous_ids, BATCH.target_mask, encoded)
    torch.testing.assert_close(result.logits[3], model.decoder.output(unrolled.readout[1, 0]))
    torch.testing.assert_close(result.logits[9], model.decoder.output(unrolled.readout[2, 4]))


@every_kind
def test_two_sources_can_be_in_flight(kind, tiny_model):
    """Nothing is kept on a module between calls, so the order of calls does not matter."""
    model = tiny_model(kind)
    one = model.encode(torch.tensor([[4, 5, 3]]), torch.ones(1, 3, dtype=torch.bool))
    word = torch.tensor([2])
    alone = model.decoder.step(word, model.decoder.initial_state(one), one).logits
    start = model.decoder.initial_state(one)
    other = model.encode(torch.tensor([[8, 8, 8, 3]]), torch.ones(1, 4, dtype=torch.bool))
    model.decoder.step(word, model.decoder.initial_state(other), other)
    assert torch.equal(model.decoder.step(word, start, one).logits, alone)


def tied(tie: str, vocabularies: tuple[int, int] = (9, 9)) -> Seq2Seq:
    encoder = EncoderConfig(embedding_size=3, state_size=2)
    decoder = BahdanauConfig(
        embedding_size=3, state_size=4, readout_size=3, attention=AttentionConfig(size=5)
    )
    return Seq2Seq(ModelConfig(encoder, decoder, tie=tie), *vocabularies).double()


def test_tied_matrices_are_one_and_gather_every_gradient():
    separate = tied("none")
    shared = tied("all")
    E = shared.decoder.embedding.E
    assert shared.decoder.output.W_o is E
    assert shared.encoder.embedding.E is E
    half = tied("target")
    assert half.decoder.output.W_o is half.decoder.embedding.E
    assert half.encoder.embedding.E is not half.decoder.embedding.E
    # three matrices of equal values learn apart what one learns together
    weights = {name: value for name, value in separate.state_dict().items() if "embedding" not in name}
    values = torch.randn(9, 3, dtype=torch.float64)
    for name in ("decoder.embedding.E", "decoder.output.W_o", "encoder.embedding.E"):
        weights[name] = values
    separate.load_state_dict(weights)
    shared.load_state_dict(weights)
    for model in (separate, shared):
        model(BATCH).logits.logsumexp(dim=-1).sum().backward()
    parts = [separate.decoder.embedding.E, separate.decoder.output.W_o, separate.encoder.embedding.E]
    torch.testing.assert_close(E.grad, sum(part.grad for part in parts))
    assert separate.num_parameters - shared.num_parameters == 2 * 9 * 3


def test_one_matrix_for_two_vocabularies_is_refused():
    with pytest.raises(ConfigError, match=r'model.tie = "all".*9 entries.*8.*tie = "target"'):
        tied("all", (9, 8))
    assert tied("target", (9, 8)).decoder.output.W_o.shape == (8, 3)


def test_num_parameters_of_a_tiny_rnnsearch_counted_by_hand():
    m, n, a, l, Vx, Vy = 3, 2, 5, 7, 11, 13
    encoder = EncoderConfig(embedding_size=m, state_size=n)
    decoder = BahdanauConfig(
        embedding_size=m, state_size=n, attention=AttentionConfig(size=a), readout_size=l
    )
    counted = [
        Vx * m + Vy * m,  # E_x, E_y
        2 * (3 * n * m + 3 * n * n + 3 * n),  # W, U, b of the encoder's GRU, each way
        3 * n * m + 3 * n * n + 3 * n * (2 * n) + 3 * n,  # W, U, C, b of the decoder's
        n * n + n,  # W_s, with a bias
        a * n + a * (2 * n) + a,  # W_a, U_a, v_a
        2 * l * n + 2 * l + 2 * l * m + 2 * l * (2 * n),  # U_o with its bias, V_o, C_o
        Vy * l + Vy,  # W_o, with a bias
    ]
    assert Seq2Seq(ModelConfig(encoder, decoder), Vx, Vy).num_parameters == sum(counted)


@pytest.mark.parametrize("decoder", [LuongConfig, SutskeverConfig])
def test_every_dropout_is_quiet_in_evaluation_and_loud_in_training(decoder):
    encoder = EncoderConfig(state_size=4, embedding_size=3, num_layers=2, dropout=0.5, recurrent_dropout=0.5)
    config = decoder(state_size=8, embedding_size=3, num_layers=2, dropout=0.5, recurrent_dropout=0.5)
    model = Seq2Seq(ModelConfig(encoder, config), 9, 9)
    assert not torch.equal(model(BATCH).logits, model(BATCH).logits)
    model.eval()
    assert torch.equal(model(BATCH).logits, model(BATCH).logits)
