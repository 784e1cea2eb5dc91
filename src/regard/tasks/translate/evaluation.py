"""The evaluation of a translator on a test set, and its report.

In: a `Translator`, sources, references, gold links where there are any. Out: an `Evaluation`, and a folder with
``report.json``, ``report.html`` and the translations as text, all with the same numbers. Free-running scores (BLEU,
chrF, TER, exact match, error rates) are of the translator's own output; perplexity, alignment error rate and the
statistics of attention come from forced decoding of the references.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.evaluation import METRICS, LengthBand, Quality, measure_by_length, measure_quality
from regard.evaluation.alignment import (
    AlignmentScore,
    AttentionStatistics,
    attention_statistics,
    score_alignments,
)
from regard.evaluation.text import LineUnit, TextOptions, check_parallel, line_length, nearest_reference
from regard.io import make_folder, write_whole_text
from regard.models import AttentionConfig, DecoderConfig
from regard.plots.page import Report, ShownTranslation, write_report
from regard.search.options import DEFAULT_SEARCH, SearchOptions, takes_options
from regard.tasks.base import spread_by_length
from regard.tasks.generation import line_unit
from regard.tasks.language_model.result import perplexity
from regard.tasks.predictor import refuse_long_references
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation
from regard.text import GoldLinks, Source, format_pharaoh

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
        """The lengths, such as 11–20, in the evaluation's `source_unit`."""
        return self.band.name

    def scores(self) -> dict[str, float]:
        """The scores of the band, in the order of its table's columns; unknown ones are left out."""
        scores = {
            "num_sentences": self.band.num_sentences,
            **self.band.quality.by_length_scores(),
            "perplexity": self.perplexity,
        }
        return scores if self.alignment is None else {**scores, "aer": self.alignment.aer}

    def to_json(self) -> dict[str, Any]:
        """Give the band as a JSON object."""
        scores = {**self.band.to_json(), "perplexity": self.perplexity}
        return scores if self.alignment is None else {**scores, "aer": self.alignment.aer}


@dataclass(frozen=True)
class Evaluation:
    """All scores of one test set.

    Attributes:
        quality: of the output.
        perplexity: exp of the references' mean negative log-probability per token, EOS counted.
        alignment: of the arg-max attention to the references, if there are gold links and attention.
        attention: statistics of the attention to the references' sources, if the model attends.
        bands: quality, perplexity and alignment by source length.
        source_unit: what the length of a source counts: characters where it is a word that is read by characters.
        translations: the output.
        references: what each was compared with: of several references the nearest.
        references_aligned: the references, aligned by forced decoding.
        seconds: how long translating took.
    """

    quality: Quality
    perplexity: float
    alignment: AlignmentScore | None
    attention: AttentionStatistics | None
    bands: tuple[EvaluatedBand, ...]
    source_unit: LineUnit
    translations: tuple[Translation, ...]
    references: tuple[str, ...]
    references_aligned: tuple[Translation, ...]
    seconds: float

    def scores(self) -> dict[str, float | int]:
        """The headline numbers by name, in the order they are printed."""
        scores: dict[str, float | int] = {**self.quality.scores, "perplexity": self.perplexity}
        if self.alignment is not None:
            scores.update(self.alignment.scores())
        if self.attention is not None:
            for name in ("entropy", "coverage", "monotonicity"):
                if (value := getattr(self.attention, name)) is not None:
                    scores[f"attention_{name}"] = value
        scores["num_sentences"] = self.quality.num_sentences
        scores["sentences_per_second"] = self.quality.num_sentences / self.seconds
        return scores

    def to_json(self) -> dict[str, Any]:
        """Give all scores as a JSON object."""
        return {
            **self.scores(),
            "signatures": dict(self.quality.signatures),
            "length_unit": self.source_unit,
            "by_length": [band.to_json() for band in self.bands],
        }


