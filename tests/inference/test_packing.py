"""A packed model computes what the model computes: the same numbers in float32, near ones in bfloat16 and int8."""

import subprocess
import sys

import pytest
import torch

from regard.batches import PairBatch
from regard.errors import ConfigError
from regard.inference.packing import pack_model
from regard.ops.native import load, native_off

compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")

SOURCE = torch.tensor([[5, 6, 7, 8, 2], [4, 5, 2, 0, 0], [2, 0, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]).bool()
HYPOTHESES = 3


@torch.inference_mode()
def steps(model, number=3):
    """All that search sees of a model: the source, the first state, and some steps of a beam."""
    encoded = model.encode(SOURCE, MASK)
    first = model.decoder.initial_state(encoded)
    rows = torch.arange(len(SOURCE)).repeat_interleave(HYPOTHESES)
    state, words = first.select(rows), torch.arange(len(rows)) % 9
    seen = [encoded.annotations, *(part for cell in first.cells for part in cell)]
    if encoded.keys is not None:
        seen.append(encoded.keys)
    for _ in range(number):
        output = model.decoder.step(words, state, encoded)
        state, words = output.state, (words * 2 + 1) % 9
        seen += [output.logits, *(part for cell in state.cells for part in cell)]
        seen += [] if output.alpha is None else [output.alpha]
    return [each.float() for each in seen]


def distance(one, other):
    return max(float((a - b).abs().max()) for a, b in zip(one, other, strict=True))


def test_every_model_steps_as_before(grid_model):
    model = grid_model.float()
    assert distance(steps(pack_model(model)), steps(model)) < 1e-5


def test_in_float64_nothing_changes_at_all(grid_model):
    assert distance(steps(pack_model(grid_model)), steps(grid_model)) == 0


@compiled
@pytest.mark.parametrize(("precision", "bound"), [("bfloat16", 0.1), ("int8", 0.2)])
@pytest.mark.parametrize("kind", ["bahdanau", "luong", "cho", "sutskever"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_rounded_models_stay_near(tiny_model, kind, cell, precision, bound):
    # logits here are about 1 wide, weights as large as 2
    model = tiny_model(kind, cell).float()
    away = distance(steps(pack_model(model, precision)), steps(model))
    assert 1e-4 < away < bound


def test_forced_decoding_goes_on_working(grid_model):
    model = grid_model.float()
    targets = torch.tensor([[3, 4, 2], [5, 2, 0], [2, 0, 0]])
    previous = torch.tensor([[1, 3, 4], [1, 5, 0], [1, 0, 0]])
    batch = PairBatch(SOURCE, MASK, previous, targets, targets != 0)
    with torch.inference_mode():
        assert (pack_model(model)(batch).logits - model(batch).logits).abs().max() < 1e-5


def test_the_model_is_left_as_it_was_and_shares_its_weights(tiny_model):
    model = tiny_model("luong", "lstm").float().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    packed = pack_model(model, "int8")
    assert model.training
    assert not packed.training
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert not any(parameter.requires_grad for parameter in packed.parameters())
    assert packed.state_dict().keys() == before.keys()
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
        if load().library is not None:
            assert packed.state_dict()[name].data_ptr() == value.data_ptr()
    assert not any(getattr(module, "packed", None) for module in model.modules())
    assert not any(vars(parameter) for parameter in packed.parameters()), "nothing hangs on a tensor"


def test_a_packed_model_takes_no_weights(tiny_model):
    model = tiny_model().float()
    with pytest.raises(ConfigError, match="pack that"):
        pack_model(model).load_state_dict(model.state_dict())


def test_an_unknown_precision_is_named(tiny_model):
    with pytest.raises(ConfigError, match=r"'int9'.*int8"):
        pack_model(tiny_model(), "int9")


@compiled
def test_what_is_shared_stays_shared_and_is_packed_for_the_output(tiny_model):
    model = tiny_model("sutskever", encoder={"state_size": 2}, embedding_size=4).float()
    tied = type(model)(model.config, 9, 9)
    tied.decoder.output.W_o = tied.decoder.embedding.E
    packed = pack_model(tied)
    assert packed.decoder.output.W_o is packed.decoder.embedding.E
    assert packed.decoder.output.packed.of(packed.decoder.output.W_o) is not None
    assert packed.decoder.output.packed.of(packed.encoder.embedding.E) is None


def test_without_kernels_the_weights_are_rounded_and_all_goes_by_torch(tiny_model):
    model = tiny_model("luong", "lstm").float()
    with native_off():
        assert distance(steps(pack_model(model)), steps(model)) == 0
        assert 1e-4 < distance(steps(pack_model(model, "int8")), steps(model)) < 0.2


def test_regard_native_0_is_such_a_case():
    code = (
        "import torch; from regard import models; from regard.inference.packing import pack_model;"
        "part = {'embedding_size': 8, 'state_size': 8};"
        "config = models.ModelConfig.from_mapping({'encoder': part, 'decoder': {**part, 'kind': 'bahdanau'}}, '');"
        "packed = pack_model(models.Seq2Seq(config, 9, 9), 'int8');"
        "encoded = packed.encode(torch.tensor([[4, 5, 2]]), torch.ones(1, 3).bool());"
        "output = packed.decoder.step(torch.tensor([1]), packed.decoder.initial_state(encoded), encoded);"
        "print(tuple(output.logits.shape))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"REGARD_NATIVE": "0", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "(1, 9)"
