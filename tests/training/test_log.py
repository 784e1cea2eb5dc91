import json
import sys

import pytest

from regard.checkpoint import read_log
from regard.errors import DataError, MissingExtraError
from regard.training.log import TrainingLog


def test_rows_are_json_lines_on_disk_at_once(tmp_path):
    with TrainingLog(tmp_path) as log:
        for update in range(3):
            log.write("train", update, loss=0.5, name="œuf\n")
            lines = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
            assert len(lines) == update + 1
            assert json.loads(lines[-1]) == {"event": "train", "update": update, "loss": 0.5, "name": "œuf\n"}
    assert read_log(tmp_path) == [json.loads(line) for line in lines]


def test_a_line_that_a_killed_run_left_unfinished(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"event": "start", "update": 0}\n{"event": "tra')
    assert read_log(tmp_path) == [{"event": "start", "update": 0}]


def test_no_journal(tmp_path):
    assert read_log(tmp_path) == []


def test_tensorboard_files_hold_the_numbers(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with TrainingLog(tmp_path, tensorboard=True) as log:
        log.write("train", 1, loss=0.5, note="no number")
        log.write("train", 2, loss=0.25)
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert events.Tags()["scalars"] == ["train/loss"]
    assert [(row.step, row.value) for row in events.Scalars("train/loss")] == [(1, 0.5), (2, 0.25)]


def test_no_tensorboard_unless_asked_for(tmp_path):
    with TrainingLog(tmp_path) as log:
        log.write("train", 1, loss=0.5)
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


def test_tensorboard_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(
        MissingExtraError, match=r"training.tensorboard needs tensorboard, .*: pip install tensorboard"
    ):
        TrainingLog(tmp_path, tensorboard=True)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"none/log.jsonl: cannot be written .*choose another folder"):
        TrainingLog(tmp_path / "none")


def test_a_full_disk_is_one_error_and_no_other_behind_it(tmp_path, largest_file):
    """Closing the file tries to write the lost row once more; that failure must not hide the first."""

    def fill():
        with TrainingLog(tmp_path) as log:
            for update in range(3):
                log.write("train", update, text="x" * 50)

    with (
        largest_file(120),
        pytest.raises(DataError, match=r"log.jsonl: cannot be written \(.*\); free some space"),
    ):
        fill()
    assert read_log(tmp_path)[0]["update"] == 0
