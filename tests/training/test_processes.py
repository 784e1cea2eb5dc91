"""Two processes under torchrun: the updates of one with the union batch, one who writes, signals, a kill, a resume.

Starting torch takes seconds, so each test starts its processes once, for all that it shows.
"""

import json
import re

import pytest
import torch
from safetensors.torch import load_file

from regard.checkpoint import read_log
from regard.config import write_toml
from regard.errors import DataError
from regard.io import LOCK
from regard.tasks.translate.task import TranslateTask
from regard.training import prepare
from regard.training.configure import configure
from regard.training.provenance import fingerprint, refuse_unlike_data
from regard.training.run import run_training

PRELUDE = """
import json, os, signal, sys
from pathlib import Path

import torch
import regard.training.loop as loop
from regard.training.configure import configure
from regard.training.progress import Note
from regard.training.provenance import fingerprint, refuse_unlike_data
from regard.training.run import run_training
from regard.training.signals import StoppedTraining

folder = Path(sys.argv[1])
rank = int(os.environ["RANK"])
"""

TRAIN_ALL = """
runs = json.loads((folder / "runs.json").read_text())
for name, options in runs.items():
    run_training(folder / name, configure(options))

# a run that one process began
run_training(folder / "grown", configure(runs["pairs"]), resume=True)

# a signal that reaches one process stops both, after the same update
real = loop.Loop._update

def hit(self, group):
    real(self, group)
    if rank == 1 and self._state.updates == 5:
        os.kill(os.getpid(), signal.SIGTERM)

loop.Loop._update = hit
heard = []
stopped = None
try:
    run_training(folder / "stopped", configure(runs["dropout"]), listener=heard.append)
except StoppedTraining as stop:
    stopped = stop.name
loop.Loop._update = real
run_training(folder / "stopped", configure(runs["dropout"]), listener=heard.append, resume=True)
texts = [event.text for event in heard if isinstance(event, Note)]
(folder / f"heard-{rank}.json").write_text(json.dumps([stopped, texts]))
"""

KILLED_ONCE = """
from regard.cli.app import main

marker = folder / "killed"
real = loop.Loop._update

def kill(self, group):
    if rank == 1 and self._state.updates == 7 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    real(self, group)

loop.Loop._update = kill
sys.argv = ["regard", "train", str(folder / "run"), "--config", str(folder / "run.toml"), "--resume"]
main()
"""


FROM_A_STORE = """
import atexit
import regard.training.prepare as prepare

# what is registered first is called last
atexit.register(lambda: (folder / f"left-{rank}").write_text(str(not torch.distributed.is_initialized())))
from regard.tasks.base import Task

prepare._CHUNK = 5
options = json.loads((folder / "options.json").read_text())
files = options["data"].pop("train")
report = prepare.prepare_store(folder / "together", files, options)
read = []
share = Task.share

def record(self, members):
    own = share(self, members)
    read.extend(own)
    return own

Task.share = record
config = configure(options, {"data": {"train": [str(folder / "together")]}})
run_training(folder / "run", config, page=False)
(folder / f"read-{rank}.json").write_text(json.dumps([report, read]))
"""


def weights(folder):
    """The weights after each update whose checkpoint is kept."""
    files = (folder / "checkpoints").glob("*.safetensors")
    return {
        path.name: torch.cat([tensor.flatten() for tensor in load_file(path).values()])
        for path in sorted(files)
        if ".state." not in path.name
    }


def validated(folder):
    """The updates that validations followed, by the log."""
    return [row["update"] for row in read_log(folder) if row["event"] == "validation"]


@pytest.fixture
def files(tmp_path, pairs):
    """36 training pairs and 10 validation pairs, as the options of a run name them."""
    for name, chosen in (("train", pairs(36)), ("valid", pairs(10, seed=1))):
        text = "".join(f"{pair.source}\t{pair.target}\n" for pair in chosen)
        (tmp_path / f"{name}.tsv").write_text(text)
        (tmp_path / f"{name}.txt").write_text("".join(f"{pair.source}\n" for pair in chosen))
    return {
        kind: {name: [str(tmp_path / f"{name}.{kind}")] for name in ("train", "valid")}
        for kind in ("tsv", "txt")
    }


