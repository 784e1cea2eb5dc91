"""What a report tells.

Plain data: filled by whoever ran the training or the evaluation, read by `build`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from regard.output.translation import Translation
from regard.text.links import GoldLinks

Figure = float | int | str


@dataclass(frozen=True)
class ShownTranslation:
    """One sentence shown in full.

    Attributes:
        source: the line as the reader should see it.
        reference: what it should become, where that is known.
        translation: what it became, with attention and alternatives where there are any.
        gold: links to outline in the heat map, where they are known.
    """

    source: str
    reference: str | None
    translation: Translation
    gold: GoldLinks | None = None


@dataclass(frozen=True)
class Report:
    """All that stands on the page; what is empty is left out of it.

    Attributes:
        title: the heading.
        subtitle: one sentence under it.
        command: what to type to have this again.
        scores: figures by their key, such as "bleu" or "exact_match"; the first four are set large.
        signatures: how sacrebleu counted, by the score's key.
        journal: rows of training and validation, as dicts with "event" and "update".
        by_length: for each band of source length, by its name such as "6–10", its scores by key; "num_sentences",
            "bleu" and "exact_match" are drawn and must be there.
        shown: sentences shown in full.
        details: facts about the model and the run, by name.
        extra_scores: for each further test set its scores by key.
    """

    title: str
    subtitle: str
    command: str
    scores: Mapping[str, Figure]
    signatures: Mapping[str, str] = field(default_factory=dict)
    journal: Sequence[Mapping[str, Any]] = ()
    by_length: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    shown: Sequence[ShownTranslation] = ()
    details: Mapping[str, Figure] = field(default_factory=dict)
    extra_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
