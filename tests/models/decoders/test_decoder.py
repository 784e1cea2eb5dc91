"""Every cell and every attention on each decoder: a step at a time, in search, is the whole sentence of training."""

import pytest
import torch

from regard.batches import pad_pairs
from regard.layers import CELLS
from regard.models import DecoderState, EncodedSource
from regard.ops.paths import naive_only
from regard.text.pairs import EncodedPair

PAIRS = [
    EncodedPair([4, 5, 6], [5, 4]),
    EncodedPair([], [6]),
    EncodedPair([7, 7], [8, 5, 6]),
]
BATCH = pad_pairs(PAIRS)


def stepped(model, batch, encoded):
    """Logits (B, Ty, Vy) and alpha (B, Ty, Tx), one step after the other along the given words."""
    state, logits, alphas = model.decoder.initial_state(encoded), [], []
    for previous in batch.previous_ids.unbind(dim=1):
        output = model.decoder.step(previous, state, encoded)
        state = output.state
        logits.append(output.logits)
        alphas.append(output.alpha)
    return torch.stack(logits, 1), None if alphas[0] is None else torch.stack(alphas, 1)


def test_step_by_step_is_the_whole_sentence(grid_model):
    model = grid_model
    encoded = model.encode(BATCH.source_ids, BATCH.source_mask)
    whole = model.decoder(BATCH.previous_ids, BATCH.target_mask, encoded)
    logits, alpha = stepped(model, BATCH, encoded)
    real = BATCH.target_mask
    expected = whole.log_probs if model.decoder.is_mixture else model.decoder.output(whole.readout)
    torch.testing.assert_close(logits[real], expected[real], rtol=0, atol=1e-12)
    if model.config.decoder.kind in ("cho", "sutskever"):
        assert whole.alpha is None
        assert alpha is None
        return
    torch.testing.assert_close(alpha[real], whole.alpha[real], rtol=0, atol=1e-12)
    # α sums to 1 over real words, to less with local-p, and is exactly 0 on padding
    if model.config.decoder.attention.window == "local-p":
        assert ((alpha.sum(-1) > 0) & (alpha.sum(-1) < 1)).all()
    else:
        torch.testing.assert_close(alpha.sum(-1), torch.ones_like(alpha[..., 0]), rtol=0, atol=1e-12)
    padding = ~BATCH.source_mask.unsqueeze(1).expand_as(alpha)
    assert torch.equal(alpha[padding], torch.zeros_like(alpha[padding]))
    assert torch.equal(whole.alpha[padding], torch.zeros_like(alpha[padding]))


def gradients_of(model):
    """The logits of a batch, alpha, and the gradient of a mixture of both to every parameter."""
    model.zero_grad()
    result = model(BATCH)
    parts = [
        result.logits,
        *([] if result.alpha is None else [result.alpha * BATCH.target_mask.unsqueeze(-1)]),
    ]
    generator = torch.Generator().manual_seed(5)
    sum((part * torch.randn(part.shape, generator=generator)).sum() for part in parts).backward()
    return parts, {name: parameter.grad for name, parameter in model.named_parameters()}


def test_the_whole_model_has_the_same_gradients_by_the_naive_path(grid_model):
    model = grid_model
    parts, grads = gradients_of(model)
    with naive_only():
        naive_parts, naive_grads = gradients_of(model)
    torch.testing.assert_close(parts, naive_parts, rtol=0, atol=1e-12)
    assert all(grad is not None for grad in grads.values()), "every parameter has a gradient"
    for name, grad in grads.items():
        assert grad.abs().sum() > 0, f"{name} receives nothing"
        torch.testing.assert_close(grad, naive_grads[name], rtol=1e-9, atol=1e-11, msg=name)


def moved(part):
    """Different floats in each row, different counts, the same booleans."""
    if part.dtype is torch.bool:
        return part
    return part + (torch.rand_like(part) if part.is_floating_point() else torch.randint_like(part, 5))


