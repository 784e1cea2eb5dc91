"""The loop, through whole runs of a few updates."""

import json
import math
import time

import pytest
import torch

from regard.checkpoint import ModelFolder, read_log
from regard.errors import CheckpointError, DataError, RegardError
from regard.tasks.base import Validation
from regard.tasks.translate.task import TranslateTask
from regard.training import loop
from regard.training.progress import Note, Progress, Validated
from regard.training.run import run_training


@pytest.fixture
def run(tmp_path, run_config, pairs):
    """Train on forty pairs; returns the run and all that was heard of it."""
    number = 0

    def train(listener=None, size=40, **training):
        nonlocal number
        number += 1
        heard = []

        def listen(event):
            heard.append(event)
            if listener is not None:
                listener(event)

        trained = run_training(
            tmp_path / f"model{number}",
            run_config(training=training),
            train=pairs(size),
            valid=pairs(10, seed=1),
            listener=listen,
        )
        return trained, heard

    return train


def weights(folder, name="last"):
    model = ModelFolder(folder).load(name).model
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


class TestDeterminism:
    def test_the_same_seed_gives_the_same_weights(self, run):
        options = {"max_updates": 12, "validate_every": 5, "label_smoothing": 0.1}
        one, _ = run(**options)
        other, _ = run(**options)
        assert torch.equal(weights(one.folder), weights(other.folder))

    def test_with_dropout_too(self, tmp_path, run_config, pairs):
        model = {"encoder": {"dropout": 0.3, "recurrent_dropout": 0.2}, "decoder": {"dropout": 0.3}}
        config = run_config(model=model)
        one, other = (
            run_training(tmp_path / name, config, train=pairs(40), valid=pairs(10)) for name in "ab"
        )
        assert torch.equal(weights(one.folder), weights(other.folder))

    def test_another_seed_gives_others(self, run):
        one, _ = run(seed=1)
        other, _ = run(seed=2)
        assert not torch.equal(weights(one.folder), weights(other.folder))

    def test_looking_does_not_change_the_run(self, run):
        """Validation draws no chance and moves no weight."""
        one, _ = run(max_updates=6, validate_every=1)
        other, _ = run(max_updates=6, validate_every=6)
        assert torch.equal(weights(one.folder), weights(other.folder))


class TestWhenItStops:
    def test_max_updates(self, run):
        trained, _ = run(max_updates=7)
        assert (trained.result.updates, trained.result.stopped) == (7, "7 updates are done")
        assert trained.report["stopped"] == "7 updates are done"

    def test_max_epochs(self, run):
        """Forty pairs in batches of eight are five updates an epoch."""
        trained, _ = run(max_updates=0, max_epochs=1.5)
        assert trained.result.updates == math.ceil(1.5 * 5)
        assert trained.result.epochs == pytest.approx(8 / 5)
        assert trained.result.stopped == "1.5 epochs are done"

    def test_the_first_limit_counts(self, run):
        trained, _ = run(max_updates=3, max_epochs=99)
        assert (trained.result.updates, trained.result.stopped) == (3, "3 updates are done")

    def test_max_minutes(self, run):
        trained, _ = run(max_updates=0, max_minutes=1e-6)
        assert (trained.result.updates, trained.result.stopped) == (1, "its time, 1e-06 min, is over")

    def test_patience(self, run, monkeypatch):
        losses = iter([3.0, 2.0, 2.0, 2.5, 9.0, 9.0])
        script(monkeypatch, lambda real: {"loss": next(losses)})
        trained, heard = run(max_updates=0, patience=2, validate_every=2)
        assert trained.result.stopped == "2 validations without a better loss"
        assert [event.best for event in of(Validated, heard)] == [True, True, False, False]
        assert (trained.result.updates, trained.result.best_update) == (8, 4)


def script(monkeypatch, change):
    """Validations that say what a test wants to hear."""
    real = TranslateTask.summarize

    def scripted(task, measured):
        validation = real(task, measured)
        changed = dict(change(validation))
        loss = changed.pop("loss", validation.loss)
        return Validation(loss, {**validation.scores, **changed})

    monkeypatch.setattr(TranslateTask, "summarize", scripted)


