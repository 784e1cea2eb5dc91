"""Configurations are checked where they are made; each refusal names the key, the value and the remedy."""

import tomllib

import pytest

from regard.config import merge, set_option, write_toml
from regard.errors import ConfigError
from regard.layers import (
    CELLS,
    ENERGIES,
    LSTMN,
    Additive,
    Bilinear,
    Dot,
    RNNRead,
    build_attention,
    is_covering,
    is_sized,
)
from regard.models import (
    AttentionConfig,
    BahdanauConfig,
    CaptionerConfig,
    ChoConfig,
    ClassifierConfig,
    DecoderConfig,
    EncoderConfig,
    LanguageModelConfig,
    LuongConfig,
    MemoryConfig,
    ModelConfig,
    Seq2Seq,
    SutskeverConfig,
)
from regard.models.decoders.config import DeepFusionConfig
from regard.models.stack import attends_to_past

DECODERS = {
    "bahdanau": BahdanauConfig(
        attention=AttentionConfig(energy="concat", size=3), state_size=7, dropout=0.25
    ),
    "luong": LuongConfig(state_size=512, input_feeding=False, num_layers=1, residual=True),
    "luong local": LuongConfig(attention=AttentionConfig("qkv", 8, 2, "sparsemax", "local-p", 3)),
    "bahdanau covering": BahdanauConfig(attention=AttentionConfig(coverage=True)),
    "bahdanau with memory": BahdanauConfig(cell="lstmn", memory=MemoryConfig(span=4, output="plain")),
    "luong projected": LuongConfig(bridge="project", cell="lstm", num_layers=3, readout_size=9),
    "cho": ChoConfig(readout_size=11, variational=True),
    "sutskever": SutskeverConfig(state_size=512, recurrent_dropout=0.5),
}


@pytest.mark.parametrize("decoder", DECODERS.values(), ids=DECODERS.keys())
def test_written_and_read_back_is_equal(decoder):
    config = ModelConfig(EncoderConfig(embedding_size=9), decoder, initialization="luong")
    mapping = config.to_mapping()
    assert mapping["decoder"]["kind"] in DecoderConfig.variants
    assert ModelConfig.from_mapping(mapping, "model") == config
    assert type(ModelConfig.from_mapping(mapping, "model").decoder) is type(decoder)


def test_an_empty_mapping_is_the_default():
    assert ModelConfig.from_mapping({}, "model") == ModelConfig()
    assert isinstance(ModelConfig().decoder, BahdanauConfig)


def test_every_default_decoder_can_be_built_after_a_fitting_encoder():
    one_way = EncoderConfig(bidirectional=False)
    for decoder in (BahdanauConfig(), LuongConfig(), ChoConfig(), SutskeverConfig()):
        Seq2Seq(ModelConfig(one_way, decoder), 5, 5)


WRONG_MAPPINGS = {
    "a misspelt section": ({"encodr": {}}, r"model: no option 'encodr'; did you mean 'encoder'\?"),
    "a misspelt option": (
        {"encoder": {"state_sise": 3}},
        r"model.encoder: no option 'state_sise'; did you mean 'state_size'\?",
    ),
    "another decoder's option": (
        {"decoder": {"kind": "cho", "attention": {"energy": "dot"}}},
        r"model.decoder: no option 'attention'; .*known: .*readout_size",
    ),
    "no such decoder": (
        {"decoder": {"kind": "bahdanow"}},
        r"model.decoder.kind: no 'bahdanow'; did you mean 'bahdanau'\?.*sutskever",
    ),
    "a text for a number": (
        {"encoder": {"num_layers": "two"}},
        r"model.encoder.num_layers: expected a whole number, got 'two'",
    ),
    "true for a number": (
        {"encoder": {"dropout": True}},
        r"model.encoder.dropout: expected a number, got True",
    ),
    "a fraction of a layer": (
        {"decoder": {"num_layers": 1.5}},
        r"model.decoder.num_layers.*whole number.*1.5",
    ),
    "a value for a section": ({"encoder": 3}, r"model.encoder: expected a table of options, got 3"),
}


