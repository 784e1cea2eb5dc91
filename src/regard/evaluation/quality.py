"""How good generated text is against one reference per line, for a corpus and by source length.

In: lines. Out: `Quality`, the scores of every metric of text in `METRICS` that applies, and sacrebleu's signatures;
`LengthBand`, the same for the sentences of some source lengths (Figure 2 of Bahdanau et al.), counted in words or in
characters. Knows nothing of models or of how the lines were made.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

from regard.errors import ConfigError, nearest
from regard.evaluation.metrics import text_metrics
from regard.evaluation.text import LineUnit, TextOptions, check_parallel, line_length

TOKENIZERS = ("13a", "intl", "char", "zh", "none")
"""BLEU's tokenizers; sacrebleu's others download a model or need another package."""


@dataclass(frozen=True)
class Quality:
    """The scores of a corpus of generated text.

    Attributes:
        scores: by the metric's key, in the order of `text_metrics`.
        num_sentences: how many lines were scored.
        signatures: how sacrebleu counted, by the metric's key.
    """

    scores: Mapping[str, float]
    num_sentences: int
    signatures: Mapping[str, str]

    def __getitem__(self, key: str) -> float:
        return self.scores[key]

    def by_length_scores(self) -> dict[str, float]:
        """The scores that are columns of the table by source length."""
        columns = {key for key, metric in text_metrics().items() if metric.by_length}
        return {key: value for key, value in self.scores.items() if key in columns}

    def to_json(self) -> dict[str, Any]:
        """All scores as a JSON object."""
        return {**self.scores, "num_sentences": self.num_sentences, "signatures": dict(self.signatures)}


def measure_quality(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    unit: LineUnit = "words",
    metrics: Collection[str] | None = None,
    always: Collection[str] = (),
) -> Quality:
    """Score generated lines against references.

    Args:
        hypotheses: one line per sentence.
        references: one line per sentence, in the same order.
        tokenize: BLEU's tokenizer, one of `TOKENIZERS`; "none" for tokenised text.
        lowercase: whether to ignore case.
        unit: what the lines consist of; WER and PER are reported for symbols and characters.
        metrics: the keys of those to compute, where they apply; by default all, of which TER takes longest.
        always: the keys of those to compute even where they mean little, because a run selects by them.

    Raises:
        DataError: no lines, or a different number of hypotheses and references.
        ConfigError: an unknown tokenizer.
    """
    check_parallel(hypotheses=hypotheses, references=references)
    if tokenize not in TOKENIZERS:
        raise ConfigError(
            f"tokenize = {tokenize!r} is not a tokenizer of BLEU; {nearest(tokenize, TOKENIZERS)}"
        )
    if lowercase:
        hypotheses, references = [line.lower() for line in hypotheses], [line.lower() for line in references]
    options = TextOptions(tokenize, lowercase, unit)
    applying = {
        key: metric for key, metric in text_metrics(options).items() if metrics is None or key in metrics
    }
    chosen = applying | {key: metric for key, metric in text_metrics().items() if key in always}
    return Quality(
        {key: metric.function(hypotheses, references, options) for key, metric in chosen.items()},
        len(references),
        {key: metric.signature(options) for key, metric in chosen.items() if metric.signature is not None},
    )


_LEAST_BANDS, _MOST_BANDS = 3, 10


@dataclass(frozen=True)
class LengthBand:
    """The sentences whose source has `lower` to `upper` words or characters, inclusive, and their scores."""

    lower: int
    upper: int
    num_sentences: int
    quality: Quality

    @property
    def name(self) -> str:
        """The lengths as "6–10", or "7" for a single one."""
        return f"{self.lower}" if self.lower == self.upper else f"{self.lower}–{self.upper}"

    def to_json(self) -> dict[str, Any]:
        """The band as a JSON object."""
        return {"lower": self.lower, "upper": self.upper, **self.quality.to_json()}


def measure_by_length(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    edges: Sequence[int] | None = None,
    *,
    source_unit: LineUnit = "words",
    tokenize: str = "13a",
    lowercase: bool = False,
    unit: LineUnit = "words",
    metrics: Collection[str] | None = None,
) -> list[LengthBand]:
    """Score a corpus by source length; every sentence belongs to exactly one band.

    Args:
        sources: one line per sentence; only their lengths are used.
        hypotheses: the translations, in the same order.
        references: the reference translations, in the same order.
        edges: the greatest length of each band, ascending; longer sentences form a last band. By default
            3 to 10 bands of equal width, if there are enough different lengths.
        source_unit: what the length of a source counts.
        tokenize: as in `measure_quality`.
        lowercase: as in `measure_quality`.
        unit: as in `measure_quality`.
        metrics: as in `measure_quality`.

    Returns:
        The bands that contain sentences, shortest first.

    Raises:
        DataError: no lines, or a different number of each.
        ConfigError: edges that do not ascend from at least 1.
    """
    check_parallel(sources=sources, hypotheses=hypotheses, references=references)
    lengths = [line_length(line, source_unit) for line in sources]
    bounds = _automatic_bounds(lengths) if edges is None else _checked(edges, max(lengths))
    members: dict[int, list[int]] = defaultdict(list)
    for sentence, length in enumerate(lengths):
        members[bisect_left(bounds, length)].append(sentence)
    bands = []
    for band, sentences in sorted(members.items()):
        quality = measure_quality(
            [hypotheses[k] for k in sentences],
            [references[k] for k in sentences],
            tokenize=tokenize,
            lowercase=lowercase,
            unit=unit,
            metrics=metrics,
        )
        first = bounds[band - 1] + 1 if band else 1
        lower = min(first, min(lengths[k] for k in sentences))  # 0 where a source is blank
        bands.append(LengthBand(lower, bounds[band], len(sentences), quality))
    return bands


def _automatic_bounds(lengths: Sequence[int]) -> list[int]:
    """Upper ends of bands of equal width: the first of `_widths` that gives 3 to 10 bands with sentences."""
    for width in _widths():
        filled = len({max(length - 1, 0) // width for length in lengths})
        if filled <= _MOST_BANDS and (filled >= _LEAST_BANDS or width == 1):
            return list(range(width, max(*lengths, 1) + width, width))
    raise AssertionError("widths grow without end")


def _widths() -> Iterator[int]:
    yield from (5, 10, 2, 1)
    for tens in count(1):
        yield from (2 * 10**tens, 5 * 10**tens, 10 * 10**tens)


def _checked(edges: Sequence[int], longest: int) -> list[int]:
    if not edges or edges[0] < 1 or any(low >= high for low, high in pairwise(edges)):
        raise ConfigError(f"edges = {list(edges)} must ascend from 1 or more, as [5, 10, 20]")
    return list(edges) + ([longest] if longest > edges[-1] else [])
