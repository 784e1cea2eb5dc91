"""The language model: the rest of the batch changes nothing, steps are the whole, windows are one long text."""

import pytest
import torch
from torch.nn import functional

from regard.batches import LineBatch, Stream, pad_lines
from regard.errors import ConfigError
from regard.layers import CELLS
from regard.models import LanguageModelConfig, LanguageModelNetwork, detached
from regard.ops.paths import naive_only
from regard.text.specials import BOS

LINES = [[4, 5, 6, 7, 8], [], [7, 7], [5, 8, 4]]
ATTENDING = [name for name in CELLS if name in ("rnn-read", "rnn-sum", "rnn-sum-keep", "lstmn")]

every_cell = pytest.mark.parametrize("cell", CELLS)
every_stack = pytest.mark.parametrize(("cell", "depth"), [*((cell, 2) for cell in CELLS), ("lstm", 1)])


@pytest.fixture
def build(scattered):
    def built(cell: str, depth: int = 1, **options: object) -> LanguageModelNetwork:
        sizes = {"embedding_size": 3, "state_size": 4} | options
        return scattered(LanguageModelNetwork(LanguageModelConfig(cell=cell, num_layers=depth, **sizes), 9))

    return built


@pytest.fixture
def run(gradients_of):
    """Logits of each line, and every parameter's gradient of the lines' loss."""

    def passed(model: LanguageModelNetwork, batch: LineBatch):
        logits, _ = model(batch.previous_ids, batch.mask)
        loss = functional.cross_entropy(logits, batch.target_ids[batch.mask], reduction="sum")
        return list(logits.detach().split(batch.mask.sum(1).tolist())), gradients_of(model, loss)

    return passed


@every_stack
def test_padding_order_batch_and_path_change_nothing(cell, depth, build, run, same, widened):
    model, batch = build(cell, depth, residual=depth > 1), pad_lines(LINES)
    logits, grads = run(model, batch)

    def wide(extra):
        ids, mask = widened(batch.previous_ids, batch.mask, extra)
        return LineBatch(ids, widened(batch.target_ids, batch.mask, extra)[0], mask)

    for batch_, naive in ((wide(3), False), (batch, True), (wide(1), True)):
        if naive:
            with naive_only():
                result = run(model, batch_)
        else:
            result = run(model, batch_)
        same(result[0], logits)
        same(result[1], grads)
    order = [2, 0, 3, 1]
    turned, turned_grads = run(model, pad_lines([LINES[k] for k in order]))
    same(turned, [logits[k] for k in order])
    same(turned_grads, grads)
    alone = [run(model, pad_lines([line])) for line in LINES]
    same([one[0][0] for one in alone], logits)
    same([sum(each) for each in zip(*[one[1] for one in alone], strict=True)], grads)


@every_stack
def test_step_by_step_is_the_whole(cell, depth, build, same):
    model = build(cell, depth)
    ids = torch.tensor([[BOS, 4, 5, 6], [BOS, 8, 8, 7]])
    whole, last = model(ids, torch.ones_like(ids, dtype=torch.bool))
    state, steps = model.initial_state(2), []
    for t in range(ids.shape[1]):
        logits, state = model.step(ids[:, t], state)
        steps.append(logits)
    same([torch.stack(steps, dim=1).flatten(0, 1)], [whole])
    for ours, theirs in zip(state, last, strict=True):
        same([ours[0]], [theirs[0]])


@every_cell
@pytest.mark.parametrize("steps", [1, 4])
def test_a_carried_state_makes_windows_one_long_text(cell, steps, build, same):
    model = build(cell, 2)

    def read(windows):
        state, rows = None, [[] for _ in range(3)]
        for window in windows:
            logits, state = model(window.previous_ids, window.mask, state)
            for row, part in zip(rows, logits.split(window.mask.sum(1).tolist()), strict=True):
                row.append(part)
        return [torch.cat(row) for row in rows]

    short, long = Stream(LINES * 2, 3, steps), Stream(LINES * 2, 3, 99)
    assert len(short) > len(long) == 1
    same(read(short), read(long))


@every_cell
def test_a_step_continues_from_the_end_of_a_window(cell, build, same):
    """Rows that end in padding carry the state of their last real word."""
    model = build(cell)
    batch = pad_lines(LINES)
    _, state = model(batch.previous_ids, batch.mask)
    following, _ = model.step(torch.tensor([8] * len(LINES)), state)
    for k, line in enumerate(LINES):
        ids = torch.tensor([[BOS, *line, 8]])
        alone, _ = model(ids, torch.ones_like(ids, dtype=torch.bool))
        same([following[k]], [alone[-1]])


