"""From lines of text to what the loop learns from: a tokenizer learnt, lines encoded, some left out.

In: lines. Out: `PreparedText`. Nothing is dropped in silence: what was taken out is in the notes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regard.errors import DataError
from regard.tasks.base import fit_to_learn, learn_text
from regard.tasks.config import TextTokenizerConfig
from regard.tasks.language_model.config import TextDataConfig
from regard.tasks.train_valid_split import said_of, split_train_valid
from regard.text import EncodedLine, Tokenizer, encode_lines, read_lines

_ASIDE = 20  # one line in so many of continuous text


@dataclass(frozen=True)
class PreparedText:
    """Everything a run needs of its data.

    Attributes:
        tokenizer: learnt from the training text.
        train: the lines to learn from.
        valid: the lines to validate with.
        notes: sentences for the user: what was set aside, what was taken out.
    """

    tokenizer: Tokenizer
    train: Sequence[EncodedLine]
    valid: Sequence[EncodedLine]
    notes: tuple[str, ...]


def read_text(files: Sequence[str]) -> list[str]:
    """Read the lines of some files, one file after the other.

    Raises:
        DataError: a file or a line cannot be read, or there is no text.
    """
    lines = list(read_lines(files))
    if not any(map(str.strip, lines)):
        raise DataError(
            f"{' and '.join(files)}: an empty corpus, for there is no text in it; name a file with some"
        )
    return lines


def as_lines(examples: Iterable[str | tuple[str]]) -> list[str]:
    """Lines, and tuples of one line, as lines."""
    return [item if isinstance(item, str) else item[0] for item in examples]


def prepare(
    train: Sequence[str],
    valid: Sequence[str] | None,
    data: TextDataConfig,
    tokenizer: TextTokenizerConfig,
    seed: int,
) -> PreparedText:
    """Learn a tokenizer, encode, leave out what cannot be used.

    Args:
        train: the training lines.
        valid: the validation lines; None sets some training lines aside.
        data: how the text is read.
        tokenizer: its kind and size.
        seed: of the choice of lines set aside.

    Raises:
        DataError: nothing is left to learn from or to validate with.
    """
    notes: list[str] = []
    continuous = data.mode == "continuous"
    if valid is None:
        if continuous:
            train, valid = _last_block(train)
            note = said_of(len(valid), "lines", "the last ")
        else:
            lines = [line for line in train if line.strip()]
            train, valid, note = split_train_valid(lines, lines, seed, what="lines")
        notes.append(note)
    learnt = learn_text(train, tokenizer)
    to_learn = list(encode_lines(train, learnt))
    to_validate = list(encode_lines(valid, learnt))
    if not continuous:
        to_learn, left_out = fit_to_learn(to_learn, lambda line: len(line.ids), data.max_length, what="lines")
        notes.extend(left_out)
        to_validate = [line for line in to_validate if line.ids]
    if not any(line.ids for line in to_validate):
        raise DataError("the validation text is empty; give some lines with text")
    return PreparedText(learnt, to_learn, to_validate, tuple(notes))


def _last_block(lines: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Part the end of a text from the rest of it: its context is whole but for its first line."""
    count = max(1, len(lines) // _ASIDE)
    rest, aside = lines[:-count], lines[-count:]
    if not any(map(str.strip, rest)) or not any(map(str.strip, aside)):
        raise DataError(
            f"{len(lines)} lines are too few to learn from and to validate with, for the last {count} would be set "
            "aside; give more, or name a validation text with --valid"
        )
    return rest, aside
