"""Labelled texts as rows of a store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from regard.tasks.classify.config import ClassifyRun
from regard.tasks.label_preparation import LabelPreparation
from regard.tasks.preparation import LABELS
from regard.text import EncodedLabelled, LabelledText, Labels, Tokenizer, encode_labelled, read_labelled


class LabelledTextPreparation(LabelPreparation[LabelledText, EncodedLabelled]):
    """See `Preparation`."""

    config: ClassifyRun

    def __init__(self, config: ClassifyRun, labels: Sequence[str] = ()) -> None:
        super().__init__(config, labels)
        texts = {f"text_ids_{k + 1}": "text" for k in range(config.model.num_texts)}
        self.columns = {**texts, "label_ids": LABELS}

    def group(self, files: Sequence[str]) -> list[tuple[str, ...]]:
        """Every file is a corpus."""
        return [(name,) for name in files]

    def read(self, files: Sequence[str], listener: Callable[[str], None]) -> Iterator[LabelledText]:
        """See `Preparation.read`."""
        data, num_texts = self.config.data, self.config.model.num_texts
        return read_labelled(
            files[0],
            num_texts=num_texts,
            columns=data.columns or None,
            separator=data.separator,
            header=data.header,
        )

    def inputs(self, example: LabelledText) -> tuple[str, ...]:
        """One text, or the two of a pair."""
        return example.texts

    def input_and_reference(self, example: LabelledText) -> tuple[Any, str]:
        """One text or the pair, and the label."""
        return example.texts if len(example.texts) > 1 else example.texts[0], example.label

    def names(self, example: LabelledText) -> tuple[str, ...]:
        """The label."""
        return (example.label,)

    def encode_examples(
        self, examples: Iterable[LabelledText], tokenizer: Tokenizer, labels: Labels
    ) -> Iterable[EncodedLabelled]:
        """See `LabelPreparation.encode_examples`."""
        return encode_labelled(examples, tokenizer, labels)

    def rows(self, example: EncodedLabelled) -> tuple[list[int], ...]:
        """Each text, and the label as a column of one id."""
        return (*example.text_ids, [example.label_id])

    def build(self, *ids: list[int]) -> EncodedLabelled:
        """See `Preparation.build`."""
        *texts, [label_id] = ids
        return EncodedLabelled(tuple(texts), label_id)

    def to_json(self, example: LabelledText) -> dict[str, Any]:
        """See `Preparation.to_json`."""
        return {"label": example.label, "texts": list(example.texts)}

    def from_json(self, value: Any) -> LabelledText:
        """See `Preparation.from_json`."""
        return LabelledText(str(value["label"]), tuple(map(str, value["texts"])))