def test_two_processes_train_as_one(tmp_path, files, run_config, torchrun):
    # five sentences to a batch, so that shares differ, and one batch of a single sentence, of which one has nothing
    each_kept = {
        "training": {
            "optimizer": "sgd",
            "learning_rate": 0.5,
            "batch_sentences": 5,
            "max_updates": 8,  # an epoch
            "validate_every": 1,
            "keep_last": 99,
            "threads": 1,
        }
    }
    dropout = {
        "model": {"encoder": {"dropout": 0.3}, "decoder": {"dropout": 0.3}},
        "auxiliary_losses": {"scheduled_sampling": 0.3},
        "training": {"max_updates": 10, "validate_every": 4, "threads": 1},
    }
    runs = {
        "pairs": run_config(data=files["tsv"], **each_kept),
        "accumulated": run_config(
            data=files["tsv"], training={**each_kept["training"], "accumulate": 2, "normalize": "sentences"}
        ),
        "text": configure(
            {
                "task": "language_model",
                "data": {"mode": "continuous", "steps": 4, **files["txt"]},
                "model": {"embedding_size": 4, "state_size": 4, "dropout": 0.0},
                "training": {**each_kept["training"], "device": "cpu", "max_epochs": 0.0},
            }
        ),
        "dropout": run_config(data=files["tsv"], **dropout),
    }
    assert {len(batch) for batch in TranslateTask(runs["pairs"]).plan(0)} == {1, 5}
    (tmp_path / "runs.json").write_text(json.dumps({name: run.to_mapping() for name, run in runs.items()}))
    (tmp_path / "together.py").write_text(PRELUDE + TRAIN_ALL)
    begun = {**each_kept["training"], "max_updates": 3}
    run_training(tmp_path / "grown", run_config(data=files["tsv"], training=begun))
    done = torchrun(tmp_path / "together.py", tmp_path)
    assert done.returncode == 0, done.stderr

    for name in ("pairs", "accumulated", "text"):
        run_training(tmp_path / "alone" / name, runs[name])
        one, two = weights(tmp_path / "alone" / name), weights(tmp_path / name)
        assert one.keys() == two.keys()
        assert len(one) == 8
        # the same sums in another order: float32 rounds at 6e-8, and each update starts from the rounding before it
        for after in one:
            torch.testing.assert_close(two[after], one[after], rtol=1e-5, atol=1e-6)
        logs = [read_log(path / name) for path in (tmp_path / "alone", tmp_path)]
        losses = [[row["loss"] for row in log if row["event"] == "train"] for log in logs]
        assert losses[0] == pytest.approx(losses[1], rel=1e-6)
        assert [len(log) for log in logs] == [len(logs[0])] * 2

    # begun by one process and finished by two: the same place in the data, and the same updates
    one, grown = weights(tmp_path / "alone" / "pairs"), weights(tmp_path / "grown")
    assert one.keys() == grown.keys()
    for after in one:
        torch.testing.assert_close(grown[after], one[after], rtol=1e-5, atol=1e-6)
    assert validated(tmp_path / "grown") == list(range(1, 9))

    (stopped, heard), (other, silent) = (
        json.loads((tmp_path / f"heard-{rank}.json").read_text()) for rank in (0, 1)
    )
    assert stopped == other == "SIGTERM"
    assert "stopped by SIGTERM after update 5, with a checkpoint" in heard
    assert "resumed after update 5" in heard
    assert silent == []
    whole, cut = (load_file(tmp_path / name / "last.safetensors") for name in ("dropout", "stopped"))
    assert all(torch.equal(whole[name], cut[name]) for name in whole), "dropout goes on in each process"
    assert validated(tmp_path / "stopped") == [4, 8, 10]

    heard = []
    longer = run_config(data=files["tsv"], **{**dropout, "training": {"max_updates": 12, "threads": 1}})
    trained = run_training(tmp_path / "stopped", longer, resume=True, listener=heard.append)
    assert trained.result.updates == 12
    assert any("processes: 2 before, 1 now" in getattr(event, "text", "") for event in heard)


