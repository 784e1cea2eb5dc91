"""Recipes for language models: Penn Treebank and WikiText-2."""

from pathlib import Path

from regard.config import merge
from regard.recipes.recipe import Arm, Corpus, Figure, Recipe
from regard.tasks.spec import Preset

_CHENG = "Cheng et al. 2016, in their set-up (recalled)"


class _Text:
    """A text in three files.

    Args:
        pattern: their path in the folder of data sets, with ``{}`` for train, valid and test.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __call__(self, data: Path, made: Path) -> Corpus:
        del made
        train, valid, test = (data / self._pattern.format(part) for part in ("train", "valid", "test"))
        return Corpus([train], [valid], {"test": [test]})


_PTB = _Text("ptb/ptb.{}.txt.xz")
_WIKITEXT_2 = _Text("wikitext-2/wiki.{}.tokens.xz")
_WIKITEXT_2_WORDS = 33_290  # all 33,278 words, and the special symbols


_CHENG_SET_UP: Preset = {
    "preset": "lstmn-cheng",
    "model": {"dropout": 0.3},
    "training": {"decay_from": 8.0, "max_epochs": 20.0},
}


_RNN: Preset = {
    "model": {"cell": "rnn", "dropout": 0.5},
    "training": {"optimizer": "adam", "learning_rate": 0.001, "clip": 1.0},
}


def _cheng(name: str, value: float, change: Preset, what: str) -> Arm:
    return Arm(
        name=name,
        corpus=_PTB,
        config=merge(_CHENG_SET_UP, change),
        figures={"test": [Figure(value, f"{what}, {_CHENG}")]},
    )


def _regularised(cell: Preset) -> Preset:
    """Two layers of 640 with tied embeddings, one dropout mask per window, dropped weights, averaged weights.

    After Gal & Ghahramani 2016 (masks), Press & Wolf 2017 (tied embeddings) and Merity et al. 2018 (dropped entries of
    U; averaged weights, by a moving average here).
    """
    return {
        "task": "language_model",
        "preset": "zaremba-medium",
        "model": {
            "embedding_size": 640,
            "state_size": 640,
            "tie": True,
            "variational": True,
            "dropout": 0.5,
            "weight_dropout": 0.4,
            **cell,
        },
        "training": {
            "optimizer": "adamw",
            "learning_rate": 0.002,
            "weight_decay": 0.01,
            "normalize": "tokens",
            "schedule": "cosine",
            "warmup": 500,
            "clip": 0.25,
            "batch_sentences": 40,
            "max_epochs": 60.0,
            "moving_average": 0.999,
        },
    }


PENN_TREEBANK = Recipe(
    name="penn-treebank",
    title="Penn Treebank, language models of words",
    conditions=(
        "Mikolov's files, 10,000 words, perplexity per word with line ends counted; Cheng's set-up, here with "
        "dropout 0.3 and a learning rate that falls after the eighth of 20 epochs, reads each sentence from a zero "
        "state, Zaremba's and the regularised one continuous text; the RNN learns by Adam at 0.001 with dropout "
        "0.5, as it diverges at Cheng's 0.65; one model, no dynamic evaluation"
    ),
    metric="perplexity",
    arms=[
        _cheng("rnn", 129.0, _RNN, "RNN"),
        _cheng("lstm", 115.0, {"model": {"cell": "lstm"}}, "LSTM"),
        _cheng("lstmn", 108.0, {}, "LSTMN"),
        _cheng("lstmn-3-layers", 102.0, {"model": {"num_layers": 3}}, "LSTMN of 3 layers"),
        Arm(
            name="zaremba-medium",
            corpus=_PTB,
            config={"preset": "zaremba-medium"},
            evaluate=("--continuous",),
            figures={"test": [Figure(82.7, "medium regularised LSTM, Zaremba et al. 2014")]},
        ),
        Arm(
            name="lstmn-regularised",
            corpus=_PTB,
            config=_regularised({"cell": "lstmn", "memory": {"energy": "additive", "span": 35}}),
            evaluate=("--continuous",),
            figures={"test": [Figure(75.0, "to reach")]},
        ),
    ],
)

WIKITEXT_2 = Recipe(
    name="wikitext-2",
    title="WikiText-2, language models of words",
    conditions=(
        "33,278 words, perplexity per word with line ends counted, blank lines too; continuous text; one model, no "
        "cache, no dynamic evaluation"
    ),
    metric="perplexity",
    arms=[
        Arm(
            name="lstm",
            corpus=_WIKITEXT_2,
            config={
                "preset": "zaremba-medium",
                "tokenizer": {"text_size": _WIKITEXT_2_WORDS},
                "model": {"tie": True},
                "training": {"batch_sentences": 40, "max_epochs": 30.0},
            },
            evaluate=("--continuous",),
            figures={"test": [Figure(99.0, "LSTM, Grave et al. 2017: 99.3")]},
        ),
        Arm(
            name="lstm-regularised",
            corpus=_WIKITEXT_2,
            config=merge(_regularised({"cell": "lstm"}), {"tokenizer": {"text_size": _WIKITEXT_2_WORDS}}),
            evaluate=("--continuous",),
            figures={
                "test": [Figure(65.8, "AWD-LSTM, Merity et al. 2018, of three layers of 1,150: to compare")]
            },
        ),
    ],
)
