"""From vectors and texts to what the loop learns from: a tokenizer learnt, descriptions encoded and filtered.

In: `DescribedFeatures`. Out: `Prepared`. Nothing is dropped in silence: what is left out is in the notes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from regard.errors import DataError
from regard.tasks.base import fit_to_learn, learn_text
from regard.tasks.caption.config import CaptionDataConfig
from regard.tasks.config import TextTokenizerConfig
from regard.tasks.train_valid_split import split_train_valid
from regard.text import DescribedFeatures, Tokenizer, as_numbers, read_described

Example = DescribedFeatures | tuple[Sequence[float] | npt.NDArray[np.floating], str]
"""A vector and its text."""


@dataclass(frozen=True)
class EncodedDescription:
    """A vector (f,), and its description as text and as ids without specials."""

    features: npt.NDArray[np.float32]
    text: str
    ids: Sequence[int]

    @property
    def length(self) -> int:
        """How many tokens it has, without specials; 0 if there is nothing to read in them."""
        return len(self.ids) if self.text.strip() else 0


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


def read_examples(files: Sequence[str], column: str) -> list[DescribedFeatures]:
    """Read a file of features and the text beside it.

    Args:
        files: the two.
        column: of a table; empty for the only one.

    Raises:
        DataError: a file cannot be used, or there is nothing in it.
    """
    features, texts = files
    examples = list(read_described(features, texts, column=column or None))
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
        vector = as_numbers(given, f"example {number}")
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
    data: CaptionDataConfig,
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
        vectors = [each.features.tobytes() for each in train]
        train, valid, note = split_train_valid(train, vectors, seed, what="descriptions")
        notes.append(note)
    if not train or not valid:
        raise DataError("no descriptions to learn from, or none to validate with; give some of each")
    size = len(train[0].features)
    if len(valid[0].features) != size:
        raise DataError(
            f"{size} features to learn from and {len(valid[0].features)} to validate with; make them alike"
        )
    learnt = learn_text((each.text for each in train), tokenizer)
    fit, left_out = fit_to_learn(
        _encoded(train, learnt), lambda each: each.length, data.max_length, what="descriptions"
    )
    notes.extend(left_out)
    real = [each for each in _encoded(valid, learnt) if each.length]
    if not real:
        raise DataError("the validation descriptions are all empty; give some with text")
    if len(real) < len(valid):
        notes.append(f"validation descriptions: left out {len(valid) - len(real)} blank")
    return Prepared(learnt, fit, real, size, tuple(notes))


def _encoded(examples: Sequence[DescribedFeatures], tokenizer: Tokenizer) -> list[EncodedDescription]:
    ids = tokenizer.encode_batch([each.text for each in examples])
    return [EncodedDescription(each.features, each.text, k) for each, k in zip(examples, ids, strict=True)]