@takes_options(SearchOptions)
def evaluate(
    translator: Translator,
    sources: Sequence[Source],
    references: Sequence[str | Sequence[str]],
    gold: Sequence[GoldLinks] | None = None,
    *,
    options: SearchOptions = DEFAULT_SEARCH,
    tokenize: str = "13a",
    lowercase: bool = False,
    replace_unknowns: bool = False,
    listener: Callable[[Translation], None] = lambda translation: None,
    **changes: Any,
) -> Evaluation:
    """Translate a test set and score it.

    Args:
        translator: what to evaluate.
        sources: one sentence per line, as `Translator.translate` takes them.
        references: their translations; of several for a source, the nearest to the output counts, so that an output
            is right if it is any of them.
        gold: gold links between the words of each source and reference.
        options: how to search.
        tokenize: BLEU's tokenizer; "none" for text that is tokenised already.
        lowercase: whether to ignore case.
        replace_unknowns: whether each unknown word of the output becomes the source word with the most attention.
        listener: is called with each translation, to show progress.
        changes: single search options, such as ``beam=10``; see `SearchOptions`.

    Raises:
        DataError: the sides or the gold links differ in number, there are none, or a line is too long.
    """
    check_parallel(sources=sources, references=references)
    if gold is not None and len(gold) != len(sources):
        raise DataError(
            f"{len(sources)} sentences and {len(gold)} lines of gold links: give one line of links for each"
        )
    if not translator.attends:
        gold = None
    alternatives = [[each] if isinstance(each, str) else each for each in references]
    every = [line for lines in alternatives for line in lines]
    refuse_long_references(every, translator.target_tokenizer, translator.max_length)
    if replace_unknowns:
        changes["unknowns_from"] = {}
    started = time.perf_counter()
    translations = []
    for translation in translator.translate_stream(sources, chunk=_CHUNK, options=options, **changes):
        translations.append(translation)
        listener(translation)
    seconds = time.perf_counter() - started
    output = [translation.text for translation in translations]
    unit = line_unit(translator.target_tokenizer, every)
    compared = TextOptions(tokenize, lowercase, unit)
    nearest = [
        nearest_reference(line, lines, compared) for line, lines in zip(output, alternatives, strict=True)
    ]
    quality = measure_quality(output, nearest, tokenize=tokenize, lowercase=lowercase, unit=unit)
    aligned = translator.align(sources, nearest)
    texts = [translation.source for translation in translations]
    source_unit = line_unit(translator.source_tokenizer, texts)
    lengths = [line_length(line, source_unit) for line in texts]
    bands = []
    for band in measure_by_length(
        texts,
        output,
        nearest,
        source_unit=source_unit,
        tokenize=tokenize,
        lowercase=lowercase,
        unit=unit,
    ):
        members = [k for k, length in enumerate(lengths) if band.lower <= length <= band.upper]
        bands.append(EvaluatedBand(band, _perplexity(aligned, members), _alignment(aligned, gold, members)))
    all_pairs = range(len(sources))
    return Evaluation(
        quality,
        _perplexity(aligned, all_pairs),
        _alignment(aligned, gold, all_pairs),
        _attention(aligned) if translator.attends else None,
        tuple(bands),
        source_unit,
        tuple(translations),
        tuple(nearest),
        tuple(aligned),
        seconds,
    )


def _perplexity(aligned: Sequence[Translation], members: Sequence[int]) -> float:
    log_probs = [value for k in members for value in aligned[k].token_log_probs]
    return perplexity(-sum(log_probs) / max(len(log_probs), 1))


def _alignment(
    aligned: Sequence[Translation], gold: Sequence[GoldLinks] | None, members: Sequence[int]
) -> AlignmentScore | None:
    if gold is None:
        return None
    return score_alignments([aligned[k].word_links for k in members], [gold[k] for k in members])


def _attention(aligned: Sequence[Translation]) -> AttentionStatistics:
    """Over tokens, where each row is a distribution; some models spell only one or two words."""
    return attention_statistics(each.alpha for each in aligned if each.alpha is not None)


def write_json(folder: Path, report: Mapping[str, Any]) -> None:
    """Write a folder's ``report.json``."""
    write_whole_text(folder / "report.json", json.dumps(report, indent=2, ensure_ascii=False) + "\n")


def report_of(
    evaluation: Evaluation,
    facts: Mapping[str, Any] | None = None,
    extra: Mapping[str, Evaluation] | None = None,
) -> dict[str, Any]:
    """The content of ``report.json``; arguments as for `write_evaluation`."""
    others = {name: other.to_json() for name, other in (extra or {}).items()}
    return {**evaluation.to_json(), **(facts or {}), **others}


