"""Lines → ids, as translating wants them."""

from collections.abc import Sequence

from regard.errors import DataError
from regard.text import Tokenizer


class TooLongError(DataError):
    """A line has too many tokens.

    Attributes:
        place: which of the lines given, from 0; those before it could be translated.
    """

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


def read_ids(lines: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """The ids of each line; none of a line of blanks, though a character model has a token for each of them."""
    return [
        ids if line.strip() else [] for line, ids in zip(lines, tokenizer.encode_batch(lines), strict=True)
    ]


def read_sources(
    lines: Sequence[str], tokenizer: Tokenizer, max_length: int, first_line: int, name: str
) -> list[list[int]]:
    """The ids of each line, none too long.

    Args:
        lines: the sources.
        tokenizer: their own.
        max_length: the most tokens a line may have.
        first_line: the number of the first line, for the message.
        name: what stands before a line's number in the message.

    Raises:
        TooLongError: a line is longer than `max_length` tokens.
    """
    encoded = read_ids(lines, tokenizer)
    for place, (line, ids) in enumerate(zip(lines, encoded, strict=True)):
        if len(ids) > max_length:
            raise TooLongError(
                f"{name}{first_line + place} ({line[:60]!r} …) has {len(ids)} tokens, above the limit of "
                f"{max_length}; split it into sentences, or raise the limit (--max-length)",
                place,
            )
    return encoded