class TestBestAndLast:
    @pytest.mark.parametrize(("select", "best"), [("loss", 2), ("bleu", 4), ("chrf", 6), ("exact_match", 2)])
    def test_what_makes_the_best(self, run, monkeypatch, select, best):
        """Each number has its best at another validation; of equals the first stays."""
        rows = iter(
            [
                {"loss": 1.0, "bleu": 1.0, "chrf": 1.0, "exact_match": 0.5},
                {"loss": 2.0, "bleu": 3.0, "chrf": 1.0, "exact_match": 0.5},
                {"loss": 1.5, "bleu": 2.0, "chrf": 1.5, "exact_match": 0.25},
            ]
        )
        script(monkeypatch, lambda real: next(rows))
        at = {}
        trained, _ = run(
            lambda event: at.update({event.update: event}) if isinstance(event, Validated) else None,
            max_updates=6,
            validate_every=2,
            select=select,
        )
        assert trained.result.best_update == trained.report["best_update"] == best
        assert trained.result.best == at[best].validation
        folder = ModelFolder(trained.folder)
        assert folder.load("best").facts["update"] == best
        assert folder.load("last").facts["update"] == 6
        assert torch.equal(weights(trained.folder, "best"), weights(trained.folder)) == (best == 6)

    def test_a_tie_goes_to_the_lower_loss(self, run, monkeypatch):
        """Selecting by a score that stays the same: the third validation has the lowest loss."""
        losses = iter([2.0, 3.0, 1.0, 1.0])
        script(monkeypatch, lambda real: {"loss": next(losses), "bleu": 5.0})
        trained, heard = run(max_updates=8, validate_every=2, select="bleu")
        assert [event.best for event in of(Validated, heard)] == [True, False, True, False]
        assert {event.select for event in of(Validated, heard)} == {"bleu"}
        assert (trained.result.best_update, trained.report["select"]) == (6, "bleu")

    def test_facts_stand_with_the_weights(self, run):
        trained, heard = run(max_updates=4, validate_every=2)
        last = of(Validated, heard)[-1]
        facts = ModelFolder(trained.folder).load("last").facts
        assert facts == {"update": 4, "epoch": 0.8, **last.validation.to_json()}

    def test_the_end_is_always_validated(self, run):
        for every, updates in ((2, [2, 4, 5]), (5, [5]), (99, [5])):
            _, heard = run(max_updates=5, validate_every=every)
            assert [event.update for event in of(Validated, heard)] == updates

    def test_once_an_epoch_by_default(self, run):
        _, heard = run(max_updates=0, max_epochs=3)
        assert [event.update for event in of(Validated, heard)] == [5, 10, 15]


