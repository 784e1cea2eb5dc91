"""Stopped anywhere and resumed is the run that never stopped: weights to the bit, log line by line."""

import json
import os
import shutil
import signal
import tomllib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from regard.checkpoint import ModelFolder, read_log
from regard.errors import ConfigError, DataError, FolderError, RegardError
from regard.io import LOCK
from regard.tasks.translate.task import TranslateTask
from regard.tensors import read_tensors, write_tensors
from regard.training import loop as loop_module
from regard.training import state as state_module
from regard.training.configure import configure
from regard.training.loop import Loop
from regard.training.progress import Note, Progress, Validated
from regard.training.run import run_training
from regard.training.signals import StoppedTraining
from regard.training.state import Checkpoints, TrainingState

NEVER = 10**9
TIMES = ("seconds", "tokens_per_second", "training_seconds")


class Killed(BaseException):
    """Ends a run on the spot."""


def rows(folder):
    """The log without what depends on the clock, and without the rows that say where a run was resumed."""
    return [
        {key: value for key, value in row.items() if key not in TIMES}
        for row in read_log(folder)
        if row["event"] != "resume"
    ]


def tensors(folder, name="last"):
    """The bytes of every tensor of a checkpoint, and its facts."""
    path = folder / f"{name}.safetensors"
    with safetensors.safe_open(path, framework="np") as file:
        facts = json.loads(file.metadata()["facts"])
    assert len(facts.pop("sha256")) == 64
    return {key: value.tobytes() for key, value in safetensors.numpy.load_file(path).items()}, facts


def same_run(one, other):
    for name in ("best", "last"):
        assert tensors(one, name) == tensors(other, name)
    assert rows(one) == rows(other)
    reports = [json.loads((folder / "report.json").read_text()) for folder in (one, other)]
    for report in reports:
        del report["train_seconds"], report["tokens_per_second"]
    assert reports[0] == reports[1]


@pytest.fixture
def kill(monkeypatch):
    """Let a run die before its n-th call of a function; the calls of all functions given are counted together."""

    def at(number, *owners_and_names):
        count = 0

        def spy(owner, name):
            real = getattr(owner, name)

            def call(*args, **options):
                nonlocal count
                count += 1
                if count == number:
                    raise Killed
                return real(*args, **options)

            monkeypatch.setattr(owner, name, call)

        for owner, name in owners_and_names:
            spy(owner, name)

    return at


TRANSLATE = {
    "model": {
        "encoder": {"embedding_size": 3, "state_size": 4, "dropout": 0.2, "recurrent_dropout": 0.1},
        "decoder": {"embedding_size": 3, "state_size": 4, "attention": {"size": 3}, "dropout": 0.2},
    },
    "tokenizer": {"source": "word", "target": "word"},
}
PAIRS = [(f"{a} {b} {c}", f"{c} {b} {a}".upper()) for a in "abcd" for b in "abc" for c in "xyz"]
LINES = [(f"{a} {b} {c} {a}",) for a in "abcd" for b in "abc" for c in "xyz"]
TEXTS = [
    (label, f"{word} {more}") for label, word in (("x", "a"), ("y", "b"), ("z", "c")) for more in "defghij"
]
TAGGED = [(f"{a} {b}", "A B") for a in "abcd" for b in "efgh"]
VECTORS = [(np.array([k, k % 3, 1.0], dtype=np.float32), f"{'abc'[k % 3]} {'de'[k % 2]}") for k in range(24)]
SMALL = {"encoder": {"embedding_size": 3, "state_size": 4}}
RUNS = {
    "adam": (TRANSLATE, PAIRS),
    "adadelta, accumulated": ({**TRANSLATE, "training": {"optimizer": "adadelta", "accumulate": 2}}, PAIRS),
    "sgd with momentum on a plateau": (
        {**TRANSLATE, "training": {"optimizer": "sgd", "momentum": 0.9, "schedule": "plateau"}},
        PAIRS,
    ),
    "scheduled sampling, cosine": (
        {
            **TRANSLATE,
            "training": {"schedule": "cosine", "warmup": 2},
            "auxiliary_losses": {"scheduled_sampling": 0.5},
        },
        PAIRS,
    ),
    "unfreezing": (
        {**TRANSLATE, "training": {"unfreeze_every": 0.5, "depth_decay": 0.5}},
        PAIRS,
    ),
    "moving average, mean of the best": (
        {**TRANSLATE, "training": {"moving_average": 0.9, "average_best": 2}},
        PAIRS,
    ),
    "bf16": ({**TRANSLATE, "training": {"precision": "bf16"}}, PAIRS),
    "continuous text": (
        {
            "task": "language_model",
            "data": {"mode": "continuous", "steps": 4},
            "model": {"embedding_size": 4, "state_size": 4, "num_layers": 2, "dropout": 0.2},
        },
        LINES,
    ),
    "lines": (
        {
            "task": "language_model",
            "data": {"mode": "sentences"},
            "model": {"embedding_size": 4, "state_size": 4},
        },
        LINES,
    ),
    "classifier": ({"task": "classify", "model": SMALL}, TEXTS),
    "tagger": ({"task": "tag", "model": SMALL}, TAGGED),
    "captioner": (
        {"task": "caption", "model": {"decoder": {"embedding_size": 3, "state_size": 4}}},
        VECTORS,
    ),
}


