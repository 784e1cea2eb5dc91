"""From vectors and texts to what the loop learns from: a tokenizer learnt, descriptions encoded and filtered.

In: `DescribedFeatures`. Out: `Prepared`. Nothing is dropped in silence: what is left out is in the notes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from regard.errors import DataError
from regard.text import DescribedFeatures, Tokenizer, learn, read_described
from regard.training.config import DescribedDataConfig, TextTokenizerConfig
from regard.training.tasks.aside import set_aside

Example = DescribedFeatures | tuple[Sequence[float] | npt.NDArray[np.floating], str]
"""A vector and its text."""


@dataclass(frozen=True)
class EncodedDescription:
    """A vector (f,), and its description as text and as ids without specials."""

    features: npt.NDArray[np.float32]
    text: str
    ids: Sequence[int]


@dataclass(frozen=True)
class Prepared:
    """Everything a run needs of its data.

    Attributes:
        tokenizer: learnt from the training descriptions.
        train: what to learn from.
        valid: what to validate with.
        feature_size: f.
        notes: sentences for the user: what was set aside, what was left out.
    """

    tokenizer: Tokenizer
    train: Sequence[EncodedDescription]
    valid: Sequence[EncodedDescription]
    feature_size: int
    notes: tuple[str, ...]


def read_examples(files: Sequence[str], column: str, size: int | None = None) -> list[DescribedFeatures]:
    """Read a file of features and the text beside it.

    Args:
        files: the two.
        column: of a table; empty for the only one.
        size: how many features there must be; None for any.

    Raises:
        DataError: a file cannot be used, or there is nothing in it.
    """
    features, texts = files
    examples = list(read_described(features, texts, column=column or None, size=size))
    if not examples:
        raise DataError(
            f"{features}: an empty corpus, for there is no row in it; give one for each line of {texts}"
        )
    return examples


def as_described(examples: Iterable[Example]) -> list[DescribedFeatures]:
    """`DescribedFeatures`, and tuples of a vector and a text, as the former.

    Raises:
        DataError: something is no vector of finite numbers, or the vectors differ in width.
    """
    found: list[DescribedFeatures] = []
    for number, item in enumerate(examples, start=1):
        given, text = (item.features, item.text) if isinstance(item, DescribedFeatures) else item
        vector = np.asarray(given, dtype=np.float32)
        if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
            raise DataError(
                f"example {number}: its features are no vector of finite numbers; give (vector, text) tuples"
            )
        if found and len(vector) != len(found[0].features):
            raise DataError(
                f"example {number}: {len(vector)} features where the first has {len(found[0].features)}; make them "
                "alike"
            )
        found.append(DescribedFeatures(vector, text))
    return found


def prepare(
    train: Sequence[DescribedFeatures],
    valid: Sequence[DescribedFeatures] | None,
    data: DescribedDataConfig,
    tokenizer: TextTokenizerConfig,
    seed: int,
) -> Prepared:
    """Learn a tokenizer, encode, filter.

    Args:
        train: the examples to learn from.
        valid: those to validate with; None sets some of the former aside.
        data: the filters.
        tokenizer: kind and size.
        seed: of the choice of examples set aside.

    Raises:
        DataError: nothing is left to learn from or to validate with, or the two differ in width.
    """
    notes: list[str] = []
    if valid is None:
        kept, aside = set_aside([each.features.tobytes() for each in train], seed)
        train, valid = [train[k] for k in kept], [train[k] for k in aside]
        notes.append(
            f"no validation set given: {len(valid)} of the training descriptions are set aside for it"
        )
    if not train or not valid:
        raise DataError("no descriptions to learn from, or none to validate with; give some of each")
    size = len(train[0].features)
    if len(valid[0].features) != size:
        raise DataError(
            f"{size} features to learn from and {len(valid[0].features)} to validate with; make them alike"
        )
    learnt = learn(
        tokenizer.text,
        [each.text for each in train],
        size=tokenizer.text_size,
        min_frequency=tokenizer.min_frequency,
        lowercase=tokenizer.lowercase,
    )
    fit, left_out = _kept(train, learnt, data.max_length)
    real, blank = _kept(valid, learnt, None)
    notes.extend(f"training descriptions: left out {reason}" for reason in left_out)
    notes.extend(f"validation descriptions: left out {reason}" for reason in blank)
    if not fit:
        raise DataError("no description is left to learn from; give some with text, or raise data.max_length")
    if not real:
        raise DataError("the validation descriptions are all empty; give some with text")
    return Prepared(learnt, fit, real, size, tuple(notes))


def _kept(
    examples: Sequence[DescribedFeatures], tokenizer: Tokenizer, max_length: int | None
) -> tuple[list[EncodedDescription], list[str]]:
    """Those with a text of a fit length, encoded, and what is to be said of the others."""
    encoded = [
        EncodedDescription(each.features, each.text, ids)
        for each, ids in zip(examples, tokenizer.encode_batch([each.text for each in examples]), strict=True)
    ]
    real = [each for each in encoded if each.ids and each.text.strip()]
    fit = [each for each in real if max_length is None or len(each.ids) <= max_length]
    said = []
    if len(real) < len(encoded):
        said.append(f"{len(encoded) - len(real)} without text")
    if len(fit) < len(real):
        said.append(f"{len(real) - len(fit)} of more than {max_length} tokens")
    return fit, said