def test_hypotheses_stepped_together_are_each_stepped_alone(grid_model):
    """R = B·K rows share one copy of the source, K per sentence."""
    model, K = grid_model, 2
    encoded = model.encode(BATCH.source_ids, BATCH.source_mask)
    start = model.decoder.initial_state(encoded)
    rows = torch.arange(len(PAIRS)).repeat_interleave(K)
    wide = start.select(rows)
    # hypotheses of a sentence differ in state and in word
    wide = DecoderState(
        tuple(tuple(moved(part) for part in cell) for cell in wide.cells),
        None if wide.attentional_state is None else torch.randn_like(wide.attentional_state),
        tuple(moved(part) for part in wide.attention),
    )
    previous = torch.randint(4, 9, (len(rows),))
    together = model.decoder.step(previous, wide, encoded)
    for r, b in enumerate(rows.tolist()):
        one, sentence = torch.tensor([r]), encoded.select(torch.tensor([b]))
        alone = model.decoder.step(previous[one], wide.select(one), sentence)
        torch.testing.assert_close(together.logits[one], alone.logits, rtol=0, atol=1e-12)
        torch.testing.assert_close(together.state.select(one).cells, alone.state.cells, rtol=0, atol=1e-12)
        torch.testing.assert_close(
            together.state.select(one).attention, alone.state.attention, rtol=0, atol=1e-12
        )
        if together.alpha is not None:
            torch.testing.assert_close(together.alpha[one], alone.alpha, rtol=0, atol=1e-12)
        if together.state.attentional_state is not None:
            torch.testing.assert_close(together.state.attentional_state[one], alone.state.attentional_state)


@pytest.mark.parametrize("kind", ["bahdanau", "luong", "cho", "sutskever"])
@pytest.mark.parametrize("cell", CELLS)
def test_mixed_precision_runs_and_stays_near(kind, cell, tiny_model):
    _check_mixed_precision(tiny_model(kind, cell, num_layers=1).float())


def test_mixed_precision_runs_and_stays_near_in_deep_fusion(tiny_model):
    one_way = {"bidirectional": False, "state_size": 4}
    _check_mixed_precision(tiny_model("deep-fusion", "lstmn", encoder=one_way).float())


def _check_mixed_precision(model):
    expected = model(BATCH).logits
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(BATCH).logits
    logits.float().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    # bfloat16 keeps 8 bits of numbers near 3
    torch.testing.assert_close(logits.float(), expected, rtol=0, atol=0.15)


def test_forced_attention_is_on_one_word_only(grid_model):
    """As if the source had no other word; the other sentences of the step attend freely."""
    model, decoder = grid_model, grid_model.decoder
    encoded = model.encode(BATCH.source_ids, BATCH.source_mask)
    # after one step, with two hypotheses per sentence
    first = decoder.step(BATCH.previous_ids[:, 0], decoder.initial_state(encoded), encoded)
    state = first.state.select(torch.tensor([0, 0, 1, 1, 2, 2]))
    previous = torch.tensor([4, 5, 6, 7, 8, 4])
    free = decoder.step(previous, state, encoded)
    forced = decoder.step(previous, state, encoded.with_forced_attention(torch.tensor([2, -1, 0])))
    if decoder.attention is None:
        assert torch.equal(forced.logits, free.logits), "without attention, forced attention has no effect"
        return
    assert torch.equal(forced.logits[2:4], free.logits[2:4])
    assert torch.equal(forced.alpha[2:4], free.alpha[2:4])
    expected = torch.tensor([[0.0, 0, 1, 0], [1, 0, 0, 0]], dtype=torch.float64).repeat_interleave(2, dim=0)
    assert torch.equal(forced.alpha[[0, 1, 4, 5]], expected)
    assert (forced.logits - free.logits)[[0, 1, 4, 5]].abs().max(dim=1).values.min() > 1e-6
    # a window neither restricts nor weights forced attention
    decoder.attention.window = None
    mask = torch.tensor(
        [[False, False, True, False], [True, False, False, False], [True, False, False, False]]
    )
    carried = state.attention[-1:] if decoder.attention.sequential else ()
    if model.config.decoder.kind == "hard-monotonic":
        carried = state.attention
    bare = decoder.step(
        previous,
        DecoderState(state.cells, state.attentional_state, carried),
        EncodedSource(**{**vars(encoded), "mask": mask}),
    )
    rows = [0, 1, 4, 5]
    torch.testing.assert_close(forced.logits[rows], bare.logits[rows], rtol=0, atol=1e-12)
    if decoder.attention.sequential:
        covered = forced.state.attention[-1][rows] - state.attention[-1][rows]
        torch.testing.assert_close(covered, expected, rtol=0, atol=1e-12)