def build(name, **training):
    options, examples = RUNS[name]
    base = {
        "max_updates": 14,
        "max_epochs": 0,
        "validate_every": 4,
        "batch_sentences": 5,
        "batch_tokens": 40,
        "device": "cpu",
        "checkpoint_minutes": 0,
        "patience": 0,
        "schedule": "constant",
        "warmup": 0,
        "select": "loss",
        "learning_rate": 0.001,
    }
    config = configure({**options, "training": {**base, **options.get("training", {}), **training}})
    return config, examples


@pytest.mark.parametrize("name", RUNS)
def test_killed_and_resumed_is_the_run_that_never_stopped(tmp_path, kill, monkeypatch, name):
    """Killed before the 7th update: after the checkpoint of update 4, whose work of two updates is done again."""
    config, examples = build(name)
    run_training(tmp_path / "whole", config, train=examples)
    kill(7, (Loop, "_update"))
    with pytest.raises(Killed):
        run_training(tmp_path / "killed", config, train=examples)
    monkeypatch.undo()
    assert not (tmp_path / "killed" / "report.json").exists()
    heard = []
    run_training(tmp_path / "killed", config, train=examples, resume=True, listener=heard.append)
    assert Note("resumed after update 4") in heard
    same_run(tmp_path / "killed", tmp_path / "whole")


@pytest.mark.parametrize("number", range(1, 40, 3))
def test_killed_at_any_write_and_resumed_twice(tmp_path, kill, monkeypatch, number):
    """Every file passes through one of these: log rows, weights, states, links and what is removed."""
    config, examples = build("adam", checkpoint_minutes=1e-9, keep_best=2)
    run_training(tmp_path / "whole", config, train=examples)
    places = (
        *((state_module, "write_tensors"), (state_module, "link_whole"), (Path, "unlink")),
        *((Loop, "_report"), (Loop, "_validate")),
    )
    for _ in range(2):
        kill(number, *places)
        with suppress(Killed):
            run_training(tmp_path / "killed", config, train=examples, resume=True)
        monkeypatch.undo()
    run_training(tmp_path / "killed", config, train=examples, resume=True)
    same_run(tmp_path / "killed", tmp_path / "whole")


@pytest.mark.parametrize("size", [600, 3000, 4500])
def test_a_disk_that_was_full(tmp_path, largest_file, size):
    """The kernel lets no file grow beyond some size after the first validation: the log, the weights or the state."""
    config, examples = build("adam")
    run_training(tmp_path / "whole", config, train=examples)
    limit = largest_file(size)

    def fill_up(event):
        if isinstance(event, Validated) and event.update == 4:
            limit.__enter__()

    try:
        with pytest.raises(RegardError, match=r"cannot be written .* free some space"):
            run_training(tmp_path / "full", config, train=examples, listener=fill_up)
    finally:
        limit.__exit__(None, None, None)
    run_training(tmp_path / "full", config, train=examples, resume=True)
    same_run(tmp_path / "full", tmp_path / "whole")


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_again(tmp_path, kill, monkeypatch):
    config, examples = build("adam")
    run_training(tmp_path / "whole", config, train=examples)
    kill(2, (Loop, "_update"))
    with pytest.raises(Killed):
        run_training(tmp_path / "killed", config, train=examples, resume=True)
    monkeypatch.undo()
    run_training(tmp_path / "killed", config, train=examples, resume=True)
    same_run(tmp_path / "killed", tmp_path / "whole")


