"""The two models that are measured, as Regard's own configurations: ``mt`` and ``char``.

In: a setting's name, a decoder, a precision. Out: a `TranslateRun`, and with its corpus a task ready to train. Every
number of a setting stands here and nowhere else; peers and the plain loop read them from here.
"""

from dataclasses import asdict, dataclass
from typing import Any, Self

from benchmarks.corpora import Corpus
from regard.errors import ConfigError, nearest
from regard.tasks.translate.config import TranslateRun
from regard.tasks.translate.task import TranslateTask
from regard.text.specials import SPECIAL_PIECES

DECODERS = ("luong", "bahdanau")
"""``luong`` with input feeding is the peers' architecture; ``bahdanau`` is RNNsearch with an LSTM."""
SEED = 1
RATE, CLIP = 0.001, 5.0


@dataclass(frozen=True)
class Setting:
    """A model and what it learns from.

    Attributes:
        name: as the command line takes it.
        corpus: what is learnt from.
        embedding_size: m, both sides.
        encoder_size: units of the BiLSTM each way.
        batch: sentences.
        updates: how many a measurement does.
        dropout: on embeddings and before the output.
        output_words: how many words every output has where searches are measured, the end mark not counted.
    """

    name: str
    corpus: Corpus
    embedding_size: int
    encoder_size: int
    batch: int
    updates: int
    dropout: float = 0.2
    output_words: int = 20

    @property
    def decoder_size(self) -> int:
        """N of the decoder, and d, a and l with it: as wide as both directions of the encoder together."""
        return 2 * self.encoder_size

    @property
    def vocabulary(self) -> int:
        """V of either side, specials counted."""
        return self.corpus.types + len(SPECIAL_PIECES)

    @property
    def warmup(self) -> int:
        """Updates that go before the stopwatch starts."""
        return max(3, self.updates // 6)

    def to_json(self) -> dict[str, Any]:
        """As a process of its own takes it."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Self:
        """What `to_json` gave."""
        return cls(**{**given, "corpus": Corpus(**given["corpus"])})


SETTINGS = {
    "mt": Setting(
        "mt",
        Corpus(8000, 5, 40, 8000, 200, zipf=True),
        embedding_size=256,
        encoder_size=256,
        batch=64,
        updates=16,
    ),
    "char": Setting(
        "char",
        Corpus(40, 8, 20, 8000, 200, zipf=False),
        embedding_size=128,
        encoder_size=128,
        batch=32,
        updates=80,
        output_words=14,
    ),
}


def setting_of(name: str) -> Setting:
    """The setting of a name.

    Raises:
        ConfigError: there is none.
    """
    if name not in SETTINGS:
        raise ConfigError(f"{name!r} is no setting; {nearest(name, SETTINGS)}")
    return SETTINGS[name]


def model_of(decoder: str, embedding_size: int, encoder_size: int, dropout: float) -> dict[str, Any]:
    """A model's tables, as a configuration file has them under ``model``.

    Args:
        decoder: one of `DECODERS`.
        embedding_size: m, both sides.
        encoder_size: units each way; all widths of the decoder are twice that.
        dropout: on embeddings and before the output.

    Raises:
        ConfigError: no such decoder.
    """
    if decoder not in DECODERS:
        raise ConfigError(f"{decoder!r} is no decoder of the benchmark; {nearest(decoder, DECODERS)}")
    n = 2 * encoder_size
    part = {"cell": "lstm", "embedding_size": embedding_size, "dropout": dropout}
    attending = {"attention": {"energy": "additive", "size": n}, "state_size": n, "readout_size": n}
    wiring = {"input_feeding": True, "bridge": "copy"} if decoder == "luong" else {}
    return {
        "encoder": {**part, "state_size": encoder_size, "bidirectional": True},
        "decoder": {**part, **attending, **wiring, "kind": decoder},
    }


def run_of(setting: Setting, decoder: str, precision: str = "32") -> TranslateRun:
    """The run that trains a setting's model.

    Args:
        setting: sizes.
        decoder: one of `DECODERS`.
        precision: as ``training.precision`` takes it.

    Raises:
        ConfigError: no such decoder or precision.
    """
    return TranslateRun.from_mapping(
        {
            "tokenizer": {
                "source": "word",
                "target": "word",
                "source_size": setting.vocabulary,
                "target_size": setting.vocabulary,
            },
            "model": model_of(decoder, setting.embedding_size, setting.encoder_size, setting.dropout),
            "training": {
                "optimizer": "adam",
                "learning_rate": RATE,
                "clip": CLIP,
                "batch_sentences": setting.batch,
                "batch_tokens": setting.batch * (setting.corpus.longest + 1),
                "precision": precision,
                "device": "cpu",
                "max_updates": setting.updates,
                "seed": SEED,
            },
        },
        "",
    )


def task_of(setting: Setting, decoder: str, precision: str = "32") -> TranslateTask:
    """The task of that run, its data prepared; `build` has not been called."""
    return TranslateTask(run_of(setting, decoder, precision), *setting.corpus.pairs())
