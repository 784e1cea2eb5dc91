"""Tagged sentences as rows of a store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Any

from regard.tasks.label_preparation import LabelPreparation
from regard.tasks.preparation import LABELS, group_sides
from regard.tasks.tag.config import TagRun
from regard.text import (
    EncodedTagged,
    Labels,
    TaggedSentence,
    Tokenizer,
    encode_tagged,
    read_tagged,
    read_vertical,
)


class TaggedPreparation(LabelPreparation[TaggedSentence, EncodedTagged]):
    """See `Preparation`."""

    columns = MappingProxyType({"word_ids": "text", "tag_ids": LABELS})
    config: TagRun

    def group(self, files: Sequence[str]) -> list[tuple[str, ...]]:
        """Files of plain text two by two, as words and tags; files with columns by themselves."""
        data = self.config.data
        in_columns = data.layout == "vertical" or bool(data.columns)
        return group_sides(files, "--train words --train tags", in_columns=in_columns)

    def read(self, files: Sequence[str], listener: Callable[[str], None]) -> Iterator[TaggedSentence]:
        """See `Preparation.read`."""
        data = self.config.data
        columns = (data.columns[0], data.columns[1]) if data.columns else None
        if data.layout == "vertical":
            return read_vertical(files[0], columns=columns)
        return read_tagged(*files, columns=columns)

    def inputs(self, example: TaggedSentence) -> tuple[str, ...]:
        """The sentence."""
        return (" ".join(example.words),)

    def names(self, example: TaggedSentence) -> tuple[str, ...]:
        """The tags."""
        return example.tags

    def encode_examples(
        self, examples: Iterable[TaggedSentence], tokenizer: Tokenizer, labels: Labels
    ) -> Iterable[EncodedTagged]:
        """See `LabelPreparation.encode_examples`."""
        return encode_tagged(examples, tokenizer, labels)

    def rows(self, example: EncodedTagged) -> tuple[list[int], ...]:
        """Words, and as many tags."""
        return example.word_ids, example.tag_ids

    def build(self, *ids: list[int]) -> EncodedTagged:
        """See `Preparation.build`."""
        words, tags = ids
        if len(words) != len(tags):
            raise ValueError(f"{len(words)} words and {len(tags)} tags")
        return EncodedTagged(words, tags)

    def to_json(self, example: TaggedSentence) -> dict[str, Any]:
        """See `Preparation.to_json`."""
        return {"words": list(example.words), "tags": list(example.tags)}

    def from_json(self, value: Any) -> TaggedSentence:
        """See `Preparation.from_json`."""
        return TaggedSentence(tuple(map(str, value["words"])), tuple(map(str, value["tags"])))
