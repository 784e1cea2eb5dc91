"""Lines of text as rows of a store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from regard.tasks.base import train_text_tokenizer
from regard.tasks.language_model.config import LanguageModelRun
from regard.tasks.preparation import EncodedRow, Preparation
from regard.text import EncodedLine, Tokenizer, encode_lines, read_lines


class LinePreparation(Preparation[str]):
    """See `Preparation`."""

    columns = MappingProxyType({"ids": "text"})
    fixed = ("mode", "max_length")
    config: LanguageModelRun

    def __init__(self, config: LanguageModelRun, labels: Sequence[str] = ()) -> None:
        super().__init__(config, labels)
        self.is_continuous = config.data.mode == "continuous"

    def group(self, files: Sequence[str]) -> list[tuple[str, ...]]:
        """Every file is a corpus."""
        return [(name,) for name in files]

    def read(self, files: Sequence[str], listener: Callable[[str], None]) -> Iterator[str]:
        """See `Preparation.read`."""
        return read_lines(files)

    def train_tokenizers(self, examples: Sequence[str]) -> Mapping[str, Tokenizer]:
        """See `Preparation.train_tokenizers`."""
        return {"text": train_text_tokenizer(examples, self.config.tokenizer)}

    def encode(self, examples: Sequence[str], tokenizers: Mapping[str, Tokenizer]) -> Iterator[EncodedRow]:
        """See `Preparation.encode`; continuous text has all its lines."""
        limit = self.config.data.max_length
        for line in encode_lines(examples, tokenizers["text"]):
            is_kept = self.is_continuous or 0 < len(line.ids) <= limit
            yield EncodedRow((line.ids,), "" if is_kept else "too_long" if line.ids else "empty")

    def build(self, *ids: list[int]) -> EncodedLine:
        """A line without its text: words and characters are counted to validate, never to train."""
        [own] = ids
        return EncodedLine("", own, 0, 0)

    def texts(self, example: str) -> tuple[str, ...]:
        """The line."""
        return (example,)

    def place(self, example: str) -> str:
        """Unknown: a line is only a text."""
        return ""

    def to_json(self, example: str) -> dict[str, Any]:
        """See `Preparation.to_json`."""
        return {"text": example}

    def from_json(self, value: Any) -> str:
        """See `Preparation.from_json`."""
        return str(value["text"])
