"""Sentence pairs as rows of a store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from regard.tasks.preparation import EncodedRow, Preparation, group_sides
from regard.tasks.translate.config import TranslateRun
from regard.tasks.translate.task import make_tokenizers
from regard.text import EncodedPair, Filters, SentencePair, Tokenizer, encode_pairs, read_pairs
from regard.text.formats.layout import parse_column


class PairPreparation(Preparation[SentencePair]):
    """See `Preparation`."""

    columns = MappingProxyType({"source_ids": "source", "target_ids": "target"})
    fixed = ("max_length", "max_ratio", "drop_duplicates")
    config: TranslateRun

    def __init__(self, config: TranslateRun, labels: Sequence[str] = ()) -> None:
        super().__init__(config, labels)
        data = config.data
        self._filters = Filters(data.max_length, data.max_ratio or None, data.drop_duplicates)

    def group(self, files: Sequence[str]) -> list[tuple[str, ...]]:
        """Files of plain text two by two, as source and target; files with columns and JSON lines by themselves."""
        return group_sides(files, "--train a.de --train a.en", in_columns=bool(self.config.data.columns))

    def read(self, files: Sequence[str], listener: Callable[[str], None]) -> Iterator[SentencePair]:
        """See `Preparation.read`."""
        data = self.config.data
        columns = (data.columns[0], data.columns[1]) if data.columns and len(files) == 1 else None
        features = data.features if parse_column(data.features) != 0 else None
        return read_pairs(*files, columns=columns, features=features, listener=listener)

    def train_tokenizers(self, examples: Sequence[SentencePair]) -> Mapping[str, Tokenizer]:
        """See `Preparation.train_tokenizers`."""
        source, target = make_tokenizers(examples, self.config.tokenizer, {})
        return {"source": source, "target": target}

    def encode(
        self, examples: Sequence[SentencePair], tokenizers: Mapping[str, Tokenizer]
    ) -> Iterator[EncodedRow]:
        """See `Preparation.encode`."""
        for pair in encode_pairs(examples, tokenizers["source"], tokenizers["target"]):
            yield EncodedRow((pair.source_ids, pair.target_ids), self._filters.find_reason(pair) or "")

    def build(self, *ids: list[int]) -> EncodedPair:
        """See `Preparation.build`."""
        source_ids, target_ids = ids
        return EncodedPair(source_ids, target_ids)

    def texts(self, example: SentencePair) -> tuple[str, ...]:
        """Source, with its features, and target."""
        return "\t".join((example.source, *(example.features or ()))), example.target

    def input_and_reference(self, example: SentencePair) -> tuple[Any, str]:
        """The source with its features, and the target."""
        return example.input, example.target

    def place(self, example: SentencePair) -> str:
        """See `Preparation.place`."""
        return "" if example.place is None else str(example.place)

    def to_json(self, example: SentencePair) -> dict[str, Any]:
        """See `Preparation.to_json`."""
        features = {} if example.features is None else {"features": list(example.features)}
        return {"source": example.source, "target": example.target, **features}

    def from_json(self, value: Any) -> SentencePair:
        """See `Preparation.from_json`."""
        features = value.get("features")
        return SentencePair(
            str(value["source"]), str(value["target"]), features=None if features is None else tuple(features)
        )