def test_more_updates_of_a_finished_run(tmp_path):
    """With a constant learning rate, they are those of a run that was that long from the beginning."""
    short, examples = build("adam", max_updates=8)
    long, _ = build("adam", max_updates=14)
    run_training(tmp_path / "whole", long, train=examples)
    run_training(tmp_path / "grown", short, train=examples)
    trained = run_training(tmp_path / "grown", long, train=examples, resume=True)
    assert trained.result.updates == 14
    events = [(row["event"], row["update"]) for row in rows(tmp_path / "grown")]
    assert events == [(row["event"], row["update"]) for row in rows(tmp_path / "whole")], "one end, not two"
    assert tensors(tmp_path / "grown") == tensors(tmp_path / "whole")
    assert tomllib.loads((tmp_path / "grown" / "train.toml").read_text())["training"]["max_updates"] == 14


def test_another_schedule_of_a_finished_run(tmp_path):
    constant, examples = build("adam", max_updates=8)
    falling, _ = build("adam", max_updates=12, schedule="linear", learning_rate=0.01)
    run_training(tmp_path / "run", constant, train=examples)
    run_training(tmp_path / "run", falling, train=examples, resume=True)
    rates = {row["update"]: row["learning_rate"] for row in rows(tmp_path / "run") if "learning_rate" in row}
    assert rates == {1: constant.training.learning_rate, 10: pytest.approx(0.01 * (1 - 9 / 12))}


def test_a_finished_run_stays_as_it_is(tmp_path):
    config, examples = build("adam")
    run_training(tmp_path / "run", config, train=examples)
    shutil.copytree(tmp_path / "run", tmp_path / "before")
    again = run_training(tmp_path / "run", config, train=examples, resume=True)
    assert again.result.stopped == "14 updates are done"
    same_run(tmp_path / "run", tmp_path / "before")


def test_patience_goes_on(tmp_path, kill, monkeypatch):
    config, examples = build("adam", learning_rate=0.0, patience=2, max_updates=100)
    run_training(tmp_path / "whole", config, train=examples)
    kill(10, (Loop, "_update"))
    with pytest.raises(Killed):
        run_training(tmp_path / "killed", config, train=examples)
    monkeypatch.undo()
    trained = run_training(tmp_path / "killed", config, train=examples, resume=True)
    assert trained.result.updates == 12
    assert trained.result.stopped == "2 validations without a better loss"
    same_run(tmp_path / "killed", tmp_path / "whole")


def test_time_already_spent_counts(tmp_path, monkeypatch):
    """The clock says when the run ends and how far the learning rate has fallen."""
    import time

    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    config, examples = build("adam", max_updates=0, max_minutes=2, schedule="linear", validate_every=3)

    def pass_time(event):
        clock[0] += 10 if isinstance(event, Validated) else 0
        if isinstance(event, Validated) and event.update == 12:
            raise Killed

    with pytest.raises(Killed):
        run_training(tmp_path / "run", config, train=examples, listener=pass_time)
    clock[0] += 5000.0  # between the two
    trained = run_training(tmp_path / "run", config, train=examples, resume=True, listener=pass_time)
    # the time after the last checkpoint, of update 12, is lost with the work: 30 s are saved, then 9 validations
    assert trained.result.stopped == "its time, 2 min, is over"
    assert trained.result.updates == 36 + 3
    last = [row["learning_rate"] for row in rows(tmp_path / "run") if row["event"] == "train"][-1]
    assert last == pytest.approx(config.training.learning_rate * (1 - 80 / 120)), "at update 30"


