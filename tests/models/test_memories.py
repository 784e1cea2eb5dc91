"""Models whose cells attend to their own past, with memories of every kind: batches, windows and precision."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from regard.batches import LineBatch, Stream, pad_lines, pad_tagged, pad_texts
from regard.models import (
    ClassifierConfig,
    ClassifierNetwork,
    EncoderConfig,
    LanguageModelConfig,
    LanguageModelNetwork,
    MemoryConfig,
    TaggerConfig,
    TaggerNetwork,
)
from regard.ops.paths import naive_only
from regard.text import EncodedTagged
from regard.text.specials import BOS

LINES = [[4, 5, 6, 7, 8], [], [7, 7], [5, 8, 4]]
SENTENCES = [EncodedTagged([4, 5, 6, 7], [0, 1, 2, 0]), EncodedTagged([], []), EncodedTagged([5, 5], [1, 0])]
CELLS = ("rnn-read", "rnn-sum", "rnn-sum-keep", "lstmn")
MEMORIES = {
    "span": {"span": 2},
    "qkv": {"energy": "qkv"},
    "sparsemax": {"normalizer": "sparsemax"},
    "sparsemax, span": {"energy": "qkv", "normalizer": "sparsemax", "span": 2},
}
every_cell = pytest.mark.parametrize("cell", CELLS)
every_memory = pytest.mark.parametrize("memory", MEMORIES.values(), ids=MEMORIES.keys())


@pytest.fixture
def build(scattered):
    def built(cell: str, depth: int = 1, **memory: object) -> LanguageModelNetwork:
        config = LanguageModelConfig(
            cell=cell, num_layers=depth, embedding_size=3, state_size=4, memory=MemoryConfig(**memory)
        )
        return scattered(LanguageModelNetwork(config, 9))

    return built


@pytest.fixture
def run(gradients_of):
    def passed(model: LanguageModelNetwork, batch: LineBatch) -> tuple[list[Tensor], list[Tensor]]:
        logits, _ = model(batch.previous_ids, batch.mask)
        loss = functional.cross_entropy(logits, batch.target_ids[batch.mask], reduction="sum")
        return list(logits.detach().split(batch.mask.sum(1).tolist())), gradients_of(model, loss)

    return passed


@every_cell
@every_memory
def test_padding_order_batch_and_path_change_nothing(cell, memory, build, run, same, widened):
    model, batch = build(cell, **memory), pad_lines(LINES)
    logits, grads = run(model, batch)
    ids, mask = widened(batch.previous_ids, batch.mask, 3)
    result = run(model, LineBatch(ids, widened(batch.target_ids, batch.mask, 3)[0], mask))
    same([*result[0], *result[1]], [*logits, *grads])
    with naive_only():
        result = run(model, batch)
    same([*result[0], *result[1]], [*logits, *grads])
    order = [2, 0, 3, 1]
    turned = run(model, pad_lines([LINES[k] for k in order]))
    same([*turned[0], *turned[1]], [*(logits[k] for k in order), *grads])
    alone = [run(model, pad_lines([line])) for line in LINES]
    same([one[0][0] for one in alone], logits)
    same([sum(each) for each in zip(*[one[1] for one in alone], strict=True)], grads)


@every_cell
@every_memory
def test_a_carried_state_makes_windows_one_long_text(cell, memory, build, same):
    """Windows of two words are as long as the span, and the rows of a stream end in padding."""
    model = build(cell, 2, **memory)

    def read(windows: Stream) -> list[Tensor]:
        state, rows = None, [[] for _ in range(3)]
        for window in windows:
            logits, state = model(window.previous_ids, window.mask, state)
            for row, part in zip(rows, logits.split(window.mask.sum(1).tolist()), strict=True):
                row.append(part)
        return [torch.cat(row) for row in rows]

    same(read(Stream(LINES * 2, 3, 2)), read(Stream(LINES * 2, 3, 99)))


@every_cell
@every_memory
def test_a_window_and_a_step_continue_after_a_line_that_ended_in_padding(cell, memory, build, same):
    model, batch = build(cell, **memory), pad_lines(LINES)
    _, state = model(batch.previous_ids, batch.mask)
    more = torch.tensor([[8, 6]] * len(LINES))
    _, state = model(more, torch.ones_like(more, dtype=torch.bool), state)
    for _ in range(2):
        following, state = model.step(torch.tensor([8] * len(LINES)), state)
    for k, line in enumerate(LINES):
        ids = torch.tensor([[BOS, *line, 8, 6, 8, 8]])
        alone, _ = model(ids, torch.ones_like(ids, dtype=torch.bool))
        same([following[k]], [alone[-1]])


def test_a_tape_forgets_the_padding_on_it(build):
    """Padding makes a tape longer than its span only until enough words have followed."""
    model, batch = build("lstmn", span=2), pad_lines(LINES)
    _, state = model(batch.previous_ids, batch.mask)
    assert state[0][-1].shape[1] > 2
    assert state[0][-1].sum(dim=1).tolist() == [2, 1, 2, 2]
    for _ in range(2):
        _, state = model.step(torch.tensor([8] * len(LINES)), state)
    assert all(part.shape[1] == 2 for part in state[0][3:])


@pytest.mark.parametrize("cell", ["lstm", *CELLS])
def test_the_rest_of_the_batch_changes_nothing_in_a_tagger_of_two_layers(
    cell, scattered, gradients_of, same, widened
):
    encoder = EncoderConfig(cell=cell, embedding_size=3, state_size=2, num_layers=2, residual=True)
    model = scattered(TaggerNetwork(TaggerConfig(encoder), 9, 3))

    def tagged(sentences: list[EncodedTagged]) -> tuple[list[Tensor], list[Tensor]]:
        batch = pad_tagged(sentences)
        logits = model(batch)
        loss = functional.cross_entropy(logits, batch.tag_ids[batch.word_mask], reduction="sum")
        return list(logits.split(batch.word_mask.sum(1).tolist())), gradients_of(model, loss)

    logits, grads = tagged(SENTENCES)
    turned = tagged([SENTENCES[k] for k in (2, 0, 1)])
    same([*turned[0], *turned[1]], [*(logits[k] for k in (2, 0, 1)), *grads])
    alone = [tagged([SENTENCES[k]]) for k in (0, 2)]
    same([one[0][0] for one in alone], [logits[0], logits[2]])
    same([sum(each) for each in zip(*[one[1] for one in alone], strict=True)], grads)


def _language_model(encoder: dict) -> tuple[torch.nn.Module, Tensor]:
    model, batch = LanguageModelNetwork(LanguageModelConfig(**encoder), 9), pad_lines(LINES)
    logits, _ = model(batch.previous_ids, batch.mask)
    return model, functional.cross_entropy(logits, batch.target_ids[batch.mask])


def _classifier(encoder: dict) -> tuple[torch.nn.Module, Tensor]:
    model = ClassifierNetwork(ClassifierConfig(EncoderConfig(**encoder)), 9, 3)
    logits, _ = model(pad_texts([(line,) for line in LINES]))
    return model, functional.cross_entropy(logits, torch.tensor([0, 1, 2, 1]))


def _tagger(encoder: dict) -> tuple[torch.nn.Module, Tensor]:
    model, batch = TaggerNetwork(TaggerConfig(EncoderConfig(**encoder)), 9, 3), pad_tagged(SENTENCES)
    return model, functional.cross_entropy(model(batch), batch.tag_ids[batch.word_mask])


@pytest.mark.parametrize("task", [_language_model, _classifier, _tagger])
@pytest.mark.parametrize("memory", [{"span": 2}, {"energy": "qkv", "normalizer": "sparsemax"}], ids=str)
def test_an_update_in_mixed_precision(task, memory):
    encoder = {"cell": "lstmn", "embedding_size": 4, "state_size": 4, "num_layers": 2}
    with torch.autocast("cpu", dtype=torch.bfloat16):
        model, loss = task(encoder | {"memory": MemoryConfig(**memory)})
    loss.backward()
    assert loss.isfinite()
    moved = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert all(grad.isfinite().all() for grad in moved)
    assert sum(grad.abs().sum() for grad in moved) > 0
    before = [parameter.detach().clone() for parameter in model.parameters()]
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    assert any(not torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))


@every_cell
@every_memory
def test_a_state_keeps_the_precision_of_the_parameters(cell, memory, build):
    model = build(cell, **memory).float()
    ids = torch.tensor([[BOS, 4, 5], [BOS, 8, 7]])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        whole, last = model(ids, torch.ones_like(ids, dtype=torch.bool))
        state = model.initial_state(2)
        for t in range(3):
            logits, state = model.step(ids[:, t], state)
    for states in (last, state):
        assert {part.dtype for layer in states for part in layer} == {torch.float32, torch.bool}
    torch.testing.assert_close(logits.float(), whole.view(2, 3, -1)[:, -1].float(), rtol=0, atol=0.15)
