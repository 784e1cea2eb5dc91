"""Labelled examples as rows of a store, for the tasks that predict labels: the ids of texts, and those of labels."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from regard.tasks.base import Encoded, train_text_tokenizer
from regard.tasks.preparation import EncodedRow, Preparation
from regard.text import Labels, Tokenizer
from regard.text.pairs import Place


class Labelled(Protocol):
    """A labelled example."""

    @property
    def place(self) -> Place | None:
        """Where it was read."""
        ...


Example = TypeVar("Example", bound=Labelled)
EncodedExample = TypeVar("EncodedExample", bound=Encoded)


class LabelPreparation(Preparation[Example], Generic[Example, EncodedExample]):
    """See `Preparation`."""

    fixed = ("max_length",)

    @abstractmethod
    def inputs(self, example: Example) -> tuple[str, ...]:
        """The texts of an example."""

    @abstractmethod
    def encode_examples(
        self, examples: Iterable[Example], tokenizer: Tokenizer, labels: Labels
    ) -> Iterable[EncodedExample]:
        """Examples as ids, one for one."""

    @abstractmethod
    def rows(self, example: EncodedExample) -> tuple[list[int], ...]:
        """The ids of an example, by column; `build` is the inverse."""

    def train_tokenizers(self, examples: Sequence[Example]) -> Mapping[str, Tokenizer]:
        """See `Preparation.train_tokenizers`."""
        lines = (text for example in examples for text in self.inputs(example))
        return {"text": train_text_tokenizer(lines, self.config.tokenizer)}

    def encode(
        self, examples: Sequence[Example], tokenizers: Mapping[str, Tokenizer]
    ) -> Iterator[EncodedRow]:
        """See `Preparation.encode`."""
        limit = self.config.data.max_length
        for example in self.encode_examples(examples, tokenizers["text"], Labels(self.labels)):
            num_tokens = example.length - 1  # without EOS
            reason = "" if 0 < num_tokens <= limit else "too_long" if num_tokens else "empty"
            yield EncodedRow(self.rows(example), reason)

    def texts(self, example: Example) -> tuple[str, ...]:
        """The input, and its labels."""
        return "\t".join(self.inputs(example)), " ".join(self.names(example))

    def place(self, example: Example) -> str:
        """See `Preparation.place`."""
        return "" if example.place is None else str(example.place)