@pytest.mark.parametrize(("mapping", "message"), WRONG_MAPPINGS.values(), ids=WRONG_MAPPINGS.keys())
def test_a_wrong_file_is_refused(mapping, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig.from_mapping(mapping, "model")


def attention(**options: object):
    return lambda: BahdanauConfig(attention=AttentionConfig(**options))


def memory(cell: str = "lstmn", **options: object):
    return lambda: EncoderConfig(cell=cell, memory=MemoryConfig(**options))


WRONG_VALUES = {
    "cell": (lambda: EncoderConfig(cell="gru-torh"), r"model.encoder.cell: no 'gru-torh'.*'gru-torch'"),
    "decoder's cell": (lambda: ChoConfig(cell="gur"), r"model.decoder.cell: no 'gur'; did you mean 'gru'"),
    "embedding_size": (
        lambda: EncoderConfig(embedding_size=0),
        r"model.encoder.embedding_size: 0 .*from 1 to",
    ),
    "state_size": (lambda: ChoConfig(state_size=-1), r"model.decoder.state_size: -1 .*from 1 to"),
    "num_layers": (lambda: EncoderConfig(num_layers=0), r"model.encoder.num_layers: 0 .*from 1 to"),
    "dropout of all": (lambda: EncoderConfig(dropout=1.0), r"model.encoder.dropout: 1 .*from 0 to below 1"),
    "dropout of less than none": (lambda: ChoConfig(dropout=-0.1), r"model.decoder.dropout: -0.1"),
    "dropout of NaN": (lambda: ChoConfig(dropout=float("nan")), r"model.decoder.dropout: nan"),
    "recurrent_dropout": (lambda: ChoConfig(recurrent_dropout=2), r"model.decoder.recurrent_dropout: 2"),
    "cho's readout": (lambda: ChoConfig(readout_size=0), r"model.decoder.readout_size: 0"),
    "energy": (
        lambda: BahdanauConfig(attention=AttentionConfig(energy="scaled")),
        r"model.decoder.attention.energy: no 'scaled'.*'scaled-dot'",
    ),
    "alignment units": (
        lambda: BahdanauConfig(attention=AttentionConfig(size=0)),
        r"model.decoder.attention.size: 0",
    ),
    "readout_size": (lambda: BahdanauConfig(readout_size=0), r"model.decoder.readout_size: 0"),
    "luong's energy": (
        lambda: LuongConfig(attention=AttentionConfig(energy="cosine")),
        r"model.decoder.attention.energy: no 'cosine'.*concat",
    ),
    "luong's sizes": (
        lambda: LuongConfig(attention=AttentionConfig(size=0)),
        r"model.decoder.attention.size: 0",
    ),
    "heads": (attention(energy="qkv", heads=0), r"model.decoder.attention.heads: 0 .*from 1 to"),
    "normalizer": (
        attention(normalizer="sparse"),
        r"model.decoder.attention.normalizer: no 'sparse'; did you mean 'sparsemax'",
    ),
    "window": (
        attention(window="local"),
        r"model.decoder.attention.window: no 'local'; did you mean 'local-",
    ),
    "window_size": (
        attention(window="local-p", window_size=0),
        r"model.decoder.attention.window_size: 0 .*at least 1",
    ),
    "span": (memory(span=-1), r"model.encoder.memory.span: -1 .*at least 0"),
    "a memory's size": (memory(size=-1), r"model.encoder.memory.size: -1 .*from 1 to"),
    "a memory's energy": (memory(energy="dotted"), r"model.encoder.memory.energy: no 'dotted'"),
    "output": (memory(output="flat"), r"model.encoder.memory.output: no 'flat'; .*plain"),
    "luong's readout": (lambda: LuongConfig(readout_size=0), r"model.decoder.readout_size: 0"),
    "bridge": (
        lambda: LuongConfig(bridge="copied"),
        r"model.decoder.bridge: no 'copied'; did you mean 'copy'",
    ),
    "tie": (lambda: ModelConfig(tie="both"), r"model.tie: no 'both'; known: all, none, target"),
    "initialization": (
        lambda: ModelConfig(initialization="glorott"),
        r"model.initialization: no 'glorott'; did you mean 'glorot'",
    ),
}


@pytest.mark.parametrize(("make", "message"), WRONG_VALUES.values(), ids=WRONG_VALUES.keys())
def test_an_illegal_value_is_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def after(decoder: DecoderConfig, **encoder: object):
    return lambda: ModelConfig(EncoderConfig(state_size=4, **encoder), decoder)


AT_ODDS = {
    "reversal, both ways": (
        lambda: EncoderConfig(reverse=True),
        r"model.encoder.reverse: a bidirectional encoder .* set bidirectional = false",
    ),
    "sutskever's cell": (
        after(SutskeverConfig(cell="lstm", state_size=8)),
        r"model.decoder.cell = 'lstm': sutskever .* need cell = 'gru'",
    ),
    "sutskever's depth": (
        after(SutskeverConfig(num_layers=2, state_size=8)),
        r"model.decoder.num_layers = 2: .* need num_layers = 1",
    ),
    "sutskever's width": (
        after(SutskeverConfig(state_size=4)),
        r"model.decoder.state_size = 4: .* need state_size = 8",
    ),
    "luong's width": (
        after(LuongConfig(bridge="copy", state_size=8), bidirectional=False),
        r'model.decoder.state_size = 8: luong with bridge = "copy" .* need state_size = 4',
    ),
    "luong's depth": (
        after(LuongConfig(bridge="copy", state_size=8), num_layers=2),
        r"model.decoder.num_layers = 1: .*= 2",
    ),
    "luong's cell": (
        after(LuongConfig(bridge="copy", state_size=8), cell="rnn"),
        r"model.decoder.cell = 'gru': .*'rnn'",
    ),
    "dot of unequal widths": (
        after(BahdanauConfig(attention=AttentionConfig(energy="dot"), state_size=4)),
        r"model.decoder.attention.energy = 'dot': .*4 units .*annotations of 8; set .*state_size = 8.*bilinear",
    ),
    "a size without units": (
        attention(energy="dot", size=5),
        r"model.decoder.attention.size = 5: the energy 'dot' has no size; leave it out.*additive, concat, qk, qkv",
    ),
    "luong's size without units": (
        lambda: LuongConfig(attention=AttentionConfig(energy="bilinear", size=5)),
        r"model.decoder.attention.size = 5: the energy 'bilinear'",
    ),
    "heads without qkv": (attention(heads=2), r"model.decoder.attention.heads = 2: .*'additive'.*\"qkv\""),
    "a width for no number of heads": (
        attention(energy="qkv", size=7, heads=2),
        r"model.decoder.attention.size = 7: .*2 heads; make it a multiple",
    ),
    "annotations that heads cannot share": (
        after(LuongConfig(attention=AttentionConfig(energy="qkv", size=9, heads=3))),
        r"model.decoder.attention.heads = 3: annotations of 8 units .*model.encoder.state_size",
    ),
    "a window_size without a window": (
        attention(window_size=3),
        r"model.decoder.attention.window_size = 3: .*\"global\".*local-m or local-p",
    ),
    "coverage without a tanh": (
        attention(energy="dot", coverage=True),
        r"model.decoder.attention.coverage = true: .*'dot'.*choose additive or concat",
    ),
    "a memory without a past": (
        memory("gru"),
        r"model.encoder.memory: the cell 'gru' does not attend to its past; .*choose one of rnn-read, .*lstmn",
    ),
    "heads that states do not divide among": (
        lambda: EncoderConfig(cell="lstmn", state_size=8, memory=MemoryConfig(energy="qkv", size=6, heads=3)),
        r"model.encoder.memory.heads = 3: states of 8 units do not divide among them; .*model.encoder.state_size",
    ),
    "a memory's output without a memory": (
        memory("rnn-read", output="plain"),
        r"model.encoder.memory.output = \"plain\": the cell 'rnn-read' .*option of \"lstmn\"",
    ),
    "a memory's size without units": (
        memory(energy="dot", size=256),
        r"model.encoder.memory.size = 256: the energy 'dot' has no size; leave it out",
    ),
    "several heads over states and memories": (
        memory(energy="qkv", heads=2),
        r"model.encoder.memory.heads = 2: the cell 'lstmn' .*one alpha; .*rnn-read, rnn-sum, rnn-sum-keep$",
    ),
    "several heads in deep fusion": (
        lambda: DeepFusionConfig(attention=AttentionConfig(energy="qkv", heads=2)),
        r"model.decoder.attention.heads = 2: deep-fusion .*one p; .*bahdanau or luong",
    ),
    "scaled dot of unequal widths": (
        after(LuongConfig(attention=AttentionConfig(energy="scaled-dot"), bridge="project", state_size=6)),
        r"model.decoder.attention.energy = 'scaled-dot': .*6 units .*annotations of 8",
    ),
    "tie, readout": (
        lambda: ModelConfig(decoder=BahdanauConfig(embedding_size=5, readout_size=6), tie="target"),
        r'model.tie = "target": the output matrix reads 6 units and the target embedding has 5; make them equal',
    ),
    "tie, state": (
        lambda: ModelConfig(decoder=SutskeverConfig(embedding_size=5, state_size=512), tie="target"),
        r'model.tie = "target": the output matrix reads 512 units and the target embedding has 5',
    ),
    "a readout's size without maxout": (
        lambda: BahdanauConfig(readout="state", readout_size=128),
        r'model.decoder.readout_size = 128: the readout "state" is as wide as the state; leave.*maxout',
    ),
    "a readout": (lambda: ChoConfig(readout="states"), r"model.decoder.readout: no 'states'.*'state'"),
    "tie, a state": (
        lambda: ModelConfig(
            decoder=BahdanauConfig(embedding_size=5, state_size=6, readout="state"), tie="target"
        ),
        r'model.tie = "target": the output matrix reads 6 units and the target embedding has 5',
    ),
    "bahdanau's bridge": (lambda: BahdanauConfig(bridge="last"), r"model.decoder.bridge: no 'last'.*copy"),
    "bahdanau's copied width": (
        after(BahdanauConfig(bridge="copy", state_size=6)),
        r'model.decoder.state_size = 6: bahdanau with bridge = "copy" starts from the encoder.s last states',
    ),
    "values of annotations": (
        attention(energy="additive", value_size=3),
        r"model.decoder.attention.value_size = 3: the energy 'additive' reads the annotations.*choose qkv",
    ),
    "values below none": (attention(energy="qkv", value_size=-1), r"attention.value_size: -1 .*from 0 to"),
    "values and heads": (
        attention(energy="qkv", size=8, heads=2, value_size=3),
        r"attention.value_size = 3: it does not divide among 2 heads; make it a multiple",
    ),
    "values of deep fusion": (
        lambda: DeepFusionConfig(attention=AttentionConfig(energy="qkv", value_size=3)),
        r"attention.value_size = 3: in deep-fusion the values are as wide as the states; leave it out",
    ),
    "no scale to leave out": (
        attention(energy="qk", scaled=False),
        r"attention.scaled = false: it is an option of qkv, not of 'qk'; leave it out, or choose qkv",
    ),
    "tie, source": (
        lambda: ModelConfig(
            EncoderConfig(embedding_size=4), BahdanauConfig(embedding_size=6, readout_size=6), tie="all"
        ),
        r'model.tie = "all": the source embedding has 4 units and the target embedding 6; make them equal',
    ),
}


@pytest.mark.parametrize(("make", "message"), AT_ODDS.values(), ids=AT_ODDS.keys())
def test_options_at_odds_with_each_other_are_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_what_projects_its_start_follows_any_encoder():
    for cell in CELLS:
        encoder = EncoderConfig(cell=cell, num_layers=3, state_size=5)
        for decoder in (LuongConfig(bridge="project"), BahdanauConfig(), ChoConfig()):
            assert ModelConfig(encoder, decoder).decoder == decoder


def test_the_documented_names_are_the_legal_ones():
    plain = {"rnn", "rnn-sigmoid", "lstm", "gru", "gru-torch", "mut1", "mut3"}
    plain |= {f"lstm-{variant}" for variant in ("1997", "peephole", "no-input", "no-forget", "no-output")}
    self_attentive = set(filter(attends_to_past, CELLS))
    assert set(CELLS) == plain | self_attentive
    assert self_attentive == {"rnn-read", "rnn-sum", "rnn-sum-keep", "lstmn"}
    assert set(filter(is_sized, ENERGIES)) == {"additive", "concat", "qk", "qkv"}
    assert set(filter(is_covering, ENERGIES)) == {"additive", "concat"}
    assert set(ENERGIES) == {"additive", "concat", "dot", "scaled-dot", "bilinear", "general", "qk", "qkv"}
    assert set(DecoderConfig.variants) == {
        "bahdanau",
        "luong",
        "cho",
        "sutskever",
        "deep-fusion",
        "hard-monotonic",
    }


@pytest.mark.parametrize("kind", ["bahdanau", "luong"])
def test_general_is_accepted_for_bilinear_in_a_file_in_an_option_and_in_python(kind):
    """Luong's name for sᵀ W_a h."""
    part = {"embedding_size": 4, "state_size": 4}
    mapping = {"model": {"encoder": dict(part), "decoder": {**part, "kind": kind}}}
    set_option(mapping, "model.decoder.attention.energy=general")
    set_option(mapping, "model.decoder.cell=rnn-sum")
    set_option(mapping, "model.decoder.memory.energy=general")
    config = ModelConfig.from_mapping(tomllib.loads(write_toml(mapping))["model"], "model")
    assert config.decoder.attention == AttentionConfig(energy="general")
    model = Seq2Seq(config, 9, 9)
    assert type(model.decoder.attention) is type(model.decoder.stack.layers[0].attention) is Bilinear
    assert AttentionConfig.overlay({"size": 9, "heads": 2}, {"energy": "general"}) == {"energy": "general"}
    with pytest.raises(ConfigError, match=r"attention.size = 5: the energy 'general' has no size"):
        BahdanauConfig(attention=AttentionConfig(energy="general", size=5))


def test_an_added_cell_that_attends_to_its_past_is_recognised(monkeypatch):
    monkeypatch.setitem(CELLS, "own-read", type("OwnRead", (RNNRead,), {}))
    monkeypatch.setitem(CELLS, "own-lstmn", type("OwnLSTMN", (LSTMN,), {}))
    language_model = LanguageModelConfig(cell="own-read", memory=MemoryConfig(span=3))
    assert language_model.attends
    assert not language_model.attends_to_whole_past
    assert LanguageModelConfig(cell="own-read").attends_to_whole_past
    assert EncoderConfig(cell="own-lstmn", memory=MemoryConfig(output="plain")).memory is not None
    with pytest.raises(ConfigError, match=r"output = \"plain\": the cell 'own-read' has no memory c"):
        EncoderConfig(cell="own-read", memory=MemoryConfig(output="plain"))
    with pytest.raises(ConfigError, match=r"choose one of rnn-read, .*own-read, own-lstmn"):
        EncoderConfig(cell="gru", memory=MemoryConfig())


def test_an_added_energy_has_a_size_and_coverage_if_its_class_says_so(monkeypatch):
    monkeypatch.setitem(ENERGIES, "own", type("Own", (Additive,), {}))
    monkeypatch.setitem(ENERGIES, "made", type("Made", (Dot,), {}))
    own = AttentionConfig(energy="own", size=7, coverage=True)
    assert BahdanauConfig(attention=own).attention == own
    below = {"size": 9, "coverage": True}
    assert AttentionConfig.overlay(below, {"energy": "own"}) == {**below, "energy": "own"}
    assert AttentionConfig.overlay(below, {"energy": "made"}) == {"energy": "made"}
    for options, message in (
        ({"size": 7}, "attention.size = 7"),
        ({"coverage": True}, "choose .* or own"),
    ):
        with pytest.raises(ConfigError, match=message):
            BahdanauConfig(attention=AttentionConfig(energy="made", **options))
    attention = build_attention("own", 4, 6, 7, coverage=True)
    assert type(attention) is ENERGIES["own"]
    assert attention.w_c.shape == (7,)


BELOW = {
    "encoder": {"cell": "lstmn", "memory": {"energy": "additive", "size": 9, "span": 2, "output": "plain"}}
}
CHOSEN_CELLS = {
    "a cell without a past": ({"cell": "gru"}, {"cell": "lstmn"}),
    "a cell without a memory c": (
        {"cell": "rnn-sum"},
        {"cell": "lstmn", "memory": {"energy": "additive", "size": 9, "span": 2}},
    ),
    "the same cell": ({"cell": "lstmn"}, BELOW["encoder"]),
    "another energy": (
        {"memory": {"energy": "dot"}},
        {"cell": "lstmn", "memory": {"energy": "additive", "span": 2, "output": "plain"}},
    ),
    "no cell of ours": ({"cell": "gru-torh"}, BELOW["encoder"]),
    "another width": ({"state_size": 8}, BELOW["encoder"]),
}


@pytest.mark.parametrize(("over", "kept"), CHOSEN_CELLS.values(), ids=CHOSEN_CELLS.keys())
def test_what_a_chosen_cell_lacks_is_dropped_from_the_layers_below(over, kept):
    before = repr(BELOW)
    assert ModelConfig.overlay(BELOW, {"encoder": over}) == {"encoder": merge(kept, over)}
    assert repr(BELOW) == before


def test_heads_are_dropped_below_an_lstmn():
    below = {"cell": "rnn-read", "memory": {"energy": "qkv", "heads": 2}}
    assert EncoderConfig.overlay(below, {"cell": "lstmn"}) == {"cell": "lstmn", "memory": {"energy": "qkv"}}
    assert EncoderConfig.overlay(below, {"cell": "rnn-sum"}) == {**below, "cell": "rnn-sum"}


def test_what_is_set_beside_the_choice_itself_is_still_refused():
    over = {"encoder": {"cell": "gru", "memory": {"span": 3}}}
    assert ModelConfig.overlay(BELOW, over) == over
    with pytest.raises(ConfigError, match=r"model.encoder.memory: the cell 'gru'"):
        ModelConfig.from_mapping(over, "model")


UNSIZED = {
    "pooling": (
        ClassifierConfig,
        {"pooling": "mean"},
        {"pooling": "attention", "pooling_size": 9},
        {"pooling": "attention"},
    ),
    "the same pooling": (
        ClassifierConfig,
        {"pooling": "attention"},
        {"pooling_size": 9},
        {"pooling_size": 9},
    ),
    "decoder": (
        CaptionerConfig,
        {"decoder": {"kind": "sutskever"}},
        {"summary_size": 9, "tie": True},
        {"tie": True},
    ),
    "the other decoder": (
        CaptionerConfig,
        {"decoder": {"kind": "cho"}},
        {"summary_size": 9},
        {"summary_size": 9},
    ),
}


@pytest.mark.parametrize(("config", "over", "below", "kept"), UNSIZED.values(), ids=UNSIZED.keys())
def test_a_size_without_units_is_dropped_from_the_layers_below(config, over, below, kept):
    assert config.overlay(below, over) == merge(kept, over)


def test_another_kind_of_decoder_keeps_the_options_it_shares_with_the_layer_below():
    below = {"decoder": {"kind": "luong", "state_size": 9, "bridge": "copy", "attention": {"size": 3}}}
    for kind, kept in {
        "bahdanau": {"state_size": 9, "bridge": "copy", "attention": {"size": 3}},
        "cho": {"state_size": 9},
        "luong": below["decoder"],
        "no such kind": below["decoder"],
    }.items():
        assert ModelConfig.overlay(below, {"decoder": {"kind": kind}}) == {"decoder": {**kept, "kind": kind}}


@pytest.mark.parametrize(
    "below", [{"readout_size": 9}, {"kind": "cho", "readout_size": 9}], ids=["default", "cho"]
)
def test_an_option_that_the_chosen_readout_lacks_is_dropped_from_the_layer_below(below):
    over = {"decoder": {"readout": "state"}}
    kept = {name: value for name, value in below.items() if name == "kind"}
    assert ModelConfig.overlay({"decoder": below}, over) == {"decoder": {**kept, "readout": "state"}}
    kind = {"decoder": {"kind": "cho", "readout": "state"}}
    assert ModelConfig.overlay({"decoder": below}, kind) == kind


def test_an_option_that_a_choice_lacks_is_refused_at_its_usual_value_too():
    """That it was set is known, not guessed from its value."""
    for make, message in (
        (attention(energy="dot", size=256), r"attention.size = 256: the energy 'dot' has no size"),
        (attention(window_size=10), r"attention.window_size = 10: the window \"global\""),
        (lambda: ClassifierConfig(pooling="mean", pooling_size=256), r"model.pooling_size = 256: .*'mean'"),
        (lambda: CaptionerConfig(SutskeverConfig(), summary_size=256), r"model.summary_size = 256"),
    ):
        with pytest.raises(ConfigError, match=message):
            make()


def test_an_option_is_none_where_the_choice_lacks_it_and_has_its_default_where_not():
    assert (AttentionConfig().size, AttentionConfig(energy="dot").size) == (256, None)
    assert (AttentionConfig(window="local-m").window_size, AttentionConfig().window_size) == (10, None)
    assert (MemoryConfig().size, MemoryConfig(energy="dot").size) == (0, None)
    assert (ClassifierConfig().pooling_size, ClassifierConfig(pooling="mean").pooling_size) == (256, None)
    assert (CaptionerConfig().summary_size, CaptionerConfig(SutskeverConfig()).summary_size) == (256, None)
    assert "size" not in AttentionConfig(energy="dot").to_mapping()
