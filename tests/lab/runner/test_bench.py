"""The bench: seeds, a training of each task, and parallel calls whose numbers do not depend on the process."""

import json
import time

import pytest
import torch

from regard.datasets import Copy, Language, PartsOfSpeech, Scenes, Sentiment
from regard.errors import ConfigError, DataError, RegardError
from regard.lab.runner import Bench, train_for
from regard.lab.runner.bench import one_thread
from regard.tasks.caption.predictor import Captioner
from regard.tasks.classify.predictor import Classifier
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.tag.predictor import Tagger
from regard.tasks.translate.predictor import Translator
from regard.training.configure import configure

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


def test_seeds_follow_the_first_one(tmp_path):
    usual, full = Bench(tmp_path, seed=4), Bench(tmp_path, seed=4, full=True)
    assert usual.seeds(2) == full.seeds(2) == [4, 5]


def test_a_training_of_n_updates_is_validated_at_its_end():
    training = configure({"preset": "lstm-lm", "training": train_for(7, batch_sentences=3)}).training
    assert (training.max_epochs, training.max_updates, training.validate_every) == (0, 7, 7)
    assert training.batch_sentences == 3


@pytest.mark.parametrize("task", TASKS)
def test_each_task_is_trained_on_examples_of_its_dataset(task, tmp_path):
    dataset, kind, config = TASKS[task]
    splits = dataset().splits(train=16, valid=4, test=1, seed=1)
    assert dataset.task == task
    messages = []
    bench = Bench(tmp_path, seed=5, report=messages.append)
    folder = bench.train("small", {**config, "training": TRAINING}, splits.train, splits.valid)
    assert folder == tmp_path / "models" / "small"
    kind.load(folder)
    report = json.loads((folder / "report.json").read_text())
    assert (report["task"], report["updates"]) == (task, 2)
    assert {value for name, value in report.items() if name.startswith("num_train_")} == {16}
    assert {value for name, value in report.items() if name.startswith("num_valid_")} == {4}
    assert "seed = 5" in (folder / "train.toml").read_text()
    # the first message is after the first of two updates
    assert messages[0] == "training small, 50 %"


def test_targets_become_labels_and_sources_lines(tmp_path):
    splits = Sentiment().splits(train=16, valid=4, test=1, seed=1)
    _, _, config = TASKS["classify"]
    folder = Bench(tmp_path).train("c", {**config, "training": TRAINING}, splits.train, splits.valid)
    classifier = Classifier.load(folder)
    assert set(classifier.labels) == {"negative", "positive"}
    words = classifier.tokenizer.tokens(classifier.tokenizer.encode(splits.train[0].source))
    assert words == splits.train[0].source.split()


def test_a_seed_argument_overrides_the_benchs(tmp_path):
    splits = Sentiment().splits(train=16, valid=4, test=1, seed=1)
    _, _, config = TASKS["classify"]
    folder = Bench(tmp_path, seed=5).train(
        "c", {**config, "training": {**TRAINING, "seed": 6}}, splits.train, splits.valid, seed=7
    )
    assert "seed = 7" in (folder / "train.toml").read_text()
    assert 'device = "cpu"' in (folder / "train.toml").read_text()


def test_what_cannot_be_trained_is_refused_with_its_remedy(tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'lstm-lm'"):
        Bench(tmp_path).train("x", {"preset": "lstm_lm"}, [], [])
    splits = Sentiment().splits(train=16, valid=4, test=1, seed=1)
    _, _, config = TASKS["classify"]
    given = ("c", {**config, "training": TRAINING}, splits.train, splits.valid)
    Bench(tmp_path).train(*given)
    with pytest.raises(DataError, match="holds a model already; choose another folder"):
        Bench(tmp_path).train(*given)


def test_a_training_uses_one_thread_and_restores_the_others(tmp_path):
    splits = Sentiment().splits(train=16, valid=4, test=1, seed=1)
    _, _, config = TASKS["classify"]
    threads = []
    bench = Bench(tmp_path, report=lambda message: threads.append(torch.get_num_threads()))
    torch.set_num_threads(2)
    try:
        bench.train("c", {**config, "training": TRAINING}, splits.train, splits.valid)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert set(threads) == {1}


def double(bench, number):
    return 2 * number, bench.jobs, torch.get_num_threads()


def test_calls_in_order_on_one_thread(tmp_path):
    torch.set_num_threads(2)
    try:
        doubled = Bench(tmp_path).starmap(double, [(3,), (1,), (2,)])
        assert torch.get_num_threads() == 2
        # a single call needs no process of its own, whatever is allowed
        assert Bench(tmp_path, jobs=8).starmap(double, [(5,)]) == [(10, 1, 1)]
    finally:
        torch.set_num_threads(1)
    assert doubled == [(6, 1, 1), (2, 1, 1), (4, 1, 1)]
    for jobs in (1, 2, 8):
        assert Bench(tmp_path, jobs=jobs).starmap(double, []) == []


def test_the_threads_are_restored_after_a_failure(tmp_path):
    torch.set_num_threads(2)
    try:
        with pytest.raises(ZeroDivisionError), one_thread():
            1 // (torch.get_num_threads() - 1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_processes_give_the_numbers_of_one_process(made, tmp_path):
    arguments = [("first", 3), ("second", 3), ("third", 4)]
    alone = Bench(tmp_path / "alone").starmap(made.train_and_classify, arguments)
    beside = Bench(tmp_path / "beside", jobs=2).starmap(made.train_and_classify, arguments)
    assert [(name, jobs) for name, jobs, _ in beside] == [("first", 1), ("second", 1), ("third", 1)]
    assert beside == alone
    (_, _, first), (_, _, second), (_, _, third) = alone
    assert first == second
    assert first != third


def test_a_call_that_fails_stops_the_others(made, tmp_path):
    started = time.monotonic()
    with pytest.raises(DataError, match="no data here"):
        Bench(tmp_path, jobs=2).starmap(made.fail_or_wait, [(1,), (0,), (2,), (3,)])
    assert time.monotonic() - started < 40  # the others would take a minute each


def test_a_killed_worker_is_an_error(made, tmp_path):
    with pytest.raises(RegardError, match=r"a worker process was killed.*--jobs 1"):
        Bench(tmp_path, jobs=2).starmap(made.kill_worker, [(1,), (0,), (2,)])
