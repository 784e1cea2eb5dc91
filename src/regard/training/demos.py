"""What ``regard demo`` trains on each dataset: how much of it, and the configuration, every number in sight."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from regard.config import in_range, one_of


def translator_sizes(size: int) -> dict[str, Any]:
    """A translator without dropout, of one size; the decoder's state is as wide as the annotations."""
    return {
        "encoder": {"embedding_size": size, "state_size": size, "dropout": 0.0},
        "decoder": {
            "embedding_size": size,
            "state_size": 2 * size,
            "attention": {"size": size},
            "readout_size": size,
            "dropout": 0.0,
        },
    }


_MICROWORLD: dict[str, Any] = {
    "preset": "rnnsearch-small",
    "tokenizer": {"source": "word", "target": "word"},
    "model": {
        # half the French vocabulary is rare; a tied matrix is trained by both of its uses
        "tie": "target",
        **translator_sizes(96),
    },
    "training": {
        "learning_rate": 0.006,
        "label_smoothing": 0.0,
        "batch_sentences": 64,
        "max_epochs": 0,
        "max_updates": 1800,
        "validate_every": 600,
        "validation_sentences": 200,
    },
}

_DATES: dict[str, Any] = {
    "preset": "characters",
    "training": {
        "learning_rate": 0.003,
        "batch_sentences": 64,
        "max_epochs": 0,
        "max_updates": 1500,
        "validate_every": 500,
        "validation_sentences": 200,
    },
}


_COPY: dict[str, Any] = {
    "preset": "rnnsearch-small",
    "tokenizer": {"source": "word", "target": "word"},
    "model": translator_sizes(64),
    "training": {
        "learning_rate": 0.005,
        "label_smoothing": 0.0,
        "max_epochs": 0,
        "max_updates": 1000,
        "validate_every": 500,
        "validation_sentences": 200,
    },
}

_LANGUAGE: dict[str, Any] = {
    "preset": "lstmn-lm",
    "model": {"embedding_size": 96, "state_size": 96, "dropout": 0.1, "memory": {"size": 96}},
    "training": {
        "learning_rate": 0.006,
        "batch_sentences": 64,
        "max_epochs": 0,
        "max_updates": 1600,
        "validate_every": 800,
    },
}

_SENTIMENT: dict[str, Any] = {
    "preset": "classifier",
    "model": {
        "encoder": {"embedding_size": 64, "state_size": 64, "dropout": 0.1},
        "pooling_size": 64,
        "dropout": 0.1,
    },
    "training": {
        "learning_rate": 0.004,
        "batch_sentences": 64,
        "max_epochs": 0,
        "max_updates": 1500,
        "validate_every": 500,
    },
}

_RECALL: dict[str, Any] = {
    "preset": "lstmn-classifier",
    "model": {
        # an LSTM of this size stays near chance: the value must be looked up by its key
        "encoder": {
            "cell": "rnn-sum-keep",
            "embedding_size": 48,
            "state_size": 64,
            "memory": {"energy": "bilinear"},
        },
        "pooling": "last",
        "hidden_size": 0,
        "dropout": 0.0,
    },
    "training": {
        "learning_rate": 0.004,
        "schedule": "cosine",
        "warmup": 100,
        "clip": 1.0,
        "batch_sentences": 64,
        "max_epochs": 0,
        "max_updates": 1500,
        "validate_every": 300,
    },
}

_TAGGING: dict[str, Any] = {
    "preset": "tagger",
    "model": {"encoder": {"embedding_size": 64, "state_size": 64, "dropout": 0.2}},
    "training": {
        "learning_rate": 0.005,
        "batch_sentences": 64,
        "max_epochs": 0,
        "max_updates": 1500,
        "validate_every": 500,
    },
}

_SCENES: dict[str, Any] = {
    "preset": "captioner",
    "model": {
        "summary_size": 128,
        "decoder": {"embedding_size": 96, "state_size": 192, "readout_size": 96, "dropout": 0.0},
    },
    "training": {
        "label_smoothing": 0.0,
        "learning_rate": 0.003,
        "batch_sentences": 64,
        "max_epochs": 0,
        "max_updates": 2500,
        "validate_every": 500,
        "validation_sentences": 200,
    },
}


_ALIGNMENT: dict[str, Any] = {
    "preset": "aligner",
    "training": {"max_epochs": 0, "max_updates": 400, "validate_every": 100},
}


@dataclass(frozen=True)
class Demo:
    """The demonstration of a dataset.

    Attributes:
        train: the number of training examples.
        valid: the number of validation examples.
        test: the number of test examples.
        tokenize: BLEU's tokenizer: none, or char where the output is one word.
        config: the run, as a configuration file has it.
        dataset: options of the dataset, beside sizes and a seed.
    """

    train: int
    valid: int
    test: int
    tokenize: str
    config: dict[str, Any]
    dataset: dict[str, Any] = field(default_factory=dict)

    def limited_to(self, size: int | None) -> "Demo":
        """The same with `size` training examples, and at most as many for validation and test; None changes nothing.

        Raises:
            ConfigError: the size is below 1.
        """
        if size is None:
            return self
        in_range("--train-size", size, 1)
        return replace(self, train=size, valid=min(self.valid, size), test=min(self.test, size))


DEMOS: dict[str, Callable[[], Demo]] = {
    "microworld": lambda: Demo(100_000, 500, 1000, "none", _MICROWORLD),
    "dates": lambda: Demo(40_000, 500, 1000, "char", _DATES),
    "copy": lambda: Demo(20_000, 500, 1000, "none", _COPY),
    "language": lambda: Demo(60_000, 500, 1000, "none", _LANGUAGE),
    "newsroom": lambda: Demo(60_000, 500, 1000, "none", _LANGUAGE),
    "sentiment": lambda: Demo(20_000, 500, 1000, "none", _SENTIMENT),
    "recall": lambda: Demo(120_000, 500, 1000, "none", _RECALL, {"most": 4}),
    "tagging": lambda: Demo(20_000, 500, 1000, "none", _TAGGING),
    "scenes": lambda: Demo(40_000, 500, 1000, "none", _SCENES),
    "alignment": lambda: Demo(20_000, 500, 1000, "none", _ALIGNMENT),
}


def find_demo(dataset: str) -> Demo:
    """The demonstration of a dataset.

    Raises:
        ConfigError: there is none of that name.
    """
    one_of("demo", dataset, DEMOS)
    return DEMOS[dataset]()
