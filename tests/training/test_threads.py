"""The same seed gives the same weights for any number of threads, with the kernels in C."""

import random

import pytest
import torch
from safetensors.torch import load_file

from regard.ops.native import load
from regard.training.configure import configure
from regard.training.run import run_training

STACK = {"embedding_size": 32, "state_size": 128}
DECODER = {**STACK, "attention": {"size": 128}}
TRAINING = {
    "max_updates": 3,
    "max_epochs": 0,
    "validate_every": 3,
    "batch_sentences": 32,
    "device": "cpu",
    "validation_sentences": 1,
}
RUNS = {
    "additive": {"preset": "rnnsearch-small", "model": {"encoder": STACK, "decoder": DECODER}},
    "lstm": {
        "preset": "rnnsearch-small",
        "model": {"encoder": {**STACK, "cell": "lstm"}, "decoder": {**DECODER, "cell": "lstm"}},
    },
    "input feeding": {"preset": "luong-small", "model": {"encoder": STACK, "decoder": {"state_size": 256}}},
    "language model": {"task": "language_model", "model": {"embedding_size": 128, "state_size": 128}},
}


@pytest.mark.skipif(bool(load().reason), reason="needs the kernels in C")
@pytest.mark.parametrize("name", RUNS)
def test_weights_do_not_depend_on_the_number_of_threads(tmp_path, name):
    rng = random.Random(0)
    words = [f"w{k}" for k in range(100)]
    lines = [" ".join(rng.choices(words, k=rng.randint(4, 20))) for _ in range(100)]
    examples = lines if name == "language model" else [(line, line[::-1]) for line in lines]
    tokenizer = {} if name == "language model" else {"tokenizer": {"source": "word", "target": "word"}}
    trained = []
    for threads in (1, 2, 3):
        config = configure({**RUNS[name], **tokenizer, "training": {**TRAINING, "threads": threads}})
        folder = tmp_path / str(threads)
        run_training(folder, config, train=examples[:90], valid=examples[90:], page=False)
        trained.append(load_file(folder / "last.safetensors"))
    first, *others = trained
    for other in others:
        assert [key for key in first if not torch.equal(first[key], other[key])] == []