class TestDamage:
    @pytest.fixture
    def folder(self, tmp_path, kill, monkeypatch):
        config, examples = build("adam")
        run_training(tmp_path / "whole", config, train=examples)
        kill(11, (Loop, "_update"))
        with pytest.raises(Killed):
            run_training(tmp_path / "run", config, train=examples)
        monkeypatch.undo()
        return tmp_path / "run"

    def spoil(self, path):
        content = bytearray(path.read_bytes())
        content[-3] ^= 4
        path.write_bytes(content)

    @pytest.mark.parametrize("kind", ["safetensors", "state.safetensors"])
    def test_the_checkpoint_before_is_taken(self, folder, kind):
        self.spoil(folder / "checkpoints" / f"00000008.{kind}")
        config, examples = build("adam")
        heard = []
        run_training(folder, config, train=examples, resume=True, listener=heard.append)
        assert "the checkpoint of update 8 cannot be used: " in heard[0].text
        assert "checksum" in heard[0].text
        assert Note("resumed after update 4") in heard
        same_run(folder, folder.parent / "whole")

    def test_a_damaged_one_behind_the_newest_does_no_harm(self, folder):
        self.spoil(folder / "checkpoints" / "00000004.state.safetensors")
        (folder / "checkpoints" / "00000004.safetensors").write_bytes(b"")
        config, examples = build("adam")
        run_training(folder, config, train=examples, resume=True)
        same_run(folder, folder.parent / "whole")

    @pytest.mark.parametrize("is_gone", [True, False])
    def test_the_best_weights_behind_the_newest_are_replaced(self, folder, is_gone):
        """Else the run would end with a best model that nothing can load."""
        path = folder / "checkpoints" / "00000004.state.safetensors"
        newest = folder / "checkpoints" / "00000008.state.safetensors"
        (_, before), (held, facts) = read_tensors(path), read_tensors(newest)
        write_tensors(newest, held, {**facts, "ranked": before["ranked"]})  # as if update 4 had been the best
        weights = folder / "checkpoints" / "00000004.safetensors"
        weights.unlink() if is_gone else self.spoil(weights)
        config, examples = build("adam")
        heard = []
        trained = run_training(folder, config, train=examples, resume=True, listener=heard.append)
        assert "the weights of update 4, among the best, cannot be used: " in heard[0].text
        assert Note("resumed after update 8") in heard
        assert trained.result.best_update in (8, 12, 14)
        assert ModelFolder(folder).load("best").facts["update"] == trained.result.best_update

    def test_all_are_damaged(self, folder):
        for path in (folder / "checkpoints").iterdir():
            path.write_bytes(b"")
        config, examples = build("adam")
        with pytest.raises(
            FolderError, match="checkpoints: every checkpoint is damaged; copy the folder again"
        ):
            run_training(folder, config, train=examples, resume=True)

    def test_files_of_others_are_left_alone(self, folder):
        (folder / "checkpoints" / "notes.safetensors").write_bytes(b"mine")
        config, examples = build("adam")
        run_training(folder, config, train=examples, resume=True)
        assert (folder / "checkpoints" / "notes.safetensors").read_bytes() == b"mine"