def test_no_gradient_passes_a_detached_state(build):
    model = build("lstm")
    ids, mask = torch.tensor([[BOS, 4]]), torch.ones(1, 2, dtype=torch.bool)
    _, state = model(ids, mask)
    assert all(part.requires_grad for layer in state for part in layer)
    cut = detached(state)
    assert not any(part.requires_grad for layer in cut for part in layer)
    assert all(
        torch.equal(*pair) for layers in zip(state, cut, strict=True) for pair in zip(*layers, strict=True)
    )


@pytest.mark.parametrize("cell", ATTENDING)
def test_forward_with_alpha_gives_the_same_logits_and_the_attention(cell, build, same):
    model, batch = build(cell, 2), pad_lines(LINES)
    logits, _ = model(batch.previous_ids, batch.mask)
    reading = model.forward_with_alpha(batch.previous_ids, batch.mask)
    same([reading.logits], [logits])
    assert len(reading.alphas) == 2
    for alpha in reading.alphas:
        sums = alpha.sum(dim=-1)
        # alpha is zero as long as there is no past
        assert bool(((sums - 1).abs() < 1e-12).logical_or(sums == 0).all())
        assert bool((sums[:, 1:][batch.mask[:, 1:]] > 0.5).all())
        assert bool((sums[~batch.mask] == 0).all())


def test_a_tied_matrix_is_one_and_needs_equal_sizes():
    config = LanguageModelConfig(embedding_size=4, state_size=4, tie=True)
    model = LanguageModelNetwork(config, 9)
    assert model.output.W_o is model.embedding.E
    separate = LanguageModelNetwork(LanguageModelConfig(embedding_size=4, state_size=4), 9)
    assert separate.num_parameters - model.num_parameters == 9 * 4
    with pytest.raises(
        ConfigError, match=r"model.tie: .* reads 4 units .* has 3; set model.embedding_size = 4"
    ):
        LanguageModelConfig(embedding_size=3, state_size=4, tie=True)


def test_configuration():
    config = LanguageModelConfig.from_mapping({"cell": "gru", "tie": True, "num_layers": 2}, "model")
    assert LanguageModelConfig.from_mapping(config.to_mapping(), "model") == config
    with pytest.raises(ConfigError, match=r"model\.cell: no 'lsmt'; did you mean 'lstm'\?"):
        LanguageModelConfig(cell="lsmt")
    with pytest.raises(ConfigError, match=r"model\.initialization: no 'glorott'"):
        LanguageModelConfig(initialization="glorott")


def test_the_papers_rules_initialise_the_parameters():
    model = LanguageModelNetwork(LanguageModelConfig(initialization="sutskever"), 50)
    assert all(0 < parameter.abs().max() <= 0.08 for parameter in model.parameters())


def test_dropout_acts_only_in_training_and_before_the_output_too():
    model = LanguageModelNetwork(LanguageModelConfig(dropout=0.5, embedding_size=4, state_size=8), 9)
    batch = pad_lines(LINES)

    def twice():
        one, other = (model(batch.previous_ids, batch.mask).logits for _ in range(2))
        return torch.equal(one, other)

    assert not twice()
    model.eval()
    assert twice()
    # with zero embeddings, the only dropout with an effect is the one before the output
    model.train()
    torch.nn.init.zeros_(model.embedding.E)
    torch.nn.init.ones_(model.stack.layers[0].b)
    assert not twice()


def test_weight_dropout_is_that_of_every_layer_in_training():
    config = LanguageModelConfig(weight_dropout=0.5, num_layers=2, embedding_size=4, state_size=8)
    model = LanguageModelNetwork(config, 9)
    batch = pad_lines(LINES)
    logits = [model(batch.previous_ids, batch.mask).logits for _ in range(2)]
    assert not torch.equal(*logits)
    assert [cell.weight_dropout for cell in model.stack.layers] == [0.5, 0.5]
    model.eval()
    logits = [model(batch.previous_ids, batch.mask).logits for _ in range(2)]
    assert torch.equal(*logits)
    with pytest.raises(ConfigError, match=r"model\.weight_dropout: 1 is out of range"):
        LanguageModelConfig(weight_dropout=1.0)


def test_cells_without_a_tape_have_no_alpha(build):
    batch = pad_lines(LINES)
    with pytest.raises(ConfigError, match="LSTM does not attend to its own past"):
        build("lstm").forward_with_alpha(batch.previous_ids, batch.mask)
