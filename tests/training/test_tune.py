"""The search: what is sampled, who is promoted, what an interruption keeps; a formula stands in for trainings."""

import json
import math
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

import regard.training.run
from regard.config import flatten, read_toml
from regard.errors import ConfigError, DataError
from regard.training.configure import configure, plan_run
from regard.training.progress import Note
from regard.training.tune import (
    Trial,
    Varied,
    nested,
    plan_trials,
    rank,
    rung_fractions,
    sample_trials,
    tune,
    with_fraction,
)

BASE = {
    "data": {"train": ["pairs.tsv"]},
    "training": {"max_epochs": 0.0, "max_updates": 900, "select": "loss", "device": "cpu"},
}
RATES = Varied.parse("training.learning_rate=0.0005..0.05")
DROPOUT = Varied.parse("model.encoder.dropout=0.1,0.3,0.5")


def configure_trial(options):
    return configure(BASE, options)


@pytest.fixture
def trained(monkeypatch):
    """Every training: (folder, updates, learning rate). The loss is best at a learning rate of 0.004."""
    runs = []

    def run_training(folder, config, *, listener=None, **_):
        training = config.training
        runs.append((Path(folder).name, training.max_updates, training.learning_rate))
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name in ("best", "last"):
            (Path(folder) / f"{name}.safetensors").write_bytes(b"weights")
        loss = abs(math.log(training.learning_rate / 0.004)) + 1 / training.max_updates
        return SimpleNamespace(report={"validation": {"loss": loss}, "updates": training.max_updates})

    monkeypatch.setattr(regard.training.run, "run_training", run_training)
    return runs


class TestWhatIsVaried:
    def test_ranges_and_lists(self):
        assert DROPOUT.values == (0.1, 0.3, 0.5)
        assert (RATES.low, RATES.high, RATES.log) == (0.0005, 0.05, True)
        assert not Varied.parse("model.encoder.dropout=0.1..0.5").log
        assert Varied.parse("model.encoder.dropout=0.1..0.5:log").log
        assert not Varied.parse("training.learning_rate=0.0005..0.05:linear").log
        assert Varied.parse("model.decoder.kind=bahdanau,luong").values == ("bahdanau", "luong")
        assert Varied.parse("tokenizer.lowercase=true,false").values == (True, False)

    def test_samples_are_in_the_range_and_reach_both_halves_of_its_scale(self):
        rng = random.Random(0)
        rates = [RATES.sample(rng) for _ in range(400)]
        assert all(0.0005 <= value <= 0.05 for value in rates)
        below = sum(value < math.sqrt(0.0005 * 0.05) for value in rates)  # the middle of a logarithmic scale
        assert 150 < below < 250
        sizes = [Varied.parse("model.encoder.state_size=8..256").sample(rng) for _ in range(100)]
        assert all(isinstance(size, int) and 8 <= size <= 256 for size in sizes)
        assert {DROPOUT.sample(rng) for _ in range(50)} == {0.1, 0.3, 0.5}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("training.learning_rate", "write it as option=low..high or option=one,other"),
            ("training.learning_rate=0.1", "one value; give several, or --set training.learning_rate=0.1"),
            ("training.learning_rate=0.1..0.01", "two numbers, the lower first"),
            ("training.learning_rate=a..b", "two numbers, the lower first"),
            ("training.learning_rate=0.1..1:cubic", "no scale 'cubic'; write :log or :linear"),
            ("model.encoder.dropout=0..0.5:log", "a logarithmic range begins above 0"),
        ],
    )
    def test_refused(self, text, message):
        with pytest.raises(ConfigError, match=message):
            Varied.parse(text)

    def test_the_first_trial_is_the_configuration_and_all_are_different(self):
        trials = list(sample_trials([DROPOUT, RATES], 10, seed=1))
        assert trials[0] == {}
        assert len({repr(options) for options in trials}) == 10
        assert list(sample_trials([DROPOUT, RATES], 20, seed=1))[:10] == trials, (
            "a larger search begins with it"
        )
        assert list(sample_trials([DROPOUT, RATES], 10, seed=2))[1:] != trials[1:]
        assert len(list(sample_trials([DROPOUT], 10, seed=1))) == 4, "as it is, and three values"


