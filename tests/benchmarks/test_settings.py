import pytest
from benchmarks.settings import SETTINGS, Setting, build_run, build_task, get_setting

from regard.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "m", "n", "batch", "vocabulary"), [("mt", 256, 512, 64, 8004), ("char", 128, 256, 32, 44)]
)
def test_the_models_are_those_of_the_comparison(name, m, n, batch, vocabulary):
    setting = get_setting(name)
    for decoder in ("luong", "bahdanau"):
        run = build_run(setting, decoder, "bf16")
        parts = run.model.encoder, run.model.decoder
        assert [part.cell for part in parts] == ["lstm", "lstm"]
        assert [part.embedding_size for part in parts] == [m, m]
        assert [part.dropout for part in parts] == [0.2, 0.2]
        assert parts[0].bidirectional
        assert (2 * parts[0].state_size, parts[1].state_size, parts[1].readout_size) == (n, n, n)
        assert (parts[1].attention.energy, parts[1].attention.size) == ("additive", n)
        training = run.training
        assert (training.optimizer, training.learning_rate, training.clip) == ("adam", 0.001, 5.0)
        assert (training.batch_sentences, training.precision) == (batch, "bf16")
    assert build_run(setting, "luong").model.decoder.input_feeding
    assert setting.vocabulary == vocabulary


def test_batches_are_full_and_vocabularies_have_their_size():
    setting = SETTINGS["char"]
    task = build_task(setting, "luong")
    assert task.sizes == {"source": setting.vocabulary, "target": setting.vocabulary}
    sizes = [len(members) for members in task.plan(0)]
    assert sizes.count(32) >= len(sizes) - 1


def test_a_setting_is_equal_after_json(toy):
    assert Setting.from_json(toy.to_json()) == toy


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'char'"):
        get_setting("chars")
    with pytest.raises(ConfigError, match="did you mean 'luong'"):
        build_run(SETTINGS["mt"], "luongs")