class TestHostile:
    """A folder to resume that someone has forged: an error, and no traceback, no hang."""

    @pytest.fixture
    def folder(self, tmp_path):
        config, examples = build("adam", max_updates=4, validate_every=2)
        return run_training(tmp_path / "run", config, train=examples, page=False).folder

    def resume(self, folder, name="adam", **training):
        config, examples = build(name, **{"max_updates": 6, "validate_every": 2, **training})
        heard = []
        trained = run_training(folder, config, train=examples, page=False, resume=True, listener=heard.append)
        return trained, [each.text for each in heard if isinstance(each, Note)]

    @pytest.mark.parametrize("name", ["run.json", "log.jsonl", "report.json"])
    @pytest.mark.parametrize("replace", [os.mkfifo, os.mkdir])
    def test_something_else_in_place_of_a_file(self, folder, name, replace):
        (folder / name).unlink()
        replace(folder / name)
        if (name, replace) == ("report.json", os.mkfifo):
            self.resume(folder)  # it is removed in any case
        else:
            with pytest.raises(RegardError, match=rf"{name}: (damaged|cannot be)"):
                self.resume(folder)

    @pytest.mark.parametrize("kind", ["safetensors", "state.safetensors"])
    def test_a_folder_in_place_of_a_checkpoint(self, folder, kind):
        path = folder / "checkpoints" / f"00000004.{kind}"
        path.unlink()
        path.mkdir()
        # the one before it is taken, until there is a checkpoint of update 4 again
        with pytest.raises(RegardError, match=r"checkpoint not saved: .*cannot be written"):
            self.resume(folder)
        path.rmdir()
        assert "resumed after update 2" in self.resume(folder)[1]

    @pytest.mark.parametrize(
        "forged",
        [
            [],
            {"data": {}, "sessions": []},
            {"data": {"train": 3}},
            {"data": {"train": [3]}},
            {"data": []},
            {"sessions": [{"threads": 1}]},
            {"sessions": [{"threads": 10**9, "versions": {}, "machine": "", "device": ""}]},
        ],
    )
    def test_another_description_of_the_run(self, folder, forged):
        path = folder / "run.json"
        known = json.loads(path.read_text())
        path.write_text(json.dumps({**known, **forged} if isinstance(forged, dict) else forged))
        with pytest.raises(FolderError, match=r"run.json: damaged: .*; copy the folder again"):
            self.resume(folder)
        path.write_text("[" * 100_000)
        with pytest.raises(FolderError, match=r"run.json: damaged: nested too deeply"):
            self.resume(folder)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("updates", 5),
            ("updates", []),
            ("log_size", [3]),
            ("epoch", 10**400),
            ("position", -5),
            ("losses", ["x"]),
            ("losses", 3),
            ("ranked", [{"update": {}, "validation": {"loss": 1.0, "scores": {}}}]),
            ("ranked", [{"update": 4, "validation": {"loss": 1.0, "scores": {"bleu": "x"}}}]),
            ("ranked", [3]),
            ("ranked", []),
            ("guard", {"initial": 1.0}),
            ("guard", {"x": 1}),
            ("scaler", 3),
            ("validated_at", True),
            ("x", 1),
        ],
    )
    def test_a_forged_state_with_the_right_checksum(self, folder, name, value):
        path = folder / "checkpoints" / "00000004.state.safetensors"
        held, facts = read_tensors(path)
        write_tensors(path, held, {**facts, name: value})
        _, notes = self.resume(folder)
        assert notes[0].startswith("the checkpoint of update 4 cannot be used: ")
        assert "resumed after update 2" in notes

    def test_a_state_without_all_of_it(self, folder):
        path = folder / "checkpoints" / "00000004.state.safetensors"
        held, facts = read_tensors(path)
        del facts["ranked"]
        write_tensors(path, held, facts)
        assert "cannot be used" in self.resume(folder)[1][0]

    @pytest.mark.parametrize(
        ("name", "forge"),
        [
            ("adam", lambda held: held.pop("random/cpu")),
            ("adam", lambda held: held.update({"random/cpu": held["random/cpu"][:9]})),
            ("adam", lambda held: held.update({"optimizer/x/step": torch.zeros(())})),
            ("adam", lambda held: held.update({"optimizer/encoder.embedding.E/x": torch.zeros(())})),
            ("adam", lambda held: held.pop("optimizer/encoder.embedding.E/exp_avg")),
            ("adam", lambda held: held.update({"optimizer/encoder.embedding.E/exp_avg": torch.zeros(3)})),
            ("adam", lambda held: held.update({"optimizer/encoder.embedding.E/step": torch.zeros(3)})),
            ("adam", lambda held: held.update({"task/sampling": torch.zeros(3)})),
            ("continuous text", lambda held: held.pop("task/0001/0")),
            ("continuous text", lambda held: held.update({"task/0001/0": torch.zeros(3, 3)})),
        ],
    )
    def test_forged_tensors_with_the_right_checksum(self, tmp_path, name, forge):
        config, examples = build(name, max_updates=2)
        folder = run_training(tmp_path / "run", config, train=examples, page=False).folder
        path = folder / "checkpoints" / "00000002.state.safetensors"
        held, facts = read_tensors(path)
        forge(held)
        write_tensors(path, held, facts)
        message = (
            r"the state of the checkpoint after update 2 does not fit this run \(.*\); copy the folder again"
        )
        with pytest.raises(FolderError, match=message):
            self.resume(folder, name)

    def test_a_place_beyond_the_epoch(self, folder):
        path = folder / "checkpoints" / "00000004.state.safetensors"
        held, facts = read_tensors(path)
        write_tensors(path, held, {**facts, "position": 1000})
        with pytest.raises(FolderError, match=r"does not fit this run \(update 1,000 of an epoch\)"):
            self.resume(folder)

    def test_a_validation_without_the_score_that_selects(self, folder):
        path = folder / "checkpoints" / "00000004.state.safetensors"
        held, facts = read_tensors(path)
        for each in facts["ranked"]:
            del each["validation"]["scores"]["bleu"]
        write_tensors(path, held, facts)
        with pytest.raises(FolderError, match=r"does not fit this run \(a validation without BLEU\)"):
            self.resume(folder, select="bleu")

    def test_best_weights_that_are_gone(self, tmp_path):
        name = "moving average, mean of the best"
        config, examples = build(name, max_updates=4, validate_every=2)
        folder = run_training(tmp_path / "run", config, train=examples, page=False).folder
        (folder / "checkpoints" / "00000002.safetensors").unlink()
        _, notes = self.resume(folder, name, max_updates=4)
        assert notes[0].startswith("the weights of update 2, among the best, cannot be used: ")
        assert not any("that was the mean" in note for note in notes), "one is left"

    def test_the_lock_is_no_link_to_a_file_of_the_user(self, folder, tmp_path):
        (tmp_path / "mine").write_text("precious")
        (folder / LOCK).symlink_to(tmp_path / "mine")
        with pytest.raises(DataError, match="run: cannot be written to"):
            self.resume(folder)
        assert (tmp_path / "mine").read_text() == "precious"


