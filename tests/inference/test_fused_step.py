"""A step in one call is the decoder's own step: every kind that has one, any number of rows, one thread and two."""

import copy

import pytest
import torch

from regard.inference.packing import NativeFusedStep, pack_model
from regard.layers import is_sized
from regard.models import ModelConfig, Seq2Seq
from regard.ops.native import PRECISIONS, decoding, load, native_off
from regard.ops.paths import naive_only

pytestmark = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")

WORDS = 53
KINDS = [
    {"kind": "bahdanau"},
    {"kind": "luong", "input_feeding": False},
    {"kind": "luong", "input_feeding": True},
]


def model_of(decoder, cell="lstm", energy="additive", n=38, m=21):
    """Widths that fill no vector, more than one panel of each."""
    attention = {"energy": energy} | ({"size": 35} if is_sized(energy) else {})
    read = {} if decoder.get("readout") == "state" else {"readout_size": 33}
    part = {"cell": cell, "embedding_size": m}
    mapping = {
        "encoder": {**part, "state_size": n // 2},
        "decoder": {**part, "state_size": n, "attention": attention, **read, **decoder},
    }
    model = Seq2Seq(ModelConfig.from_mapping(mapping, "model"), WORDS, WORDS).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def source(batch, length=7):
    ids = torch.randint(4, WORDS, (batch, length))
    return ids, torch.arange(length) < torch.randint(1, length + 1, (batch, 1))


@torch.inference_mode()
def steps(decoder, encoded, rows, number=3, forced=None):
    state = decoder.initial_state(encoded).select(
        torch.arange(len(encoded.mask)).repeat_interleave(rows // len(encoded.mask))
    )
    words, seen = torch.arange(rows) % WORDS, []
    for k in range(number):
        at = encoded if forced is None else encoded.with_forced_attention(forced if k == 1 else None)
        output = decoder.step(words, state, at)
        state, words = output.state, (words * 3 + 1) % WORDS
        fed = () if state.attentional_state is None else (state.attentional_state,)
        seen += [output.logits, output.alpha, *state.cells[0], *fed]
    return seen


def assert_same(got, expected, atol=1e-5):
    for one, other in zip(got, expected, strict=True):
        assert one.shape == other.shape
        assert torch.allclose(one, other, atol=atol)


@pytest.fixture(params=[1, 2], ids=["alone", "shared"])
def threads(request, monkeypatch):
    used = torch.get_num_threads()
    monkeypatch.setattr(decoding, "_ALONE", 0)
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(used)


@pytest.mark.parametrize("decoder", KINDS, ids=["bahdanau", "luong", "feeding"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize(("batch", "beam"), [(1, 1), (1, 5), (3, 4), (11, 3), (32, 5)])
def test_any_number_of_rows(decoder, cell, batch, beam, threads):
    model = model_of(decoder, cell)
    packed = pack_model(model)
    assert isinstance(packed.decoder.fused_step, NativeFusedStep)
    encoded = model.encode(*source(batch))
    assert_same(steps(packed.decoder, encoded, batch * beam), steps(model.decoder, encoded, batch * beam))


@pytest.mark.parametrize("energy", ["additive", "concat", "dot", "scaled-dot", "bilinear", "qk", "qkv"])
@pytest.mark.parametrize("decoder", KINDS, ids=["bahdanau", "luong", "feeding"])
def test_any_energy(decoder, energy):
    model = model_of(decoder, energy=energy)
    encoded = model.encode(*source(4))
    assert_same(steps(pack_model(model).decoder, encoded, 12), steps(model.decoder, encoded, 12))


@pytest.mark.parametrize("decoder", KINDS, ids=["bahdanau", "luong", "feeding"])
@pytest.mark.parametrize("attention", [{"value_size": 27}, {"value_size": 50, "scaled": False}], ids=str)
def test_values_of_another_width_than_the_annotations(decoder, attention):
    model = model_of({**decoder, "attention": {"energy": "qkv", "size": 35, **attention}})
    packed = pack_model(model)
    assert isinstance(packed.decoder.fused_step, NativeFusedStep)
    encoded = model.encode(*source(4))
    assert_same(steps(packed.decoder, encoded, 12), steps(model.decoder, encoded, 12))


@pytest.mark.parametrize("decoder", KINDS, ids=["bahdanau", "luong", "feeding"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_no_biases_and_a_copied_start(decoder, cell):
    model = model_of({**decoder, "bias": False, "bridge": "copy"}, cell)
    packed = pack_model(model)
    assert isinstance(packed.decoder.fused_step, NativeFusedStep)
    encoded = model.encode(*source(4))
    assert_same(steps(packed.decoder, encoded, 12), steps(model.decoder, encoded, 12))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    ("decoder", "cell"),
    [
        ({"readout": "state"}, "lstm"),
        *(({}, cell) for cell in ("lstm-peephole", "lstm-1997", "mut1", "mut3")),
    ],
    ids=["state", "lstm-peephole", "lstm-1997", "mut1", "mut3"],
)
def test_forms_without_a_fused_step_take_the_general_one(decoder, cell, precision):
    model = model_of({"kind": "bahdanau", **decoder}, cell)
    packed = pack_model(model, precision)
    assert packed.decoder.fused_step is None
    encoded = model.encode(*source(4))
    atol = 1e-5 if precision == "float32" else 0.3  # rounded weights
    assert_same(steps(packed.decoder, encoded, 12), steps(model.decoder, encoded, 12), atol)


@pytest.mark.parametrize("decoder", KINDS, ids=["bahdanau", "luong", "feeding"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_without_a_table_of_words(decoder, cell, threads, monkeypatch):
    model = model_of(decoder, cell)
    encoded = model.encode(*source(4))
    with_table = pack_model(model).decoder
    monkeypatch.setattr(decoding, "_TABLE", 0)
    without = pack_model(model).decoder
    for one in (with_table, without):
        assert_same(steps(one, encoded, 12), steps(model.decoder, encoded, 12))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("decoder", KINDS, ids=["bahdanau", "luong", "feeding"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_it_rounds_as_the_general_path_does(decoder, cell, precision, monkeypatch):
    monkeypatch.setattr(decoding, "_TABLE", 0)
    packed = pack_model(model_of(decoder, cell), precision)
    general = copy.copy(packed.decoder)
    general.fused_step = None
    encoded = packed.encode(*source(5))
    # the same bytes multiply; a rounding that falls the other way moves a sum by one unit
    bound = {"float32": 1e-5, "bfloat16": 2e-2, "int8": 5e-2}[precision]
    assert_same(steps(packed.decoder, encoded, 20, 1), steps(general, encoded, 20, 1), bound)


@pytest.mark.parametrize("decoder", KINDS, ids=["bahdanau", "luong", "feeding"])
def test_attention_that_is_told_where_to_look(decoder):
    model = model_of(decoder)
    ids, _ = source(3)
    encoded = model.encode(ids, torch.ones_like(ids).bool())
    forced = torch.tensor([4, -1, 0])
    got, expected = (steps(each.decoder, encoded, 6, forced=forced) for each in (pack_model(model), model))
    assert_same(got, expected)


@pytest.mark.parametrize("off", [native_off, naive_only])
def test_who_asks_for_another_path_gets_it(off, monkeypatch):
    model = model_of(KINDS[2])
    packed, encoded = pack_model(model), model.encode(*source(2))
    monkeypatch.setattr(NativeFusedStep, "step", lambda *_: pytest.fail("the fused step was taken"))
    with off():
        assert_same(steps(packed.decoder, encoded, 4), steps(model.decoder, encoded, 4))


@pytest.mark.parametrize("word", [-1, WORDS])
def test_a_word_that_is_none_is_named(word):
    packed = pack_model(model_of(KINDS[2]))
    encoded = packed.encode(*source(1))
    with pytest.raises(IndexError, match="none of the 53"), torch.inference_mode():
        packed.decoder.step(torch.tensor([word]), packed.decoder.initial_state(encoded), encoded)


@pytest.mark.parametrize("precision", [None, *PRECISIONS])
@pytest.mark.parametrize("decoder", [*KINDS, {"kind": "cho", "attention": None}], ids=lambda d: d["kind"])
def test_a_shortlist_gives_the_same_logits_for_fewer_words(decoder, precision):
    options = {key: value for key, value in decoder.items() if value is not None}
    if decoder["kind"] == "cho":
        part = {"cell": "gru", "embedding_size": 21}
        mapping = {
            "encoder": {**part, "state_size": 19},
            "decoder": {**part, "state_size": 38, "readout_size": 33, **options},
        }
        model = Seq2Seq(ModelConfig.from_mapping(mapping, "model"), WORDS, WORDS).eval()
    else:
        model = model_of(options)
    model = model if precision is None else pack_model(model, precision)
    ids = torch.tensor([2, 3, 50, 7, 8, 9, 41])
    short, encoded = model.decoder.shortlist(ids), model.encode(*source(4))
    state, words = model.decoder.initial_state(encoded), torch.arange(4)
    with torch.inference_mode():
        whole, some = (each.step(words, state, encoded).logits for each in (model.decoder, short))
    assert torch.equal(short.words, ids)
    assert model.decoder.words is None
    if precision is None:
        assert torch.allclose(some, whole[:, ids], atol=1e-6)
    else:
        assert torch.equal(some, whole[:, ids])


def test_a_copy_of_a_frozen_model_steps_too():
    packed = pack_model(model_of(KINDS[0]), "int8")
    encoded = packed.encode(*source(2))
    assert_same(steps(copy.deepcopy(packed).decoder, encoded, 4), steps(packed.decoder, encoded, 4), 0)
