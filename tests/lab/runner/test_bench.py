"""The bench: sizes and seeds, a training of each task, and arms whose numbers hang on no process."""

import json
import time

import pytest
import torch

from regard.datasets import Copy, Language, PartsOfSpeech, Scenes, Sentiment
from regard.errors import ConfigError, DataError, RegardError
from regard.lab.runner import Bench
from regard.lab.runner.bench import one_thread
from regard.tasks.caption.predictor import Captioner
from regard.tasks.classify.predictor import Classifier
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.tag.predictor import Tagger
from regard.tasks.translate.predictor import Translator

TINY = {"embedding_size": 6, "state_size": 6}
DECODER = {**TINY, "readout_size": 6}
TASKS = {
    "translate": (
        Copy,
        Translator,
        {
            "preset": "rnnsearch-small",
            "tokenizer": {"source": "word", "target": "word"},
            "model": {"encoder": TINY, "decoder": {**DECODER, "attention": {"size": 6}}},
        },
    ),
    "language_model": (Language, LanguageModel, {"preset": "lstm-lm", "model": TINY}),
    "classify": (
        Sentiment,
        Classifier,
        {"preset": "classifier", "model": {"encoder": TINY, "pooling_size": 6}},
    ),
    "tag": (PartsOfSpeech, Tagger, {"preset": "tagger", "model": {"encoder": TINY}}),
    "caption": (
        Scenes,
        Captioner,
        {"preset": "captioner", "model": {"summary_size": 6, "decoder": DECODER}},
    ),
}
TRAINING = {"max_updates": 2, "max_epochs": 0, "batch_sentences": 8, "validation_sentences": 2}


def test_sizes_and_seeds_as_usual_and_in_full(tmp_path):
    usual, full = Bench(tmp_path, seed=4), Bench(tmp_path, seed=4, full=True)
    assert usual.choose("short", "long") == "short"
    assert full.choose("short", "long") == "long"
    assert usual.seeds(2) == full.seeds(2) == [4, 5]


@pytest.mark.parametrize("task", TASKS)
def test_each_task_is_trained_on_examples_of_its_world(task, tmp_path):
    dataset, kind, config = TASKS[task]
    splits = dataset().splits(train=16, valid=4, test=1, seed=1)
    assert dataset.task == task
    said = []
    bench = Bench(tmp_path, seed=5, voice=said.append)
    folder = bench.train("small", {**config, "training": TRAINING}, splits.train, splits.valid)
    assert folder == tmp_path / "models" / "small"
    kind.load(folder)
    report = json.loads((folder / "report.json").read_text())
    assert (report["task"], report["updates"]) == (task, 2)
    assert {value for name, value in report.items() if name.startswith("num_train_")} == {16}
    assert {value for name, value in report.items() if name.startswith("num_valid_")} == {4}
    assert "seed = 5" in (folder / "train.toml").read_text()
    # a voice is told of the first update of the two
    assert said[0] == "training small, 50 %"


def test_labels_are_learnt_as_labels_and_lines_as_lines(tmp_path):
    splits = Sentiment().splits(train=16, valid=4, test=1, seed=1)
    _, _, config = TASKS["classify"]
    folder = Bench(tmp_path).train("c", {**config, "training": TRAINING}, splits.train, splits.valid)
    classifier = Classifier.load(folder)
    assert set(classifier.labels) == {"negative", "positive"}
    words = classifier.tokenizer.tokens(classifier.tokenizer.encode(splits.train[0].source))
    assert words == splits.train[0].source.split()


def test_a_seed_of_its_own_goes_before_the_benchs(tmp_path):
    splits = Sentiment().splits(train=16, valid=4, test=1, seed=1)
    _, _, config = TASKS["classify"]
    folder = Bench(tmp_path, seed=5).train(
        "c", {**config, "training": {**TRAINING, "seed": 6}}, splits.train, splits.valid, seed=7
    )
    assert "seed = 7" in (folder / "train.toml").read_text()
    assert 'device = "cpu"' in (folder / "train.toml").read_text()


def test_what_cannot_be_trained_is_told_with_its_remedy(tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'lstm-lm'"):
        Bench(tmp_path).train("x", {"preset": "lstm_lm"}, [], [])
    splits = Sentiment().splits(train=16, valid=4, test=1, seed=1)
    _, _, config = TASKS["classify"]
    given = ("c", {**config, "training": TRAINING}, splits.train, splits.valid)
    Bench(tmp_path).train(*given)
    with pytest.raises(DataError, match="holds a model already; choose another folder"):
        Bench(tmp_path).train(*given)


def test_a_training_takes_one_thread_and_gives_the_others_back(tmp_path):
    splits = Sentiment().splits(train=16, valid=4, test=1, seed=1)
    _, _, config = TASKS["classify"]
    seen = []
    bench = Bench(tmp_path, voice=lambda message: seen.append(torch.get_num_threads()))
    torch.set_num_threads(2)
    try:
        bench.train("c", {**config, "training": TRAINING}, splits.train, splits.valid)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert set(seen) == {1}


def double(bench, arm):
    return 2 * arm, bench.jobs, torch.get_num_threads()


def test_arms_one_after_the_other_in_order_on_one_thread(tmp_path):
    torch.set_num_threads(2)
    try:
        found = Bench(tmp_path).each(double, [3, 1, 2])
        assert torch.get_num_threads() == 2
        # a single arm needs no process of its own, whatever is allowed
        assert Bench(tmp_path, jobs=8).each(double, [5]) == [(10, 1, 1)]
    finally:
        torch.set_num_threads(1)
    assert found == [(6, 1, 1), (2, 1, 1), (4, 1, 1)]
    for jobs in (1, 2, 8):
        assert Bench(tmp_path, jobs=jobs).each(double, []) == []


def test_the_threads_come_back_after_a_failure(tmp_path):
    torch.set_num_threads(2)
    try:
        with pytest.raises(ZeroDivisionError), one_thread():
            1 // (torch.get_num_threads() - 1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_processes_give_the_numbers_of_one_process(made, tmp_path):
    arms = [("first", 3), ("second", 3), ("third", 4)]
    alone = Bench(tmp_path / "alone").each(made.train_and_read, arms)
    beside = Bench(tmp_path / "beside", jobs=2).each(made.train_and_read, arms)
    assert [(name, jobs) for name, jobs, _ in beside] == [("first", 1), ("second", 1), ("third", 1)]
    assert beside == alone
    (_, _, first), (_, _, second), (_, _, third) = alone
    assert first == second
    assert first != third


def test_an_arm_that_fails_stops_the_others(made, tmp_path):
    started = time.monotonic()
    with pytest.raises(DataError, match="nothing to be had"):
        Bench(tmp_path, jobs=2).each(made.fail_or_linger, [1, 0, 2, 3])
    assert time.monotonic() - started < 40  # the others would take a minute each


def test_a_worker_that_is_killed_is_told_of(made, tmp_path):
    with pytest.raises(RegardError, match=r"a worker process was killed.*--jobs 1"):
        Bench(tmp_path, jobs=2).each(made.perish, [1, 0, 2])
