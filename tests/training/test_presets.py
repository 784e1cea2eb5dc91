import pytest
import torch

from regard.config import read_toml, write_toml
from regard.errors import ConfigError
from regard.models import Seq2Seq
from regard.tasks import TASKS
from regard.tasks.config import RunConfig
from regard.training.configure import PRESETS, configure

SMALL = [
    *("rnnsearch-small", "luong-small", "rnnencdec-small", "sutskever-small", "characters"),
    *("heads-small", "sparsemax-small", "coverage-small", "lstmn-shallow-small", "lstmn-deep-small"),
    *("pointer-small", "hard-monotonic-small"),
]
LECTURES = [
    *("lecture-seq2seq", "lecture-sutskever", "lecture-attention", "lecture-query-key", "lecture-dot"),
    *("lecture-qkv", "lecture-bahdanau"),
]
PAPERS = ["rnnsearch-50", "rnnencdec-50", "sutskever", "luong-general", "luong-local", "luong-monotonic"]


def parameters(name, source_size, target_size):
    """How many numbers a preset's model learns; built without memory for them."""
    with torch.device("meta"):
        return Seq2Seq(configure(preset=name).model, source_size, target_size).num_parameters


def test_every_preset_is_small_or_a_paper_s_or_a_lecture_s():
    translators = {
        name for name, preset in PRESETS.items() if preset().get("task", "translate") == "translate"
    }
    assert translators == {*SMALL, *PAPERS, *LECTURES}
    assert TASKS["translate"].default_preset in SMALL


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_configures_and_says_what_it_is(name, tmp_path):
    begun = {"pretrained": {"encoder": "language_model"}} if name == "classifier-pretrained" else {}
    run = configure(begun, preset=name)
    assert PRESETS[name].__doc__
    # what train.toml says is the whole of it
    (tmp_path / "train.toml").write_text(write_toml(run.to_mapping()), encoding="utf-8")
    assert RunConfig.from_mapping(read_toml(tmp_path / "train.toml"), "run") == run


@pytest.mark.parametrize("name", SMALL + LECTURES)
def test_small_presets_build_and_fit_a_laptop(name):
    config = configure(preset=name)
    model = Seq2Seq(config.model, 50, 60)
    assert model.num_parameters == parameters(name, 50, 60) < 8e6


def test_layers_are_laid_over_the_preset_in_turn():
    run = configure(
        {"preset": "characters", "training": {"learning_rate": 0.5, "seed": 3}}, {"training": {"seed": 4}}
    )
    assert (run.training.learning_rate, run.training.seed, run.tokenizer.source) == (0.5, 4, "char")
    assert run.training.max_epochs == 20  # the preset's own
    assert (
        configure({"preset": "characters"}, preset="luong-small").model.to_mapping()["decoder"]["kind"]
        == "luong"
    )
    assert configure() == configure(preset=TASKS["translate"].default_preset)


def gru(inputs, n):
    return 3 * (inputs * n + n * n + n)


def lstm(inputs, n):
    return 4 * (inputs * n + n * n + n)


def test_rnnsearch_50_has_the_paper_s_sizes():
    """A.2.3: n = 1000, m = 620, n′ = 1000, l = 500; 30,000 words a side; a GRU each way."""
    V, m, n, a, l = 30_000, 620, 1000, 1000, 500
    encoder = V * m + 2 * gru(m, n)
    attention = a * n + a * 2 * n + a  # W_a, U_a, v_a
    recurrence = gru(m, n) + 3 * n * 2 * n  # W, U, b and C
    start = n * n + n
    readout = 2 * l * (n + m + 2 * n) + 2 * l  # U_o, V_o, C_o and a bias
    decoder = V * m + attention + recurrence + start + readout + V * l + V
    assert parameters("rnnsearch-50", V, V) == encoder + decoder
    run = configure(preset="rnnsearch-50")
    assert (run.tokenizer.source_size, run.data.max_length, run.training.batch_sentences) == (V, 50, 80)
    assert (run.training.optimizer, run.training.clip) == ("adadelta", 1.0)


