"""``regard serve``: what it refuses before it listens."""

import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from regard.cli.app import app
from regard.errors import ConfigError, RegardError


def refusal(*arguments):
    result = CliRunner().invoke(app, ["serve", *map(str, arguments)])
    assert isinstance(result.exception, RegardError), result.output
    return str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no model to serve; name a folder"),
        (["a", "b/a"], "there is another 'a'"),
        (["a", "--port", "70000"], "port: 70000 is out of range"),
        (["a", "--set", "limits.beem=3"], "no option 'beem'; did you mean 'beam'"),
        (["a", "--allow-origin", "*"], "is not an origin"),
        (["a", "--api-keys", "none.txt"], "none.txt: cannot be read"),
        (["a", "--config", "none.toml"], "none.toml: no such configuration file"),
        (["a,fast"], "no 'fast'"),
    ],
)
def test_what_it_refuses(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refusal(*arguments)


def test_a_folder_that_is_no_model(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    monkeypatch.setattr("regard.server.run.prepare_process", lambda: None)
    assert str(tmp_path / "none") in refusal(tmp_path / "none")


def test_keys_are_never_options():
    result = CliRunner().invoke(app, ["serve", "--help"])
    assert "--api-keys" in result.output
    result = CliRunner().invoke(app, ["serve", "model", "--api-key", "secret"])
    assert result.exit_code == 2


def test_without_the_extra_it_says_how_to_get_it(tmp_path):
    """And everything but the service works: the core imports without it."""
    code = (
        "import sys\n"
        "for name in ('fastapi', 'starlette', 'uvicorn', 'pydantic', 'httpx'): sys.modules[name] = None\n"
        "import regard, regard.cli.app, regard.tasks.translate.predictor\n"
        "regard.Client, regard.train\n"
        "del sys.modules['pydantic']  # which typer needs itself\n"
        "sys.argv = ['regard', 'serve', 'model']\n"
        "regard.cli.app.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "regard serve needs" in done.stderr
    assert "pip install" in done.stderr
    assert "regard[serve]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use():
    pytest.importorskip("fastapi")
    from regard.server.app import Service
    from regard.server.config import ServeConfig
    from regard.server.run import run

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1, port {port}"):
            run(Service(ServeConfig(port=port)))
