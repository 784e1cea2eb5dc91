"""From tagged sentences to what the loop learns from: tags and a vocabulary learnt, sentences encoded and sifted.

In: `TaggedSentence`s. Out: `Prepared`. Nothing is dropped in silence: what was left out is in the account.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regard.errors import DataError
from regard.tasks.base import fit_to_learn, learn_text
from regard.tasks.config import TextTokenizerConfig
from regard.tasks.tag.config import TaggedDataConfig
from regard.tasks.train_valid_split import split_train_valid
from regard.text import (
    EncodedTagged,
    Labels,
    TaggedSentence,
    Tokenizer,
    encode_tagged,
    read_tagged,
    read_vertical,
)

Words = str | Sequence[str]
"""Words, or tags: parted by blanks, or already apart."""


@dataclass(frozen=True)
class Prepared:
    """Everything a run needs of its data.

    Attributes:
        tokenizer: of words; learnt from the training sentences, or given.
        labels: all tags that the training sentences have.
        train: the sentences to learn from.
        valid: the sentences to validate with.
        notes: sentences for the user: what was set aside, what was taken out.
    """

    tokenizer: Tokenizer
    labels: Labels
    train: Sequence[EncodedTagged]
    valid: Sequence[EncodedTagged]
    notes: tuple[str, ...]


def read_corpus(files: Sequence[str], layout: str, columns: Sequence[int]) -> list[TaggedSentence]:
    """Read tagged sentences.

    Args:
        files: two parallel ones, or one.
        layout: ``lines`` or ``vertical``.
        columns: of words and tags in one file, counted from 1; empty for the first two.

    Raises:
        ConfigError: columns are named for two parallel files, or are no columns.
        DataError: a file or a line cannot be used, or there is none.
    """
    chosen = (columns[0], columns[1]) if columns else None
    if layout == "vertical":
        sentences = list(read_vertical(files[0], columns=chosen))
    else:
        sentences = list(read_tagged(*files, columns=chosen))
    if not sentences:
        raise DataError(
            f"{' and '.join(files)}: an empty corpus, for there is no sentence in it; give words with a tag each"
        )
    return sentences


def as_tagged(examples: Iterable[TaggedSentence | tuple[Words, Words]]) -> list[TaggedSentence]:
    """Tagged sentences, and tuples of words and tags, as tagged sentences.

    Raises:
        DataError: an example has no words, or not as many tags as words.
    """
    made = []
    for number, item in enumerate(examples, start=1):
        if isinstance(item, TaggedSentence):
            sentence = item
        else:
            words, tags = item
            sentence = TaggedSentence(_parted(words), _parted(tags))
        if not sentence.words or len(sentence.words) != len(sentence.tags):
            raise DataError(
                f"example {number} has {len(sentence.words)} words and {len(sentence.tags)} tags; give one tag for "
                "each word, and at least one word"
            )
        made.append(sentence)
    return made


def _parted(words: Words) -> tuple[str, ...]:
    return tuple(words.split() if isinstance(words, str) else words)


def prepare(
    train: Sequence[TaggedSentence],
    valid: Sequence[TaggedSentence] | None,
    data: TaggedDataConfig,
    tokenizer: TextTokenizerConfig,
    seed: int,
    given: Tokenizer | None = None,
) -> Prepared:
    """Learn tags and a vocabulary, encode, leave out what is too long.

    Args:
        train: the training sentences.
        valid: the validation sentences; None sets some training sentences aside.
        data: the limit of length.
        tokenizer: size.
        seed: of the choice of sentences set aside.
        given: a pre-trained model's tokenizer, which is taken over, for its weights know those ids.

    Raises:
        ConfigError: the tokenizer that is given cuts words into pieces.
        DataError: nothing is left to learn from, or a validation tag was not learnt.
    """
    notes: list[str] = []
    labels = Labels.learn(tag for sentence in train for tag in sentence.tags)
    if valid is None:
        words = [sentence.words for sentence in train]
        train, valid, note = split_train_valid(train, words, seed, what="sentences")
        notes.append(note)
    if not valid:
        raise DataError(
            "there are no validation sentences in what was given; give some, or leave them out altogether"
        )
    if given is None:
        given = learn_text((" ".join(sentence.words) for sentence in train), tokenizer)
    encoded = list(encode_tagged(train, given, labels))
    fit, left_out = fit_to_learn(
        encoded, lambda sentence: len(sentence.word_ids), data.max_length, what="sentences", unit="words"
    )
    notes.extend(left_out)
    return Prepared(given, labels, fit, list(encode_tagged(valid, given, labels)), tuple(notes))
