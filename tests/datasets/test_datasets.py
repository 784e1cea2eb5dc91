import subprocess
import sys
import time

import pytest

from regard.datasets import DATASETS, find_dataset
from regard.errors import ConfigError
from regard.tasks import TASKS

SEEDED = [name for name in DATASETS if name not in ("microworld", "dates")]
"""Those whose own tests do not prove what every dataset promises."""


def inputs(examples):
    return [(example.source, example.features) for example in examples]


@pytest.fixture(scope="module", params=SEEDED)
def dataset(request):
    return find_dataset(request.param)()


@pytest.fixture(scope="module")
def splits(dataset):
    return dataset.splits(train=1500, valid=60, test=80, seed=5)


def test_every_dataset_has_its_own_name():
    for name, dataset in DATASETS.items():
        assert find_dataset(name) is dataset
        assert dataset().name == name
        assert dataset().summary.endswith(".")
        assert dataset().task in TASKS


def test_every_task_has_a_dataset():
    assert {dataset().task for dataset in DATASETS.values()} == set(TASKS)


def test_a_misspelt_dataset_names_the_nearest():
    known = "alignment, copy, dates, language, microworld, newsroom, recall, scenes, sentiment, tagging"
    with pytest.raises(
        ConfigError, match=rf"'date' is not a dataset; did you mean 'dates'\? \(known: {known}\)"
    ):
        find_dataset("date")


def test_splits_have_their_sizes(splits):
    assert [len(part) for part in (splits.train, splits.valid, splits.test)] == [1500, 60, 80]
    assert splits.extra
    assert {len(part) for part in splits.extra.values()} == {80}


def test_no_input_occurs_twice(splits):
    parts = (splits.train, splits.valid, splits.test, *splits.extra.values())
    read = [one for part in parts for one in inputs(part)]
    assert len(set(read)) == len(read)


def test_another_seed_trains_on_none_of_the_test_inputs(dataset, splits):
    other = dataset.splits(train=1500, valid=0, test=0, seed=6)
    assert other.train != splits.train
    trained = set(inputs(other.train))
    for part in (splits.test, splits.valid, *splits.extra.values()):
        assert not trained & set(inputs(part))


def test_a_smaller_split_is_the_beginning_of_a_larger_one(dataset, splits):
    if dataset.name == "language":  # its sizes are the microworld's
        return
    small = dataset.splits(train=40, valid=60, test=10, seed=5)
    assert small.train == splits.train[:40]
    assert small.valid == splits.valid
    assert small.test == splits.test[:10]


def test_what_an_example_holds_is_what_its_task_says(dataset, splits):
    for example in (*splits.train, *splits.test):
        assert bool(example.features) == (dataset.task == "caption") == (not example.source)
        assert bool(example.target) == (dataset.task != "language_model")
        assert example.source == " ".join(example.source.split())
        assert example.target == " ".join(example.target.split())
        if dataset.task == "tag":
            assert len(example.source.split()) == len(example.target.split())
        if dataset.task == "classify":
            assert " " not in example.target


def test_every_label_is_in_the_training_set(dataset, splits):
    if dataset.task == "classify":
        labels = {example.target for example in splits.train}
        for part in (splits.valid, splits.test, *splits.extra.values()):
            assert {example.target for example in part} <= labels


PROGRAM = """
import hashlib
from regard.datasets import DATASETS
for name, dataset in DATASETS.items():
    if name != "dates":
        splits = dataset().splits(train=100, valid=10, test=10, seed=3)
        drawn = [*splits.train, *splits.test, *[e for part in splits.extra.values() for e in part]]
        parts = [(e.source, e.target, e.features) for e in drawn]
        print(name, hashlib.sha256(repr(parts).encode()).hexdigest())
"""


def test_equal_arguments_give_equal_splits_whatever_the_hash_seed():
    def run(seed):
        command = [sys.executable, "-c", PROGRAM]
        return subprocess.run(
            command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout

    one = run("1")
    assert one == run("2")
    # without dates; the sentences of alignment are those of microworld
    assert len({line.split()[1] for line in one.splitlines()}) == len(DATASETS) - 2


def test_twenty_thousand_examples_would_take_seconds(dataset):
    started = time.process_time()
    dataset.splits(train=4_000, valid=0, test=0, seed=1)
    assert time.process_time() - started < 1.5  # about a fifth of that is usual


def test_a_size_below_nothing_is_refused(dataset):
    if dataset.name != "language":
        with pytest.raises(
            ConfigError, match=rf"{dataset.name}: -1 examples for 'valid' cannot be had; ask for 0"
        ):
            dataset.splits(train=0, valid=-1, test=0, seed=0)
