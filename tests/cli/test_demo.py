"""``regard demo``: what it says of the model that it trains."""


def test_the_parts_of_the_model_are_named(regard, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = regard("demo", "recall", "--train-size", "64", "--set", "training.max_updates=2")
    assert ended.status == 0
    assert "model: encoder.cell rnn-sum-keep, encoder.memory.energy bilinear" in ended.err
