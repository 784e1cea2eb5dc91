import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.demands import Demand, demands
from benchmarks.peers import PEERS, found, measure
from benchmarks.peers.commands import COMMANDS, Command
from benchmarks.peers.search import asked
from benchmarks.peers.search import measure as measure_search
from benchmarks.peers.search_commands import SEARCHES, Search
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

SEARCHER = """
import sys, time
def search(lines):
    time.sleep(0.05 if lines[0] == "first" else 0.01)
    return ["x y z w" for _ in lines]
def train():
    print("trained", file=open("trained", "a"))
def main():
    source, target, size = sys.argv[1:]
    lines = open(source).read().splitlines()
    with open(target, "w") as file:
        for k in range(0, len(lines), int(size)):
            print("noise", file=file)
            for output in search(lines[k : k + int(size)]):
                print("H-1\\t-0.5\\t" + output, file=file)
    sys.exit(0)
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
    (module / "searcher.py").write_text(SEARCHER)
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


@pytest.fixture
def searching(peer, monkeypatch):
    """The peer as one that searches; the toy's outputs have four words."""
    environments, work = peer(Command("searcher:train", []))

    def search(setting, demand, data, own):
        arguments = [str(data / f"{demand.part}.source"), str(own / "out"), str(demand.batch)]
        return Search(Command("searcher:main", arguments), "searcher:search", own / "out", "H-", 2)

    monkeypatch.setitem(SEARCHES, "own", search)
    return environments, work


def test_a_search_is_timed_call_by_call_with_a_model_trained_once(searching, toy):
    environments, work = searching
    first = demands(toy)[0]
    for _ in range(2):
        seen = measure_search("own", toy, first, environments, work, threads=1)
    assert len(seen.seconds) == first.calls
    assert all(0.01 < seconds < 0.1 for seconds in seen.seconds)
    assert seen.outputs == ("x y z w",) * first.sentences
    assert seen.whole > sum(seen.seconds)
    assert (work / "own-toy-searching" / "trained").read_text() == "trained\n"


def test_a_search_that_puts_out_other_lengths_is_refused(searching, toy):
    environments, work = searching
    five = replace(toy, output_words=5)
    with pytest.raises(RegardError, match="of 5 words were asked for"):
        measure_search("own", five, demands(five)[0], environments, work, threads=1)


def test_only_a_slow_peer_is_asked_for_less():
    mt = SETTINGS["mt"]
    beam, greedy, _ = demands(mt)
    assert asked("fairseq", mt, beam) == beam
    assert asked("yoyodyne", mt, greedy) == greedy
    assert asked("yoyodyne", mt, beam).sentences == 8
    assert asked("yoyodyne", SETTINGS["char"], beam) == beam


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_is_told_what_is_demanded(tmp_path, name):
    setting = replace(SETTINGS["mt"], output_words=19)
    COMMANDS[name](setting, tmp_path / "data", tmp_path, 17)
    demand = Demand("some", 7, 23, 3)
    search = SEARCHES[name](setting, demand, tmp_path / "data", tmp_path)
    config = tmp_path / "search.yaml"
    told = " ".join(search.command.arguments) + (config.read_text() if config.exists() else "")
    for number in (7, demand.batch, 19):
        assert str(number) in told, number
    assert demand.part in told + str(search.command.before)
    assert ":" in search.timed


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