def test_another_score_selects_from_then_on(tmp_path):
    config, examples = build("adam", max_updates=4, select="bleu")
    run_training(tmp_path, config, train=examples, page=False)
    config, examples = build("adam", max_updates=8, select="wer")
    report = run_training(tmp_path, config, train=examples, page=False, resume=True).report
    assert (report["best_update"], "wer" in report["validation"]) == (8, True)


class TestRefused:
    @pytest.fixture
    def folder(self, tmp_path):
        config, examples = build("adam", max_updates=4)
        return run_training(tmp_path / "run", config, train=examples).folder

    def test_a_run_that_is_there_without_resume(self, folder):
        config, examples = build("adam")
        with pytest.raises(DataError, match=r"holds a model already; .* or go on training it with --resume"):
            run_training(folder, config, train=examples)

    def test_other_data(self, folder):
        config, examples = build("adam")
        with pytest.raises(
            DataError, match=r"data.train: the examples: not the data that the run in .* began"
        ):
            run_training(folder, config, train=examples[:-1], resume=True)

    def test_another_file(self, tmp_path):
        lines = [f"{source}\t{target}\n" for source, target in PAIRS]
        for name, order in (("one.tsv", lines), ("same.tsv", lines), ("other.tsv", lines[::-1])):
            (tmp_path / name).write_text("".join(order))

        def config(name):
            return configure(
                {
                    **build("adam")[0].to_mapping(),
                    "data": {"train": [str(tmp_path / name)]},
                    "preset": "rnnsearch-small",
                }
            )

        run_training(tmp_path / "run", config("one.tsv"))
        run_training(tmp_path / "run", config("same.tsv"), resume=True)  # moved, perhaps
        with pytest.raises(DataError, match=r"data.train: .*other.tsv: not the data"):
            run_training(tmp_path / "run", config("other.tsv"), resume=True)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            (
                {"model": {"decoder": {"state_size": 8}}},
                r"model.decoder.state_size: 4 in the run of .*, and 8 now",
            ),
            (
                {"training": {"seed": 2}},
                r"training.seed: 1 in the run of .*, and 2 now; a resumed run can change only",
            ),
            ({"training": {"batch_tokens": 50}}, "training.batch_tokens: 40 in the run"),
            ({"data": {"max_length": 2}}, "data.max_length: 80 in the run .* regard train NEW --from"),
        ],
    )
    def test_another_model_or_order(self, folder, changes, message):
        config, examples = build("adam")
        from regard.config import merge

        changed = configure(merge(config.to_mapping(), changes))
        with pytest.raises(ConfigError, match=message):
            run_training(folder, changed, train=examples, resume=True)

    def test_weights_without_checkpoints(self, folder):
        shutil.rmtree(folder / "checkpoints")
        ModelFolder(folder).load()
        config, examples = build("adam")
        with pytest.raises(DataError, match="no checkpoint to resume from; start a new run from its weights"):
            run_training(folder, config, train=examples, resume=True)


