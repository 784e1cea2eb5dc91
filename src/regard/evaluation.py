"""How good a translator is on a test set: what it writes, what it makes of the references, where it looks.

In: a `Translator`, sources, references, gold links where there are any. Out: an `Evaluation`, whose numbers
are the printed table's and `report.json`'s. Free-running scores (BLEU, chrF, TER, exact match, error rates) are
of the translator's own output; perplexity, alignment error rate and the attention's statistics come from forced
decoding of the references.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.errors import DataError
from regard.output.alignment import (
    AlignmentScore,
    AttentionStatistics,
    attention_statistics,
    score_alignments,
)
from regard.output.quality import LengthBand, Quality, measure, measure_by_length
from regard.output.quality.corpus import check_parallel
from regard.output.scored import perplexity
from regard.output.translation import Translation
from regard.text import GoldLinks
from regard.translator import Translator

_CHUNK = 1024  # sentences sorted by length together


@dataclass(frozen=True)
class EvaluatedBand:
    """The scores of the sentences of one band of source length.

    Attributes:
        band: its bounds and the scores of the output.
        perplexity: of the references.
        alignment: against gold links, if there are any and the model attends.
    """

    band: LengthBand
    perplexity: float
    alignment: AlignmentScore | None

    @property
    def name(self) -> str:
        """The lengths as a reader writes them."""
        return self.band.name

    def scores(self) -> dict[str, float]:
        """What is shown of the band, in the order of its table's columns; what is not known is left out."""
        quality = self.band.quality
        scores: dict[str, float | None] = {
            "num_sentences": quality.num_sentences,
            "bleu": quality.bleu,
            "chrf": quality.chrf,
            "ter": quality.ter,
            "exact_match": quality.exact_match,
            "token_error_rate": quality.token_error_rate,
            "perplexity": self.perplexity,
            "aer": None if self.alignment is None else self.alignment.aer,
        }
        return {name: value for name, value in scores.items() if value is not None}

    def to_json(self) -> dict[str, Any]:
        """Give the band as a JSON object."""
        scores = {**self.band.to_json(), "perplexity": self.perplexity}
        return scores if self.alignment is None else {**scores, "aer": self.alignment.aer}


@dataclass(frozen=True)
class Evaluation:
    """All scores of one test set.

    Attributes:
        quality: of the output.
        perplexity: exp of the references' mean negative log-probability a token, end marks counted.
        alignment: of the arg-max attention while reading the references, if there are gold links and attention.
        attention: how it looks at the tokens of the sources while reading the references, if it attends.
        bands: quality, perplexity and alignment by source length.
        translations: the output.
        references_read: the references as forced decoding read them, with attention.
        seconds: how long translating took.
    """

    quality: Quality
    perplexity: float
    alignment: AlignmentScore | None
    attention: AttentionStatistics | None
    bands: tuple[EvaluatedBand, ...]
    translations: tuple[Translation, ...]
    references_read: tuple[Translation, ...]
    seconds: float

    def scores(self) -> dict[str, float | int]:
        """The headline numbers by name, in the order they are printed."""
        quality = self.quality
        scores: dict[str, float | int] = {"bleu": quality.bleu, "chrf": quality.chrf}
        if quality.ter is not None:
            scores["ter"] = quality.ter
        scores["exact_match"] = quality.exact_match
        scores["token_error_rate"] = quality.token_error_rate
        scores["character_error_rate"] = quality.character_error_rate
        scores["perplexity"] = self.perplexity
        if self.alignment is not None:
            scores["aer"] = self.alignment.aer
            scores["alignment_precision"] = self.alignment.precision
            scores["alignment_recall"] = self.alignment.recall
        if self.attention is not None:
            for name in ("entropy", "coverage", "monotonicity"):
                if (value := getattr(self.attention, name)) is not None:
                    scores[f"attention_{name}"] = value
        scores["num_sentences"] = quality.num_sentences
        scores["sentences_per_second"] = quality.num_sentences / self.seconds
        return scores

    def to_json(self) -> dict[str, Any]:
        """Give all scores as a JSON object."""
        return {
            **self.scores(),
            "signatures": dict(self.quality.signatures),
            "by_length": [band.to_json() for band in self.bands],
        }


def evaluate(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    gold: Sequence[GoldLinks] | None = None,
    *,
    beam: int = 5,
    length_power: float = 1.0,
    tokenize: str = "13a",
    lowercase: bool = False,
    listener: Callable[[Translation], None] = lambda translation: None,
) -> Evaluation:
    """Translate a test set and score it.

    Args:
        translator: what to evaluate.
        sources: one line a sentence.
        references: what they should become.
        gold: gold links between the words of each source and reference.
        beam: as for `Translator.translate`.
        length_power: as for `Translator.translate`.
        tokenize: BLEU's tokenizer; "none" for text that is tokenised already.
        lowercase: whether case is to be overlooked.
        listener: is given each translation as it is made, to show how far the work is.

    Raises:
        DataError: the sides or the gold links differ in number, there are none, or a source is too long.
    """
    check_parallel(sources=sources, references=references)
    if gold is not None and len(gold) != len(sources):
        raise DataError(
            f"{len(sources)} sentences and {len(gold)} lines of gold links: give one line of links for each"
        )
    if not translator.attends:
        gold = None
    started = time.perf_counter()
    translations = []
    for translation in translator.translate_stream(
        sources, chunk=_CHUNK, beam=beam, length_power=length_power
    ):
        translations.append(translation)
        listener(translation)
    seconds = time.perf_counter() - started
    output = [translation.text for translation in translations]
    quality = measure(output, references, tokenize=tokenize, lowercase=lowercase)
    read = translator.align(sources, references)
    bands = []
    for band in measure_by_length(sources, output, references, tokenize=tokenize, lowercase=lowercase):
        members = [k for k, line in enumerate(sources) if band.lower <= len(line.split()) <= band.upper]
        bands.append(EvaluatedBand(band, _perplexity(read, members), _alignment(read, gold, members)))
    everyone = range(len(sources))
    return Evaluation(
        quality,
        _perplexity(read, everyone),
        _alignment(read, gold, everyone),
        _attention(read) if translator.attends else None,
        tuple(bands),
        tuple(translations),
        tuple(read),
        seconds,
    )


def _perplexity(read: Sequence[Translation], members: Sequence[int]) -> float:
    log_probs = [value for k in members for value in read[k].token_log_probs]
    return perplexity(-sum(log_probs) / max(len(log_probs), 1))


def _alignment(
    read: Sequence[Translation], gold: Sequence[GoldLinks] | None, members: Sequence[int]
) -> AlignmentScore | None:
    if gold is None:
        return None
    return score_alignments([read[k].links for k in members], [gold[k] for k in members])


def _attention(read: Sequence[Translation]) -> AttentionStatistics:
    """Over tokens, where each row is a distribution; words would say nothing of a model that spells one or two."""
    return attention_statistics(each.alpha for each in read if each.alpha is not None)
