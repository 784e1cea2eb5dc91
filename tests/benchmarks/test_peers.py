import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks.lower_bound import mean_lengths, products
from benchmarks.peers import installed, marian, measure_search, measure_training, searchers
from benchmarks.peers.commands import COMMANDS, Command
from benchmarks.peers.run import reduced_case
from benchmarks.peers.search_commands import SEARCHES, Search
from benchmarks.search_cases import SearchCase, search_cases
from benchmarks.settings import SETTINGS

from regard.errors import DataError, RegardError

TRAINING_SCRIPT = """
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

SEARCH_SCRIPT = """
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
    (module / "training_script.py").write_text(TRAINING_SCRIPT)
    (module / "search_script.py").write_text(SEARCH_SCRIPT)
    monkeypatch.setenv("PYTHONPATH", str(module))

    def install(command):
        monkeypatch.setitem(COMMANDS, "own", lambda setting, data, work, updates: command)
        return tmp_path / "environments", tmp_path / "work"

    return install


def test_the_stopwatch_counts_tokens_at_the_loss_and_ends_after_the_last_update(peer, toy):
    environments, work = peer(Command("training_script:main", ["--fast"], ["whole_checkpoints"]))
    result = measure_training("own", toy, environments, work, threads=1)
    assert len(result.seconds) == toy.updates
    # three losses per update over three real targets each; what is computed without gradients does not count
    assert result.tokens == [9] * toy.updates
    assert result.losses[0] == pytest.approx(1.3863, abs=1e-4)  # log 4, however the loss was reduced
    assert result.losses[-1] < result.losses[0]
    assert result.peak_bytes > 2**26
    assert (work / "toy" / "train.tsv").exists()


def test_a_peer_that_fails_names_its_log(peer, toy):
    environments, work = peer(Command("training_script:main", []))
    (environments / "venv-own" / "bin" / "python").write_text("#!/bin/sh\necho out of memory\nexit 3\n")
    with pytest.raises(RegardError, match=r"own-toy/trained\.failed: ended with status 3"):
        measure_training("own", toy, environments, work, threads=1)
    assert "out of memory" in (work / "own-toy" / "trained.failed").read_text()


@pytest.fixture
def search_peer(peer, monkeypatch):
    """The peer with a search command; the toy's outputs have four words."""
    environments, work = peer(Command("search_script:train", []))

    def search(setting, case, data, own):
        arguments = [str(data / f"{case.file_stem}.source"), str(own / "out"), str(case.batch)]
        return Search(Command("search_script:main", arguments), "search_script:search", own / "out", "H-", 2)

    monkeypatch.setitem(SEARCHES, "own", search)
    return environments, work


def test_a_search_is_timed_call_by_call_with_a_model_trained_once(search_peer, toy):
    environments, work = search_peer
    first = search_cases(toy)[0]
    for _ in range(2):
        result = measure_search("own", toy, first, environments, work, threads=1)
    assert len(result.seconds) == first.calls
    assert all(0.01 < seconds < 0.1 for seconds in result.seconds)
    assert result.outputs == ("x y z w",) * first.num_sentences
    assert result.total_seconds > sum(result.seconds)
    assert (work / "own-toy-search" / "trained").read_text() == "trained\n"


def test_a_search_with_outputs_of_other_lengths_is_an_error(search_peer, toy):
    environments, work = search_peer
    five = replace(toy, output_words=5)
    with pytest.raises(RegardError, match="of 5 words were expected"):
        measure_search("own", five, search_cases(five)[0], environments, work, threads=1)


def test_only_a_slow_peer_has_a_reduced_case():
    mt = SETTINGS["mt"]
    beam, greedy, _ = search_cases(mt)
    assert reduced_case("fairseq", mt, beam) == beam
    assert reduced_case("yoyodyne", mt, greedy) == greedy
    assert reduced_case("yoyodyne", mt, beam).num_sentences == 8
    assert reduced_case("yoyodyne", SETTINGS["char"], beam) == beam


@pytest.mark.parametrize("name", COMMANDS)
def test_every_search_command_has_the_numbers_of_the_case(tmp_path, name):
    setting = replace(SETTINGS["mt"], output_words=19)
    COMMANDS[name](setting, tmp_path / "data", tmp_path, 17)
    case = SearchCase("some", 7, 23, 3)
    search = SEARCHES[name](setting, case, tmp_path / "data", tmp_path)
    config = tmp_path / "search.yaml"
    command_text = " ".join(search.command.arguments) + (config.read_text() if config.exists() else "")
    for number in (7, case.batch, 19):
        assert str(number) in command_text, number
    assert case.file_stem in command_text + str(search.command.before)
    assert ":" in search.timed