def test_what_is_kept(tmp_path, run_config):
    """The last k with their states; the weights that one of them ranks among the best."""
    from regard.tasks.base import Validation
    from regard.training.state import RankedValidation

    folder = ModelFolder(tmp_path)
    model = ModelFolder(Path(__file__).parents[1] / "fixtures" / "format-3" / "classify").load().model
    checkpoints = Checkpoints(folder, keep_last=2)
    state = TrainingState()
    for update, loss in ((4, 3.0), (8, 1.0), (12, 2.0), (16, 1.5), (20, 4.0)):
        state.updates = update
        best = state.rank(Validation(loss, {}), "loss", 2)
        assert best == (update in (4, 8))
        checkpoints.write(state, model, {"update": update})
    assert state.ranked == [
        RankedValidation(8, Validation(1.0, {})),
        RankedValidation(16, Validation(1.5, {})),
    ]
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    # 16 and 20 are the last; both rank 8 and 16
    assert names == [
        *("00000008.safetensors", "00000016.safetensors", "00000016.state.safetensors"),
        *("00000020.safetensors", "00000020.state.safetensors"),
    ]
    assert (tensors(tmp_path, "best")[1], tensors(tmp_path, "last")[1]) == ({"update": 8}, {"update": 20})


def test_the_folder_says_what_the_run_was_made_of(tmp_path):
    config, examples = build("adam", max_updates=2)
    run_training(tmp_path / "run", config, train=examples)
    config, _ = build("adam", max_updates=3)
    run_training(tmp_path / "run", config, train=examples, resume=True)
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["data"]["train"]["examples"] == len(examples)
    assert len(run["data"]["train"]["sha256"]) == 64
    assert [session["update"] for session in run["sessions"]] == [0, 2]
    for session in run["sessions"]:
        assert {"python", "regard", "torch", "numpy", "tokenizers"} <= session["versions"].keys()
        assert session["command"]
        assert session["threads"] == 1


def test_threads_are_those_of_the_session_before_unless_others_are_given(tmp_path):
    config, examples = build("adam", max_updates=2, threads=2)
    run_training(tmp_path / "run", config, train=examples)
    heard = []
    free, more = (build("adam", max_updates=count, threads=given)[0] for count, given in ((3, 0), (4, 1)))
    run_training(tmp_path / "run", free, train=examples, resume=True, listener=heard.append)
    assert any("training with 2 threads: as before" in note.text for note in heard if isinstance(note, Note))
    assert not any("may differ" in note.text for note in heard if isinstance(note, Note))
    run_training(tmp_path / "run", more, train=examples, resume=True, listener=heard.append)
    assert any("may differ in their last digits" in note.text for note in heard if isinstance(note, Note))
    assert any("threads 2 before, 1 now" in note.text for note in heard if isinstance(note, Note))


