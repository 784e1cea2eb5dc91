"""From labelled texts to what the loop learns from: labels and a vocabulary learnt, texts encoded and sifted.

In: `LabelledText`s. Out: `Prepared`. Nothing is dropped in silence: what was left out is in the account.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regard.errors import DataError
from regard.tasks.base import fit_to_learn, learn_text
from regard.tasks.classify.config import LabelledDataConfig
from regard.tasks.config import TextTokenizerConfig
from regard.tasks.train_valid_split import split_train_valid
from regard.text import EncodedLabelled, LabelledText, Labels, Tokenizer, encode_labelled, read_labelled


@dataclass(frozen=True)
class Prepared:
    """Everything a run needs of its data.

    Attributes:
        tokenizer: learnt from the training texts, or given.
        labels: all that the training texts have.
        train: the texts to learn from.
        valid: the texts to validate with.
        notes: sentences for the user: what was set aside, what was taken out.
    """

    tokenizer: Tokenizer
    labels: Labels
    train: Sequence[EncodedLabelled]
    valid: Sequence[EncodedLabelled]
    notes: tuple[str, ...]


def read_corpus(file: str, data: LabelledDataConfig, num_texts: int) -> list[LabelledText]:
    """Read the labelled texts of a file.

    Raises:
        ConfigError: columns, texts and separator do not go together.
        DataError: the file or a line cannot be used, or there is none.
    """
    examples = list(
        read_labelled(
            file,
            num_texts=num_texts,
            columns=data.columns or None,
            separator=data.separator,
            header=data.header,
        )
    )
    if not examples:
        raise DataError(
            f"{file}: an empty corpus, for there is no line in it; give a label and its text a line"
        )
    return examples


def as_labelled(examples: Iterable[LabelledText | tuple[str, ...]], num_texts: int) -> list[LabelledText]:
    """Labelled texts, and tuples of a label and its texts, as labelled texts.

    Raises:
        DataError: an example has not as many texts as the model reads, or a blank one.
    """
    made = []
    for number, item in enumerate(examples, start=1):
        example = item if isinstance(item, LabelledText) else LabelledText(item[0], tuple(item[1:]))
        if len(example.texts) != num_texts:
            raise DataError(
                f"example {number} ({example.label!r}) has {len(example.texts)} texts where model.num_texts is "
                f"{num_texts}; give the label and then as many texts"
            )
        if not all(text.strip() for text in example.texts):
            raise DataError(
                f"example {number} ({example.label!r}) has a blank text, and nothing can be learnt from it; leave it "
                "out"
            )
        made.append(example)
    return made


def prepare(
    train: Sequence[LabelledText],
    valid: Sequence[LabelledText] | None,
    data: LabelledDataConfig,
    tokenizer: TextTokenizerConfig,
    seed: int,
    given: Tokenizer | None = None,
) -> Prepared:
    """Learn labels and a vocabulary, encode, leave out what is too long.

    Args:
        train: the training texts.
        valid: the validation texts; None sets some training texts of each label aside.
        data: the limit of length.
        tokenizer: kind and size.
        seed: of the choice of texts set aside.
        given: a pre-trained model's tokenizer, which is taken over, for its weights know those ids.

    Raises:
        DataError: nothing is left to learn from, or a validation label was not learnt.
    """
    notes: list[str] = []
    labels = Labels.learn(example.label for example in train)
    if valid is None:
        texts, kinds = [example.texts for example in train], [example.label for example in train]
        train, valid, note = split_train_valid(train, texts, seed, what="texts", kinds=kinds)
        notes.append(note)
    if not valid:
        raise DataError(
            "there are no validation texts in what was given; give some, or leave them out altogether"
        )
    if given is None:
        given = learn_text((text for example in train for text in example.texts), tokenizer)
    encoded = list(encode_labelled(train, given, labels))
    fit, left_out = fit_to_learn(encoded, lambda example: example.length - 1, data.max_length, what="texts")
    notes.extend(left_out)
    return Prepared(given, labels, fit, list(encode_labelled(valid, given, labels)), tuple(notes))