def test_environments_are_recognized_by_name(tmp_path):
    with pytest.raises(DataError, match=r"venv-fairseq.*leave --peers out"):
        installed(tmp_path)
    for name in ("yoyodyne", "fairseq"):
        (tmp_path / f"venv-{name}" / "bin").mkdir(parents=True)
        (tmp_path / f"venv-{name}" / "bin" / "python").touch()
    assert installed(tmp_path) == ["fairseq", "yoyodyne"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_training_command_has_the_numbers_of_the_setting(tmp_path, name):
    setting = SETTINGS["mt"]
    command = COMMANDS[name](setting, tmp_path / "data", tmp_path, 17)
    config = tmp_path / "train.yaml"
    command_text = " ".join(command.arguments) + (config.read_text() if config.exists() else "")
    for number in (
        setting.embedding_size,
        setting.decoder_size,
        setting.batch,
        setting.dropout,
        0.001,
        5.0,
        17,
    ):
        assert str(number) in command_text, number
    assert str(tmp_path / "data" / "train") in command_text + str(command.before)
    if config.exists():
        assert str(config) in command.arguments
        json.loads(config.read_text())


def test_the_stopwatch_imports_neither_regard_nor_benchmarks():
    import ast

    folder = Path(sys.modules["benchmarks.peers"].__file__).parent
    for name in ("stopwatch.py", "patches.py", "marian_worker.py"):
        tree = ast.parse((folder / name).read_text())
        modules = {
            alias.name if isinstance(node, ast.Import) else node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not any(module.startswith(("regard", "benchmarks")) for module in modules)


def test_marian_computes_as_much_as_regard():
    for setting in SETTINGS.values():
        lengths = mean_lengths(setting)
        size = marian.equal_embedding_size(setting)
        theirs = sum(each.operations for each in marian.marian_products(setting, size, *lengths))
        ours = sum(each.operations for each in products(setting, "luong", *lengths))
        assert theirs == pytest.approx(ours, rel=0.01)


PYMARIAN = """
import sys
def main(arguments):
    options = dict(zip(arguments, arguments[1:]))
    assert arguments[0] == "train"
    open("options", "w").write(" ".join(arguments))
    import numpy
    numpy.savez(options["--model"], decoder_ff_logit_l2_b=numpy.zeros((1, 24)))
    for k in range(int(options["--after"][:-1])):
        progress = f"Ep. 1 : Up. {k + 1} : Sen. 8 : Cost {3 - k / 10} * 1,00{k} @ 10 after 3 : Time 1.0s"
        print(progress, file=sys.stderr)
    return 0
class Translator:
    def __init__(self, options):
        import numpy
        self.options = options.split()
        model = numpy.load(self.options[self.options.index("--models") + 1])
        self.endless = model["decoder_ff_logit_l2_b"][0, 0] == -1e6
        open("calls", "a").write(options + chr(10))
    def translate(self, sentences):
        open("calls", "a").write(f"{len(sentences)}" + chr(10))
        return ["x y z w" if self.endless else "" for _ in sentences]
"""


@pytest.fixture
def marian_peer(peer, tmp_path):
    """A peer named ``marian``, whose module only says what it was given."""
    environments, work = peer(None)
    (environments / "venv-own").rename(environments / "venv-marian")
    (tmp_path / "modules" / "_pymarian.py").write_text(PYMARIAN)
    return environments, work


def test_the_updates_of_marian_are_read_from_its_progress(marian_peer, toy):
    environments, work = marian_peer
    result = measure_training("marian", toy, environments, work, threads=2)
    assert list(result.tokens) == [1000 + k for k in range(toy.updates)]
    assert list(result.losses) == [3 - k / 10 for k in range(toy.updates)]
    assert all(seconds >= 0 for seconds in result.seconds)
    assert result.peak_bytes > 2**23
    options = (work / "marian-toy" / "options").read_text()
    vocabulary = (work / "marian-toy" / "source.yml").read_text().splitlines()
    assert vocabulary[:2] == ['"</s>": 0', '"<unk>": 1']
    assert len(vocabulary) == 24  # twenty words and two symbols, filled up
    assert "--dim-vocabs 24 24" in options
    assert f"--mini-batch {toy.batch} " in options
    assert "--cpu-threads 2" in options


def test_marian_searches_all_batches_in_each_call_and_one_sentence_by_one_thread(marian_peer, toy):
    environments, work = marian_peer
    beam, _, single = search_cases(toy)
    for name in marian.VARIANTS:
        together = measure_search(name, toy, beam, environments, work, threads=2)
        assert len(together.seconds) == beam.calls
        assert together.outputs == ("x y z w",) * beam.num_sentences
    alone = measure_search("marian", toy, single, environments, work, threads=2)
    assert len(alone.seconds) == single.calls
    calls = (work / "marian-toy-search" / "calls").read_text().splitlines()
    in_float, in_int8, one = (calls[0], calls[1 + beam.calls], calls[2 * (1 + beam.calls)])
    assert calls[1 : 1 + beam.calls] == [str(beam.num_sentences)] * beam.calls
    assert calls[-single.calls :] == ["1"] * single.calls
    assert "--cpu-threads 2 --beam-size 5 --mini-batch 32" in in_float
    assert "shortlist" not in in_float
    assert "--gemm-type packed8" in in_int8
    assert "--shortlist" in in_int8
    assert "--cpu-threads 1 " in one


def test_marian_joins_a_search_once_more_where_a_shortlist_makes_sense(marian_peer, toy):
    assert searchers(toy, marian_peer[0]) == ["marian"]
    assert searchers(SETTINGS["mt"], marian_peer[0]) == ["marian", marian.QUANTISED]


def test_the_whole_command_of_marian_searches_each_sentence_once(marian_peer, toy, monkeypatch):
    environments, work = marian_peer
    clock = iter([100.0, 150.0])

    def answer(python, job, work, name, threads):
        if name == "searched":
            made = {"seconds": [3.0] * job["repeats"], "outputs": ["x y z w"] * beam.num_sentences}
            Path(job["answer"]).write_text(json.dumps(made))
        return [], 2**24

    beam = search_cases(toy)[0]
    monkeypatch.setattr(marian, "_run", answer)
    monkeypatch.setattr(marian, "_searching", lambda *arguments: work / "model.npz")
    monkeypatch.setattr(marian, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    timing = measure_search("marian", toy, beam, environments, work, threads=2)
    assert timing.total_seconds == 50 - 3 * (beam.calls - 1)
    assert list(timing.seconds) == [3 / beam.calls] * beam.calls
