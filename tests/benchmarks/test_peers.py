import json
import sys
from pathlib import Path

import pytest
from benchmarks.peers import PEERS, found, measure
from benchmarks.peers.commands import COMMANDS, Command
from benchmarks.settings import SETTINGS

from regard.errors import DataError, RegardError

LEARNER = """
import sys, torch
from torch.nn import functional
torch.manual_seed(0)
weights = torch.zeros(4, requires_grad=True)
optimizer = torch.optim.SGD([weights], lr=0.1)
targets = torch.tensor([0, 1, 2, 3, 3])
def main():
    assert sys.argv[1:] == ["--fast"]
    assert torch.get_num_threads() == 1
    while True:
        logits = weights.expand(5, 4)
        for how in ("sum", "mean", "none"):
            loss = functional.cross_entropy(logits, targets, ignore_index=3, reduction=how).sum()
        with torch.no_grad():
            functional.cross_entropy(logits, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""


@pytest.fixture
def peer(tmp_path, monkeypatch):
    """A peer named ``own`` in this very environment, whose command is a small module."""
    environment = tmp_path / "environments" / "venv-own" / "bin"
    environment.mkdir(parents=True)
    # a script and no link: a link would not find this environment's packages
    python = environment / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    module = tmp_path / "modules"
    module.mkdir()
    (module / "learner.py").write_text(LEARNER)
    monkeypatch.setenv("PYTHONPATH", str(module))

    def install(command):
        monkeypatch.setitem(COMMANDS, "own", lambda setting, data, work, updates: command)
        return tmp_path / "environments", tmp_path / "work"

    return install


def test_the_stopwatch_counts_tokens_at_the_loss_and_ends_after_the_last_update(peer, toy):
    environments, work = peer(Command("learner:main", ["--fast"], ["whole_checkpoints"]))
    seen = measure("own", toy, environments, work, threads=1)
    assert len(seen.seconds) == toy.updates
    # three losses an update over three real targets each; what is computed without gradients does not count
    assert seen.tokens == [9] * toy.updates
    assert seen.losses[0] == pytest.approx(1.3863, abs=1e-4)  # log 4, however the loss was reduced
    assert seen.losses[-1] < seen.losses[0]
    assert seen.peak_bytes > 2**26
    assert (work / "toy" / "train.tsv").exists()


def test_a_peer_that_fails_names_its_log(peer, toy):
    environments, work = peer(Command("learner:main", []))
    (environments / "venv-own" / "bin" / "python").write_text("#!/bin/sh\necho out of steam\nexit 3\n")
    with pytest.raises(RegardError, match=r"own-toy/trained\.failed: ended with status 3"):
        measure("own", toy, environments, work, threads=1)
    assert "out of steam" in (work / "own-toy" / "trained.failed").read_text()


def test_environments_are_found_by_name(tmp_path):
    with pytest.raises(DataError, match=r"venv-fairseq.*leave --peers out"):
        found(tmp_path)
    for name in ("yoyodyne", "fairseq"):
        (tmp_path / f"venv-{name}" / "bin").mkdir(parents=True)
        (tmp_path / f"venv-{name}" / "bin" / "python").touch()
    assert found(tmp_path) == ["fairseq", "yoyodyne"]


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_is_told_the_settings_numbers(tmp_path, name):
    setting = SETTINGS["mt"]
    command = COMMANDS[name](setting, tmp_path / "data", tmp_path, 17)
    config = tmp_path / "train.yaml"
    told = " ".join(command.arguments) + (config.read_text() if config.exists() else "")
    for number in (
        setting.embedding_size,
        setting.decoder_size,
        setting.batch,
        setting.dropout,
        0.001,
        5.0,
        17,
    ):
        assert str(number) in told, number
    assert str(tmp_path / "data" / "train") in told + str(command.before)
    if config.exists():
        assert str(config) in command.arguments
        json.loads(config.read_text())


def test_the_stopwatch_needs_nothing_of_ours():
    import ast

    room = Path(sys.modules["benchmarks.peers"].__file__).parent
    for name in ("stopwatch.py", "patches.py"):
        tree = ast.parse((room / name).read_text())
        modules = {
            alias.name if isinstance(node, ast.Import) else node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not any(module.startswith(("regard", "benchmarks")) for module in modules)