def test_halving():
    assert rung_fractions(1) == [1]
    assert rung_fractions(5) == [pytest.approx(1 / 3), 1]
    assert rung_fractions(20) == [pytest.approx(1 / 9), pytest.approx(1 / 3), 1]
    limits = with_fraction(configure(BASE, {"training": {"max_minutes": 9.0}}), 1 / 9)
    assert limits == {"training": {"max_updates": 100, "max_minutes": pytest.approx(1.0)}}


def test_the_better_third_goes_on_and_the_best_wins(tmp_path, trained):
    search = tune(tmp_path / "search", configure_trial, [RATES, DROPOUT], num_trials=9)
    assert [updates for _, updates, _ in trained] == [100] * 9 + [300] * 3 + [900]
    by_loss = sorted(trained[:9], key=lambda run: abs(math.log(run[2] / 0.004)))
    assert [run[2] for run in trained[9:12]] == [run[2] for run in by_loss[:3]]
    assert trained[12][2] == by_loss[0][2]
    assert search.winner.fraction == 1
    assert [trial.fraction for trial in search.trials] == sorted(
        (t.fraction for t in search.trials), reverse=True
    )
    best = read_toml(tmp_path / "search" / "best.toml")
    assert best["training"]["learning_rate"] == by_loss[0][2]
    assert best["training"]["max_updates"] == 900, "the whole budget"
    assert configure(best) == configure_trial(nested(search.winner.options)), (
        "ready for regard train --config"
    )
    report = json.loads((tmp_path / "search" / "report.json").read_text())
    assert report["winner"]["options"] == search.winner.options
    kept = sorted(path.parent.name for path in (tmp_path / "search").rglob("best.safetensors"))
    assert kept == [trained[12][0]], "only a model of the whole budget keeps its weights"