class TestWhatIsWritten:
    def test_the_log_has_the_run(self, run):
        trained, heard = run(max_updates=12, validate_every=6)
        lines = (trained.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        assert rows == read_log(trained.folder)
        assert [(row["event"], row["update"]) for row in rows] == [
            ("start", 0),
            ("train", 1),
            ("validation", 6),
            ("train", 10),
            ("validation", 12),
            ("end", 12),
        ]
        for row, event in zip(rows[1:4:2], of(Progress, heard), strict=True):
            assert (row["loss"], row["learning_rate"], row["update"]) == (
                event.loss,
                event.learning_rate,
                event.update,
            )
        for row, event in zip(rows[2:5:2], of(Validated, heard), strict=True):
            assert row.items() >= {**event.validation.to_json(), "best": event.best}.items()
        assert rows[-1]["stopped"] == "12 updates are done"

    def test_tensorboard_only_when_asked(self, run):
        assert not (run(max_updates=1)[0].folder / "tensorboard").exists()
        folder = run(max_updates=1, tensorboard=True)[0].folder
        assert list((folder / "tensorboard").glob("events.out.*"))

    def test_progress_is_reported(self, run):
        _, heard = run(max_updates=20)
        reports = of(Progress, heard)
        assert [event.update for event in reports] == [1, 10, 20]
        assert [event.fraction for event in reports] == pytest.approx([1 / 20, 1 / 2, 1])
        assert [event.epoch for event in reports] == pytest.approx([0.2, 2, 4])
        assert all(event.tokens_per_second > 0 and event.seconds > 0 for event in reports)
        assert reports[0].loss > reports[-1].loss

    def test_what_is_left_counts_the_validations_to_come(self, run, monkeypatch):
        """Updates are quick, a validation takes a quarter of a second, and the first update of a session is slow."""
        measure, update = TranslateTask.measure, loop.Loop._update

        def measured(task, *arguments):
            time.sleep(0.25)
            return measure(task, *arguments)

        def updated(training, group):
            if training._state.updates == 0:
                monkeypatch.setattr(training, "_attempt", slow(training._attempt))
            update(training, group)

        def slow(attempt):
            def first(group):
                time.sleep(0.5)
                monkeypatch.undo()
                monkeypatch.setattr(TranslateTask, "measure", measured)
                return attempt(group)

            return first

        monkeypatch.setattr(TranslateTask, "measure", measured)
        monkeypatch.setattr(loop.Loop, "_update", updated)
        _, heard = run(max_updates=40, validate_every=10)
        first, *_, at_twenty, at_thirty, at_forty = of(Progress, heard)
        end = of(Validated, heard)[-1].seconds
        assert first.left is None
        for report in (at_twenty, at_thirty, at_forty):
            assert report.left == pytest.approx(end - report.seconds, rel=0.5)

    def test_what_is_left_of_minutes(self, run):
        _, heard = run(max_updates=100_000, max_minutes=0.02, patience=0)
        *_, last = of(Progress, heard)
        assert 0 <= last.left <= 1.2 + 5
        assert last.left < 100, "and not what all updates would take"

    def test_no_fraction_without_a_known_end(self, run, monkeypatch):
        script(monkeypatch, lambda real: {"loss": 1.0})
        _, heard = run(max_updates=0, patience=1, validate_every=1)
        assert {event.fraction for event in of(Progress, heard)} == {None}
        assert {event.left for event in of(Progress, heard)} == {None}

    def test_the_rate_follows_the_schedule(self, run):
        _, heard = run(max_updates=20, warmup=2, learning_rate=0.5, schedule="linear")
        assert [event.learning_rate for event in of(Progress, heard)] == pytest.approx(
            [0.5 / 2, 0.5 * (1 - 7 / 18), 0.5 / 18]
        )

    @pytest.mark.parametrize(("warmup", "said"), [(9, True), (2, False)])
    def test_a_run_that_ends_inside_its_warm_up_says_so(self, run, monkeypatch, warmup, said):
        script(monkeypatch, lambda real: {"loss": 1.0})
        _, heard = run(max_updates=0, patience=1, validate_every=1, warmup=warmup, learning_rate=0.5)
        warned = [note.text for note in of(Note, heard) if "warm-up" in note.text]
        assert bool(warned) == said
        if said:
            assert "after update 2 of 9: the learning rate has not reached 0.5" in warned[0]

    def test_the_plateau_follows_validations(self, run, monkeypatch):
        script(monkeypatch, lambda real: {"loss": 1.0})
        _, heard = run(
            max_updates=20, validate_every=5, schedule="plateau", learning_rate=0.5, plateau_decay=0.1
        )
        assert [event.learning_rate for event in of(Progress, heard)] == pytest.approx([0.5, 0.5, 0.005])


def test_each_pair_once_an_epoch(run, pairs, monkeypatch):
    """Accumulation groups the batches of an epoch and loses none."""
    groups = []
    real = loop.update

    def watched(fabric, model, optimizer, batches, compute_loss, **options):
        groups.append([row.tolist() for batch in batches for row in batch.target_ids])
        return real(fabric, model, optimizer, batches, compute_loss, **options)

    monkeypatch.setattr(loop, "update", watched)
    trained, _ = run(max_updates=0, max_epochs=2, accumulate=3)
    assert [len(group) for group in groups] == [24, 16] * 2
    decode = ModelFolder(trained.folder).load().tokenizers["target"].decode
    epochs = [[decode(ids) for group in groups[k : k + 2] for ids in group] for k in (0, 2)]
    for epoch in epochs:
        assert sorted(epoch) == sorted(pair.target for pair in pairs(40))
    assert epochs[0] != epochs[1], "each epoch has an order of its own"


class TestWhatGoesWrong:
    def test_ctrl_c_saves_the_last_weights(self, tmp_path, run_config, pairs):
        heard = []

        def interrupt(event):
            heard.append(event)
            if isinstance(event, Progress) and event.update == 10:
                raise KeyboardInterrupt

        config = run_config(training={"max_updates": 100, "validate_every": 4})
        with pytest.raises(KeyboardInterrupt):
            run_training(
                tmp_path / "cut", config, train=pairs(40), valid=pairs(10, seed=1), listener=interrupt
            )
        folder = ModelFolder(tmp_path / "cut")
        assert folder.load("last").facts == {"update": 10, "epoch": 2.0}
        assert folder.load("best").facts["update"] in (4, 8)
        assert heard[-1] == Note("stopped by Ctrl-C after update 10, with a checkpoint")
        # they are those of a run that had ten updates to begin with
        whole = run_training(
            tmp_path / "whole",
            run_config(training={"max_updates": 10}),
            train=pairs(40),
            valid=pairs(10, seed=1),
        )
        assert torch.equal(weights(tmp_path / "cut"), weights(whole.folder))

    def test_a_loss_that_is_not_finite_again_and_again(self, run):
        message = (
            r"the loss is (nan|inf) \(it was .* before\), (and so is .*|\d+ updates in a row): training has diverged; "
            r"lower training.learning_rate \(now 9e\+15\), or set training.clip"
        )
        with pytest.raises(RegardError, match=message):
            run(optimizer="sgd", learning_rate=9e15, clip=0, max_updates=50)

    def test_a_loss_that_is_not_finite_once_is_skipped_and_counted(self, run, monkeypatch):
        real, calls = TranslateTask.loss, []

        def spoiled(task, objective, batch, progress):
            calls.append(batch)
            loss = real(task, objective, batch, progress)
            return loss * math.nan if len(calls) in (1, 5) else loss

        monkeypatch.setattr(TranslateTask, "loss", spoiled)
        trained, _ = run(max_updates=20)
        assert trained.result.skipped == trained.report["skipped_updates"] == 2
        log = [row for row in read_log(trained.folder) if row["event"] == "train"]
        assert [(row["update"], row["skipped"]) for row in log] == [(10, 2), (20, 2)]
        assert all(math.isfinite(row["loss"]) for row in log)
        assert weights(trained.folder).isfinite().all()

    @pytest.mark.parametrize("updates", [20, 200])
    def test_a_loss_that_only_grows_is_divergence(self, run, updates):
        """At the end of a short run, after some reports of a long one."""
        message = r"the loss grew from [\d.]+ to .* nats per prediction: training has diverged; lower training.learn"
        with pytest.raises(RegardError, match=message):
            run(learning_rate=1e4, max_updates=updates)

    def test_a_batch_that_does_not_fit_is_halved_to_the_same_update(self, run, monkeypatch):
        """On a GPU; here a batch of more than three pairs is said not to fit."""
        options = {"max_updates": 6, "optimizer": "sgd", "learning_rate": 0.1}
        whole, _ = run(**options)
        real = TranslateTask.loss

        def full(task, objective, batch, progress):
            loss = real(task, objective, batch, progress)
            if batch.num_sentences > 3:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return loss

        monkeypatch.setattr(TranslateTask, "loss", full)
        halved, heard = run(**options)
        # the same sums in another order, over six updates: some roundings of float32
        torch.testing.assert_close(weights(halved.folder), weights(whole.folder), rtol=1e-4, atol=1e-6)
        texts = [note.text for note in of(Note, heard) if "does not fit" in note.text]
        assert texts[-1].startswith("a batch does not fit into the GPU's memory: it is trained on in ")
        monkeypatch.setattr(
            TranslateTask, "loss", lambda *given: (_ for _ in ()).throw(torch.OutOfMemoryError("CUDA"))
        )
        with pytest.raises(
            RegardError, match=r"out of memory after update 0; lower training.batch_tokens \(now"
        ):
            run(**options)

    def test_memory_of_the_machine_that_is_too_small_is_a_message(self, run, monkeypatch):
        def full(task, objective, batch, progress):
            return torch.empty(1 << 50, dtype=torch.uint8).sum()

        monkeypatch.setattr(TranslateTask, "loss", full)
        with pytest.raises(RegardError, match=r"out of memory after update 0; lower training.batch_tokens"):
            run()

    def test_a_disk_that_fills_up_leaves_the_last_checkpoint(self, tmp_path, run_config, pairs, largest_file):
        """The kernel refuses to let files grow after the first validation."""
        path = tmp_path / "model"
        first = {}

        def fill_up(event):
            if isinstance(event, Validated):
                assert not first, "the second checkpoint cannot be saved"
                first.update({file.name: file.read_bytes() for file in path.glob("*.safetensors")})
                limit.__enter__()

        limit = largest_file(2000)  # enough for the log
        config = run_config(training={"max_updates": 6, "validate_every": 2})
        try:
            with pytest.raises(CheckpointError, match=r"4.safetensors: cannot be written .* untouched"):
                run_training(path, config, train=pairs(40), valid=pairs(10, seed=1), listener=fill_up)
        finally:
            limit.__exit__(None, None, None)
        assert {file.name: file.read_bytes() for file in path.glob("*.safetensors")} == first
        assert ModelFolder(path).load().facts["update"] == 2
        assert not [file for file in path.iterdir() if file.name.startswith(".")]

    def test_a_folder_that_holds_a_model_is_not_touched(self, run, run_config, pairs):
        trained, _ = run()
        before = {file: file.read_bytes() for file in trained.folder.rglob("*.*") if file.is_file()}
        with pytest.raises(
            DataError, match=r"model1: holds a model already; choose another folder, or remove"
        ):
            run_training(trained.folder, run_config(), train=pairs(40))
        after = {file: file.read_bytes() for file in trained.folder.rglob("*.*") if file.is_file()}
        assert after == before

    def test_long_validation_sentences_are_no_trouble(self, tmp_path, run_config, pairs):
        """The translator's limit is for users' lines; a validation sentence is translated however long."""
        valid = [*pairs(3), type(pairs(1)[0])("a " * 1200, "A")]
        trained = run_training(
            tmp_path / "m", run_config(training={"max_updates": 1}), train=pairs(40), valid=valid
        )
        assert isinstance(trained.result.best, Validation)
