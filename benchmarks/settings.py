"""The two models that are measured, as Regard's own configurations: ``mt`` and ``char``.

In: the name of a setting, a decoder, a precision. Out: a `TranslateRun`, and with its corpus a task ready to train.
Every number of a setting is defined here; the peers and the plain loop read them from here.
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
LEARNING_RATE, CLIP = 0.001, 5.0


@dataclass(frozen=True)
class Setting:
    """A model and its training data.

    Attributes:
        name: on the command line.
        corpus: the training data.
        embedding_size: m, both sides.
        encoder_size: units of the BiLSTM per direction.
        batch: sentences per batch.
        updates: the number of updates of a measurement.
        dropout: on embeddings and before the output layer.
        output_words: words per output where search is measured, without the end symbol.
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
        """N of the decoder, and with it d, a and l: as wide as both directions of the encoder together."""
        return 2 * self.encoder_size

    @property
    def vocabulary(self) -> int:
        """V of either side, with the special symbols."""
        return self.corpus.types + len(SPECIAL_PIECES)

    @property
    def warmup(self) -> int:
        """The number of updates before timing starts."""
        return max(3, self.updates // 6)

    def to_json(self) -> dict[str, Any]:
        """The fields, as a subprocess takes them."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """The setting whose `to_json` this is."""
        return cls(**{**fields, "corpus": Corpus(**fields["corpus"])})


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


def get_setting(name: str) -> Setting:
    """The setting with a name.

    Raises:
        ConfigError: there is none.
    """
    if name not in SETTINGS:
        raise ConfigError(f"there is no setting {name!r}; {nearest(name, SETTINGS)}")
    return SETTINGS[name]


def model_config(decoder: str, embedding_size: int, encoder_size: int, dropout: float) -> dict[str, Any]:
    """The table ``model`` of a configuration file.

    Args:
        decoder: one of `DECODERS`.
        embedding_size: m, both sides.
        encoder_size: units per direction; all widths of the decoder are twice that.
        dropout: on embeddings and before the output layer.

    Raises:
        ConfigError: no such decoder.
    """
    if decoder not in DECODERS:
        raise ConfigError(f"the benchmark has no decoder {decoder!r}; {nearest(decoder, DECODERS)}")
    n = 2 * encoder_size
    part = {"cell": "lstm", "embedding_size": embedding_size, "dropout": dropout}
    attending = {"attention": {"energy": "additive", "size": n}, "state_size": n, "readout_size": n}
    wiring = {"input_feeding": True, "bridge": "copy"} if decoder == "luong" else {}
    return {
        "encoder": {**part, "state_size": encoder_size, "bidirectional": True},
        "decoder": {**part, **attending, **wiring, "kind": decoder},
    }


def build_run(setting: Setting, decoder: str, precision: str = "32") -> TranslateRun:
    """The run that trains a setting's model.

    Args:
        setting: the sizes.
        decoder: one of `DECODERS`.
        precision: a value of ``training.precision``.

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
            "model": model_config(decoder, setting.embedding_size, setting.encoder_size, setting.dropout),
            "training": {
                "optimizer": "adam",
                "learning_rate": LEARNING_RATE,
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


def build_task(setting: Setting, decoder: str, precision: str = "32") -> TranslateTask:
    """The task of that run with its data prepared; its model is not built yet."""
    return TranslateTask(build_run(setting, decoder, precision), *setting.corpus.pairs())
