"""Runs of classifiers and taggers: what goes together, and what is refused."""

import pytest

from regard.errors import ConfigError
from regard.training.configure import configure

REFUSED = {
    "two files of labels": ("classify", {"data": {"train": ["a", "b"]}}, r"data\.train: 2 files; give one"),
    "separator": ("classify", {"data": {"separator": "comma"}}, r"data\.separator: no 'comma'"),
    "columns of one text": (
        "classify",
        {"data": {"columns": [1, 2, 3]}},
        r"data\.columns: \[1, 2, 3\]; with model.num_texts = 1 give 2, the label's and then each text's, as \[1, 2\]",
    ),
    "columns of two": (
        "classify",
        {"data": {"columns": [1, 2]}, "model": {"num_texts": 2}},
        r"with model.num_texts = 2 give 3.*\[1, 2, 3\]",
    ),
    "selection": ("classify", {"training": {"select": "bleu"}}, r"training\.select: no 'bleu'.*macro_f1"),
    "length": ("classify", {"data": {"max_length": 0}}, r"data\.max_length: 0 is out of range"),
    "three files of tags": ("tag", {"data": {"train": ["a", "b", "c"]}}, r"3 files; give two parallel ones"),
    "two vertical files": (
        "tag",
        {"data": {"train": ["a", "b"], "layout": "vertical"}},
        r"data\.train: 2 files; give one, with a word and its tag",
    ),
    "layout": ("tag", {"data": {"layout": "conll"}}, r"data\.layout: no 'conll'; known: lines, vertical"),
    "columns of tags": ("tag", {"data": {"columns": [1]}}, r"data\.columns: \[1\]; give two columns"),
    "pieces": ("tag", {"tokenizer": {"text": "bpe"}}, 'tokenizer.text = "bpe" cuts words into pieces'),
    "a frozen encoder with random weights": (
        "classify",
        {"training": {"unfreeze_every": 1.0}},
        r"training\.unfreeze_every = 1 .*its weights are random; name .*--set pretrained\.encoder=FOLDER",
    ),
    "the same of a tagger": ("tag", {"training": {"unfreeze_every": 2.0}}, r"training\.unfreeze_every = 2 "),
    "texts have no sentence_accuracy": (
        "classify",
        {"training": {"select": "sentence_accuracy"}},
        r"training\.select: no 'sentence_accuracy'",
    ),
}


@pytest.mark.parametrize(("task", "over", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_go_together(task, over, message):
    with pytest.raises(ConfigError, match=message):
        configure({"task": task, **over})


def test_what_does():
    for task in ("classify", "tag"):
        assert configure(
            {"task": task, "training": {"unfreeze_every": 1}, "pretrained": {"encoder": "language_model"}}
        )
    assert configure({"task": "classify", "data": {"columns": [3, 1, 2]}, "model": {"num_texts": 2}})
    assert configure({"task": "tag", "data": {"train": ["a"], "columns": [2, 4], "layout": "vertical"}})
    for select in ("loss", "accuracy", "macro_f1"):
        for task in ("classify", "tag"):
            assert configure({"task": task, "training": {"select": select}}).training.select == select
