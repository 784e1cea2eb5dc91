import tomllib
from pathlib import Path

import pytest

from regard.errors import ConfigError
from regard.server.config import ModelEntry, ServeConfig, parse_model, read_config, read_keys

KEY = "k" * 16


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("models/en-fr", ("en-fr", ModelEntry("models/en-fr"))),
        ("x=models/en-fr", ("x", ModelEntry("models/en-fr"))),
        ("x=a,int8,shortlist", ("x", ModelEntry("a", precision="int8", shortlist=True))),
        ("a,last,bfloat16", ("a", ModelEntry("a", "last", "bfloat16"))),
    ],
)
def test_models_of_the_command_line(argument, expected):
    assert parse_model(argument) == expected


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("a,int9", r"no 'int9'; did you mean 'int8'\?"),
        ("my model!=a", "'my model!' cannot name a model"),
        ("../=a", "cannot name a model"),
    ],
)
def test_wrong_models_of_the_command_line(argument, message):
    with pytest.raises(ConfigError, match=message):
        parse_model(argument)


def test_a_file_with_models_limits_and_batching():
    config, entries = read_config(
        {
            "port": 9000,
            "models": {"en-fr": {"folder": "a", "precision": "int8"}},
            "limits": {"beam": 7},
            "batching": {"texts": 3},
        },
        ["b=c"],
    )
    assert (config.host, config.port, config.limits.beam, config.batching.texts) == ("127.0.0.1", 9000, 7, 3)
    assert entries == {"en-fr": ModelEntry("a", precision="int8"), "b": ModelEntry("c")}
    assert config.local
    assert not ServeConfig(host="0.0.0.0").local


@pytest.mark.parametrize(
    ("mapping", "arguments", "message"),
    [
        ({"prot": 1}, [], "no option 'prot'; did you mean 'port'"),
        ({"models": {"a": {}}}, [], "models.a: no folder"),
        ({"models": {"a": {"folder": "x", "beam": 3}}}, [], "no option 'beam'"),
        ({"models": ["a"]}, [], "models: expected tables"),
        ({"models": {"a": {"folder": "x"}}}, ["a=y"], "there is another 'a'"),
        ({"port": 70_000}, [], "port: 70000 is out of range"),
        ({"limits": {"queue": 5}}, [], "limits.queue: 5 is less than the texts of one request"),
        ({"limits": {"beam": 0}}, [], "limits.beam: 0 is out of range"),
        ({"allow_origins": ["*"]}, [], "'\\*' is not an origin"),
        ({"allow_origins": ["https://a.org/x"]}, [], "is not an origin"),
    ],
)
def test_wrong_files(mapping, arguments, message):
    with pytest.raises(ConfigError, match=message):
        read_config(mapping, arguments)


def test_keys_of_a_file_and_of_the_environment(tmp_path, monkeypatch):
    path = tmp_path / "keys"
    path.write_text(f"# of the clients\n{KEY}1\n\n {KEY}2 \n")
    assert read_keys(path, "UNSET") == (f"{KEY}1", f"{KEY}2")
    monkeypatch.setenv("SOME_KEYS", f"{KEY}3, {KEY}4")
    assert read_keys(None, "SOME_KEYS") == (f"{KEY}3", f"{KEY}4")
    assert read_keys(None, "UNSET") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no key in it"), ("xyzzy\n", "key 1 is shorter"), (f"{KEY}é\n", "others than ASCII")],
)
def test_wrong_keys(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("keys")
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        read_keys(path, "UNSET")
    assert not text or text.strip() not in str(caught.value)  # a key is never shown
    with pytest.raises(ConfigError, match="cannot be read"):
        read_keys(tmp_path / "none", "UNSET")


def test_the_example_and_the_page_have_every_limit_at_its_default():
    root = Path(__file__).parents[2]
    text = (root / "examples" / "serve" / "serve.toml").read_text(encoding="utf-8")
    mapping = tomllib.loads(text)
    config, entries = read_config(mapping, [])
    assert config == ServeConfig()
    assert set(mapping["limits"]) == set(config.limits.to_mapping())
    assert entries["en-fr"].shortlist
    _, _, body = text.partition("\n")
    assert body in (root / "docs" / "serving.md").read_text(encoding="utf-8")