def test_rnnencdec_50_has_the_paper_s_sizes():
    """§4: the same sizes; the decoder sees one fixed vector, the encoder reads one way."""
    V, m, n, l = 30_000, 620, 1000, 500
    encoder = V * m + gru(m, n)
    readout = 2 * l * (n + m + n) + 2 * l
    decoder = V * m + gru(m + n, n) + n * n + n + readout + V * l + V
    assert parameters("rnnencdec-50", V, V) == encoder + decoder


def test_sutskever_has_the_paper_s_sizes():
    """§3.4: four layers of 1000, embeddings of 1000, 160,000 and 80,000 words; 384M parameters."""
    Vx, Vy, n = 160_000, 80_000, 1000
    expected = (Vx + Vy) * n + 2 * 4 * lstm(n, n) + Vy * n + Vy
    assert parameters("sutskever", Vx, Vy) == expected
    assert round(expected / 1e6) == 384
    run = configure(preset="sutskever")
    assert (run.tokenizer.source_size, run.tokenizer.target_size) == (Vx, Vy)
    assert run.model.encoder.reverse
    assert (run.training.optimizer, run.training.learning_rate, run.training.clip) == ("sgd", 0.7, 5.0)
    assert run.training.batch_sentences == 128


def test_luong_general_has_the_paper_s_sizes():
    """§4.1: four layers of 1000, embeddings of 1000, 50,000 words a side, input feeding, dropout 0.2."""
    V, n = 50_000, 1000
    stacks = 2 * 4 * lstm(n, n)
    attention = n * n
    feeding = 4 * n * n
    readout = 2 * n * n
    assert parameters("luong-general", V, V) == 2 * V * n + stacks + attention + feeding + readout + V * n + V
    run = configure(preset="luong-general")
    assert (run.training.optimizer, run.training.learning_rate, run.training.clip) == ("sgd", 1.0, 5.0)
    assert run.model.encoder.dropout == run.model.decoder.dropout == 0.2
    assert (run.data.max_length, run.training.batch_sentences) == (50, 128)


@pytest.mark.parametrize("kind", ["bahdanau", "luong", "cho", "sutskever"])
@pytest.mark.parametrize("name", ["rnnsearch-small", "luong-small", "rnnencdec-small", "characters"])
def test_another_kind_of_decoder_may_be_chosen_over_a_preset(name, kind):
    """What only the preset's own kind knows is left out; all else stays."""
    own, run = (
        configure(preset=name).model,
        configure({"model": {"decoder": {"kind": kind}}}, preset=name).model,
    )
    assert run.to_mapping()["decoder"]["kind"] == kind
    for option in ("cell", "embedding_size", "state_size", "num_layers", "dropout"):
        assert getattr(run.decoder, option) == getattr(own.decoder, option)


def test_another_energy_may_be_chosen_over_a_preset_and_a_file():
    """What the layers below say of the old energy's options is left out; what the layer itself says is checked."""
    dot = {"model": {"decoder": {"attention": {"energy": "dot"}}}}
    file = {"model": {"decoder": {"attention": {"size": 5}}}}
    assert configure(file, preset="characters").model.decoder.attention.size == 5
    for layers in ([dot], [file, dot]):
        attention = configure(*layers, preset="characters").model.decoder.attention
        assert (attention.energy, attention.size) == ("dot", None)
    with pytest.raises(ConfigError, match=r"model.decoder.attention.size = 5: .*additive, concat, qk, qkv"):
        configure(dot, file, preset="characters")


def test_a_misspelt_option_of_another_kind_is_still_refused():
    decoder = {"kind": "luong", "attention": {"energi": "dot"}}
    with pytest.raises(ConfigError, match="no option 'energi'"):
        configure({"model": {"decoder": decoder}}, preset="rnnsearch-small")
    decoder = {"kind": "cho", "attention": {"energy": "dot"}}
    with pytest.raises(ConfigError, match="no option 'attention'"):
        configure({"model": {"decoder": decoder}}, preset="rnnsearch-small")