def test_two_processes_prepare_and_train_from_a_store(tmp_path, files, run_config, torchrun):
    """The store of one process to the byte; in an epoch every example once, in one of the processes."""
    training = {"optimizer": "sgd", "learning_rate": 0.5, "batch_sentences": 5, "threads": 1, "keep_last": 99}
    config = run_config(
        data=files["tsv"], training={**training, "max_updates": 0, "validate_every": 1, "max_epochs": 1.0}
    )
    (tmp_path / "options.json").write_text(json.dumps(config.to_mapping()))
    (tmp_path / "stored.py").write_text(PRELUDE + FROM_A_STORE)
    done = torchrun(tmp_path / "stored.py", tmp_path)
    assert done.returncode == 0, done.stderr
    left = [(tmp_path / f"left-{rank}").read_text() for rank in (0, 1)]
    assert left == ["True", "True"], (
        "threads of the group that outlive Python abort the process, now and then"
    )

    options = config.to_mapping()
    text = options["data"].pop("train")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepare, "_CHUNK", 5)
        report = prepare.prepare_store(tmp_path / "alone", text, options)
    names = sorted(path.name for path in (tmp_path / "alone").iterdir() if path.name != LOCK)
    assert len([name for name in names if name.endswith(".arrow")]) > 5
    assert names == sorted(path.name for path in (tmp_path / "together").iterdir() if path.name != LOCK)
    for name in names:
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "together" / name).read_bytes(), name

    (first, one), (other, two) = (json.loads((tmp_path / f"read-{rank}.json").read_text()) for rank in (0, 1))
    assert first == other == report
    assert len(one) > len(two) > 10
    assert sorted(one + two) == list(range(report["kept"])), "an epoch without overlap or loss"
    data = {"data": {"train": [str(tmp_path / "alone")]}}
    run_training(tmp_path / "single", configure(options, data), page=False)
    single, several = weights(tmp_path / "single"), weights(tmp_path / "run")
    assert single.keys() == several.keys()
    for after in single:
        torch.testing.assert_close(several[after], single[after], rtol=1e-5, atol=1e-6)


def test_a_process_that_is_killed_is_an_error_and_the_run_goes_on(tmp_path, files, run_config, torchrun):
    """torchrun starts all processes again, and --resume does the rest."""
    config = run_config(data=files["tsv"], training={"max_updates": 10, "validate_every": 4, "threads": 1})
    (tmp_path / "run.toml").write_text(write_toml(config.to_mapping()))
    (tmp_path / "killed_once.py").write_text(PRELUDE + KILLED_ONCE)
    done = torchrun(tmp_path / "killed_once.py", tmp_path, restarts=1)
    assert done.returncode == 0, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, done.stderr
    assert re.match(r"error: another of the 2 processes has ended .*--resume", errors[0])
    assert done.stderr.count("resumed after update 4") == 1
    assert done.stdout.count("trained") == 1
    run_training(tmp_path / "unbroken", config)
    assert validated(tmp_path / "run") == [4, 8, 10]
    one, two = (load_file(tmp_path / name / "last.safetensors") for name in ("unbroken", "run"))
    for name in one:  # Adam divides by small numbers, so that rounding is larger than in sums
        torch.testing.assert_close(two[name], one[name], rtol=1e-3, atol=1e-4)


def test_processes_that_read_other_data_are_refused(tmp_path, files):
    first, same = fingerprint(files["tsv"]), fingerprint(files["tsv"])
    refuse_unlike_data([first, same])
    (tmp_path / "train.tsv").write_text("a\tb\n")
    with pytest.raises(DataError, match=r"data\.train: process 2 reads other data than process 0; give all"):
        refuse_unlike_data([first, same, fingerprint(files["tsv"])])