def test_an_interrupted_search_keeps_what_is_finished(tmp_path, trained, monkeypatch):
    run_training = regard.training.run.run_training

    def interrupted(folder, config, **options):
        if len(trained) == 5:
            Path(folder).mkdir(parents=True, exist_ok=True)
            raise KeyboardInterrupt
        return run_training(folder, config, **options)

    monkeypatch.setattr(regard.training.run, "run_training", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(tmp_path / "search", configure_trial, [RATES], num_trials=9)
    with (tmp_path / "search" / "trials.jsonl").open("a") as file:
        file.write('{"number": 6, "frac')  # as a killed process leaves it
    monkeypatch.setattr(regard.training.run, "run_training", run_training)
    events = []
    search = tune(tmp_path / "search", configure_trial, [RATES], num_trials=9, listener=events.append)
    whole = tune(tmp_path / "other", configure_trial, [RATES], num_trials=9)
    assert len([event for event in events if isinstance(event, Note)]) == 13 - 5
    assert search.winner.options == whole.winner.options
    rows = (tmp_path / "search" / "trials.jsonl").read_text().splitlines()
    assert sum(row.endswith("}") for row in rows) == 13
    again = tune(tmp_path / "search", configure_trial, [RATES], num_trials=9)
    assert again.trials == search.trials
    assert len(trained) == 2 * 13, "nothing is trained twice"


def test_a_larger_search_takes_over_a_smaller_one(tmp_path, trained):
    tune(tmp_path / "search", configure_trial, [RATES], num_trials=9)
    before = list(trained)
    tune(tmp_path / "search", configure_trial, [RATES], num_trials=12)
    assert [run[0] for run in trained[len(before) :]][:3] == ["010-11", "011-11", "012-11"]


def test_a_failed_trial_is_recorded_and_the_search_goes_on(tmp_path, trained, monkeypatch):
    run_training = regard.training.run.run_training

    def diverging(folder, config, **options):
        if config.training.learning_rate > 0.004:
            raise DataError("the loss became nan: training has diverged")
        return run_training(folder, config, **options)

    monkeypatch.setattr(regard.training.run, "run_training", diverging)
    search = tune(tmp_path / "search", configure_trial, [RATES], num_trials=9)
    failed = [trial for trial in search.trials if trial.error]
    assert failed
    assert all(trial.score is None and "diverged" in trial.error for trial in failed)
    assert search.winner.score is not None
    assert rank(search.trials, "loss")[-1].error


def test_an_error_of_the_first_trial_is_an_error_of_the_search(tmp_path, monkeypatch):
    def failing(folder, config, **options):
        raise DataError("pairs.tsv: no such file")

    monkeypatch.setattr(regard.training.run, "run_training", failing)
    with pytest.raises(DataError, match="no such file"):
        tune(tmp_path / "search", configure_trial, [RATES])


def test_the_time_is_kept(tmp_path, trained, monkeypatch):
    """Each rung has a third of the time; a trial that time ends is dropped."""
    from regard.training import tune as module

    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    run_training = regard.training.run.run_training

    def slow(folder, config, *, listener, **options):
        result = run_training(folder, config, **options)
        clock[0] += config.training.max_updates / 10  # seconds
        listener(Note("done"))
        return result

    monkeypatch.setattr(regard.training.run, "run_training", slow)
    search = tune(tmp_path / "search", configure_trial, [RATES], num_trials=60, max_minutes=3)
    # 60 s of trials of 10 s, 60 s of trials of 30 s, and one of 90 s does not end in time
    assert [updates for _, updates, _ in trained] == [100] * 6 + [300] * 2 + [900]
    assert search.stopped == "its time, 3 min, is over"
    assert search.winner.fraction == pytest.approx(1 / 3)
    assert not list((tmp_path / "search" / "trials").glob("*-100")), "the dropped trial leaves nothing"
    more = tune(tmp_path / "search", configure_trial, [RATES], num_trials=60, max_minutes=20)
    assert more.winner.fraction == 1


class TestRefused:
    @pytest.mark.parametrize(
        ("vary", "message"),
        [
            ([], "nothing to vary; name an option"),
            (["training.max_updates=10..1000"], "it is the budget, which is the same for all trials"),
            (["training.lerning_rate=0.1..0.2"], r"--vary training.lerning_rate=0.1..0.2: .* did you mean"),
            (["model.encoder.dropout=0.5..1.5"], r"--vary model.encoder.dropout=0.5..1.5: .*dropout"),
            (["training.seed=1,2", "training.seed=3,4"], "given 2 times; put all values into one"),
        ],
    )
    def test_what_cannot_be_varied(self, tmp_path, trained, vary, message):
        with pytest.raises(ConfigError, match=message):
            tune(tmp_path / "search", configure_trial, [Varied.parse(each) for each in vary])
        assert not trained

    def test_no_budget(self, tmp_path, trained):
        def patient(options):
            limits = {"max_updates": 0, "patience": 3, "schedule": "constant"}
            return configure(BASE, {"training": limits}, options)

        with pytest.raises(ConfigError, match="only patience ends a trial"):
            tune(tmp_path / "search", patient, [RATES])

    def test_the_folder_of_another_search(self, tmp_path, trained):
        tune(tmp_path / "search", configure_trial, [RATES], num_trials=2)
        with pytest.raises(DataError, match=r"other options \(vary.model.encoder.dropout: not given and"):
            tune(tmp_path / "search", configure_trial, [RATES, DROPOUT], num_trials=2)

    def test_a_folder_with_something_else(self, tmp_path, trained):
        (tmp_path / "notes.txt").write_text("mine")
        with pytest.raises(DataError, match="not empty, and not a search of `regard tune`"):
            tune(tmp_path, configure_trial, [RATES])

    def test_no_trials_and_no_time(self, tmp_path):
        with pytest.raises(ConfigError, match="--trials"):
            tune(tmp_path / "search", configure_trial, [RATES], num_trials=0)
        with pytest.raises(ConfigError, match="--minutes 0: give more than 0"):
            tune(tmp_path / "search", configure_trial, [RATES], max_minutes=0)


def test_options_by_path():
    assert nested({"training.learning_rate": 0.5, "model.decoder.kind": "luong"}) == {
        "training": {"learning_rate": 0.5},
        "model": {"decoder": {"kind": "luong"}},
    }
    assert flatten({"a": {"b": {"c": 1}, "d": 2}}) == {"a.b.c": 1, "a.d": 2}


@pytest.mark.parametrize(
    ("select", "best_first"), [("loss", [3, 1, 2, 4]), ("wer", [3, 1, 2, 4]), ("bleu", [2, 1, 3, 4])]
)
def test_ranked_by_the_direction_of_the_score_failed_ones_last(select, best_first):
    trials = [
        Trial(number, 1.0, {}, score, {"loss": 1.0}, 9, 1.0, "")
        for number, score in ((1, 5.0), (2, 7.0), (3, 3.0), (4, None))
    ]
    assert [trial.number for trial in rank(trials, select)] == best_first
    tied = [Trial(n, 1.0, {}, 5.0, {"loss": loss}, 9, 1.0, "") for n, loss in ((1, 0.9), (2, 0.4))]
    assert [trial.number for trial in rank(tied, select)] == [2, 1], "the loss decides"


class TestPlannedFromTheData:
    @pytest.fixture
    def layers(self, tmp_path):
        pairs = [f"{'abcdefg'[n % 7]}{n}\t{n}{'abcdefg'[n % 7]}\n" for n in range(80)]
        (tmp_path / "pairs.tsv").write_text("".join(pairs))
        data = {"train": [str(tmp_path / "pairs.tsv")], "rename_symbols": False}
        return {"data": data, "training": {"device": "cpu"}}

    def test_trials_vary_around_the_plan(self, layers):
        base, configure_trial = plan_trials(layers)
        planned = plan_run(layers)
        assert base.config == planned.config == configure_trial({})
        assert base.lines == planned.lines != ()
        assert base.config.tokenizer.source == "char"
        varied = {"model": {"encoder": {"dropout": 0.1}}}
        before, after = (flatten(config.to_mapping()) for config in (base.config, configure_trial(varied)))
        assert {path for path in before if before[path] != after[path]} == {"model.encoder.dropout"}

    def test_the_schedule_of_a_trial_follows_its_part_of_the_updates(self, layers):
        base, configure_trial = plan_trials(layers)
        whole = base.config.training
        part = configure_trial(with_fraction(base.config, 1 / 9)).training
        assert part.max_updates == math.ceil(whole.max_updates / 9)
        assert (part.warmup, part.validate_every) == (part.max_updates // 20, 10)
        assert configure_trial(with_fraction(base.config, 1)) == base.config

    def test_all_trials_are_selected_by_one_score(self, layers):
        base, configure_trial = plan_trials(
            {**layers, "data": {**layers["data"], "valid": layers["data"]["train"]}}
        )
        assert base.config.training.select == "wer"
        with_subwords = configure_trial({"tokenizer": {"target": "bpe"}})
        assert with_subwords.tokenizer.target == "bpe"
        assert with_subwords.training.select == "wer"

    def test_a_budget_is_that_of_the_longest_trials(self, layers):
        base, configure_trial = plan_trials(layers, budget=2)
        assert base.config.training.max_minutes == 2
        assert configure_trial({"model": {"encoder": {"dropout": 0.1}}}).training.max_minutes == 2
        assert configure_trial(with_fraction(base.config, 1 / 3)).training.max_minutes == pytest.approx(2 / 3)
        with pytest.raises(
            ConfigError, match="--budget 2 fits a plan to the time, and the preset 'characters'"
        ):
            plan_trials(layers, preset="characters", budget=2)

    def test_the_winner_is_the_plan_with_its_options(self, layers, tmp_path, trained):
        base, configure_trial = plan_trials(layers)
        search = tune(tmp_path / "search", configure_trial, [RATES], num_trials=3)
        best = flatten(read_toml(tmp_path / "search" / "best.toml"))
        assert best == flatten(base.config.to_mapping()) | search.winner.options