class TestSignals:
    """Real signals, sent by a listener to the process itself while it trains."""

    @pytest.mark.parametrize(
        ("number", "name", "status"),
        [(signal.SIGINT, "Ctrl-C", 130), (signal.SIGTERM, "SIGTERM", 143), (signal.SIGHUP, "SIGHUP", 129)],
    )
    def test_a_signal_saves_and_the_run_goes_on(self, tmp_path, monkeypatch, number, name, status):
        config, examples = build("adam")
        run_training(tmp_path / "whole", config, train=examples)
        heard = []
        real = Loop._update

        def hit(loop, group):
            if loop._state.updates == 6:
                os.kill(os.getpid(), number)
            real(loop, group)

        monkeypatch.setattr(Loop, "_update", hit)
        before = signal.getsignal(number)
        with pytest.raises(StoppedTraining) as stopped:
            run_training(tmp_path / "cut", config, train=examples, listener=heard.append)
        assert stopped.value.status == status
        assert heard[-2:] == [
            Note("stopping after this update"),
            Note(f"stopped by {name} after update 7, with a checkpoint"),
        ]
        assert signal.getsignal(number) is before
        monkeypatch.undo()
        run_training(tmp_path / "cut", config, train=examples, resume=True, listener=heard.append)
        assert Note("resumed after update 7") in heard
        same_run(tmp_path / "cut", tmp_path / "whole")

    def test_a_validation_is_broken_off_and_done_again(self, tmp_path, monkeypatch):
        config, examples = build("adam")
        run_training(tmp_path / "whole", config, train=examples)

        def hit(task, device, processes):
            os.kill(os.getpid(), signal.SIGTERM)
            pytest.fail("the validation goes on")

        monkeypatch.setattr(TranslateTask, "measure", hit)
        with pytest.raises(StoppedTraining):
            run_training(tmp_path / "cut", config, train=examples)
        monkeypatch.undo()
        assert [row["event"] for row in rows(tmp_path / "cut")] == ["start", "train"]
        run_training(tmp_path / "cut", config, train=examples, resume=True)
        same_run(tmp_path / "cut", tmp_path / "whole")

    def test_a_second_ctrl_c_waits_for_the_checkpoint_and_a_third_does_not(self, tmp_path, monkeypatch):
        config, examples = build("adam")
        heard = []
        real = Checkpoints.write

        def hit(count):
            def write(checkpoints, state, model, facts):
                for _ in range(count if state.updates == 3 else 0):
                    os.kill(os.getpid(), signal.SIGINT)
                real(checkpoints, state, model, facts)

            return write

        monkeypatch.setattr(loop_module, "_REPORT_EVERY", 1)

        def interrupt_at_3(event):
            heard.append(event)
            if isinstance(event, Progress) and event.update == 3:
                os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(Checkpoints, "write", hit(1))
        with pytest.raises(StoppedTraining):
            run_training(tmp_path / "two", config, train=examples, listener=interrupt_at_3)
        assert Note("waiting for the checkpoint; Ctrl-C once more ends at once") in heard
        assert ModelFolder(tmp_path / "two").load("last").facts["update"] == 3
        monkeypatch.setattr(Checkpoints, "write", hit(2))
        with pytest.raises(KeyboardInterrupt) as ended:
            run_training(tmp_path / "three", config, train=examples, listener=interrupt_at_3)
        assert not isinstance(ended.value, StoppedTraining)
        assert not (tmp_path / "three" / "last.safetensors").exists()

    def test_a_terminal_that_is_gone_does_not_keep_the_checkpoint_from_being_saved(
        self, tmp_path, monkeypatch
    ):
        config, examples = build("adam")
        monkeypatch.setattr(loop_module, "_REPORT_EVERY", 1)
        gone = False

        def listen(event):
            nonlocal gone
            if gone:
                raise OSError(5, "Input/output error")
            if isinstance(event, Progress) and event.update == 3:
                gone = True
                os.kill(os.getpid(), signal.SIGHUP)

        with pytest.raises(StoppedTraining):
            run_training(tmp_path / "run", config, train=examples, listener=listen)
        assert ModelFolder(tmp_path / "run").load("last").facts["update"] == 3

    def test_what_the_process_ignores_stays_ignored(self, tmp_path):
        """As under nohup."""
        config, examples = build("adam", max_updates=2)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            run_training(
                tmp_path / "run",
                config,
                train=examples,
                listener=lambda event: os.kill(os.getpid(), signal.SIGHUP),
            )
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGHUP, before)