def write_evaluation(
    folder: Path,
    evaluation: Evaluation,
    references: Sequence[str],
    gold: Sequence[GoldLinks] | None,
    *,
    translator: Translator,
    title: str,
    subtitle: str,
    command: str,
    facts: Mapping[str, Any] | None = None,
    log: Sequence[Mapping[str, Any]] = (),
    extra: Mapping[str, Evaluation] | None = None,
) -> Path:
    """Write the report of an evaluation.

    Args:
        folder: where to; created if it is missing.
        evaluation: of the test set.
        references: of the test set.
        gold: of the test set, if known.
        translator: what was evaluated, for its description.
        title: the page's heading.
        subtitle: a sentence under it.
        command: that repeats the evaluation.
        facts: more for ``report.json``, such as ``train_seconds``; single values are on the page too.
        log: the rows of the training log, for the curves.
        extra: evaluations of further test sets, by name.

    Returns:
        The path of ``report.html``.

    Raises:
        DataError: the folder cannot be written.
    """
    make_folder(folder)
    write_json(folder, report_of(evaluation, facts, extra))
    write_whole_text(folder / "translations.txt", "".join(f"{t.text}\n" for t in evaluation.translations))
    write_whole_text(
        folder / "links.txt", "".join(f"{format_pharaoh(t.links)}\n" for t in evaluation.references_aligned)
    )
    figures = {name: fact for name, fact in (facts or {}).items() if isinstance(fact, float | int | str)}
    page = folder / "report.html"
    write_report(
        page,
        Report(
            title=title,
            subtitle=subtitle,
            command=command,
            scores=evaluation.scores(),
            signatures=evaluation.quality.signatures,
            log=log,
            by_length={band.name: band.scores() for band in evaluation.bands},
            length_unit=evaluation.source_unit,
            shown=show_translations(evaluation.translations, references, gold),
            details={**_model_facts(translator), **figures},
            extra_scores={name: _compared(other) for name, other in (extra or {}).items()},
        ),
    )
    return page


def _compared(evaluation: Evaluation) -> dict[str, float]:
    """The scores that are compared with those of other test sets."""
    scores = {
        key: value
        for key, value in evaluation.scores().items()
        if METRICS[key].better is not None and key != "sentences_per_second"
    }
    return {"num_sentences": evaluation.quality.num_sentences, **scores}


def show_translations(
    translations: Sequence[Translation], references: Sequence[str], gold: Sequence[GoldLinks] | None
) -> list[ShownTranslation]:
    """Some sentences of every length for a page, errors included.

    Gold links belong to the reference, so they are shown only where the translation is the reference.

    Args:
        translations: of a test set.
        references: one for each.
        gold: their links, if known.
    """
    shown = []
    for k in spread_by_length([len(each.source_tokens) if each.tokens else 0 for each in translations]):
        translation = translations[k]
        right = translation.text == references[k]
        links = gold[k] if gold is not None and right else None
        shown.append(ShownTranslation(translation.source_line, references[k], translation, links))
    return shown


def _model_facts(translator: Translator) -> dict[str, float | int | str]:
    config = translator.models[0].config
    decoder = config.decoder
    encoder = config.encoder
    direction = "bidirectional" if encoder.bidirectional else "unidirectional"
    members = len(translator.models)
    return {
        **({"ensemble": f"{members} models"} if members > 1 else {}),
        "encoder": f"{encoder.num_layers} × {encoder.cell} of {encoder.state_size}, {direction}",
        "decoder": f"{decoder.kind}, {decoder.num_layers} × {decoder.cell} of {decoder.state_size}",
        "attention": _describe_attention(decoder),
        "parameters": translator.num_parameters,
        "source vocabulary": f"{translator.source_tokenizer.size:,} ({translator.source_tokenizer.kind})",
        **({"features": f"{len(translator.features):,}"} if translator.features else {}),
        "target vocabulary": f"{translator.target_tokenizer.size:,} ({translator.target_tokenizer.kind})",
    }


def _describe_attention(decoder: DecoderConfig) -> str:
    """A decoder's attention in a few words."""
    config: AttentionConfig | None = getattr(decoder, "attention", None)
    if config is None:
        return "none"
    heads = f", {config.heads} heads" if config.heads > 1 else ""
    window = f", {config.window} within {config.window_size}" if config.window != "global" else ""
    coverage = ", coverage" if config.coverage else ""
    sparse = f", {config.normalizer}" if config.normalizer != "softmax" else ""
    return f"{config.energy}{heads}{window}{coverage}{sparse}"
