"""A run's results as files: ``report.json`` for programs, ``report.html`` for people, the translations as text.

In: an `Evaluation` and what belongs beside it. Out: a folder. The numbers in both reports are the evaluation's,
and `report_of` gives the same as data.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.evaluation import Evaluation
from regard.models import AttentionConfig, DecoderConfig
from regard.output.pictures.page import Report, ShownTranslation, write_report
from regard.text import GoldLinks, format_pharaoh
from regard.translator import Translator
from regard.whole_file import make_folder, write_whole_text

_MOST_SHOWN = 12
_COMPARED = ("bleu", "chrf", "exact_match", "token_error_rate", "perplexity", "aer")


def write_json(folder: Path, report: Mapping[str, Any]) -> None:
    """Write a folder's ``report.json``."""
    write_whole_text(folder / "report.json", json.dumps(report, indent=2, ensure_ascii=False) + "\n")


def report_of(
    evaluation: Evaluation,
    facts: Mapping[str, Any] | None = None,
    extra: Mapping[str, Evaluation] | None = None,
) -> dict[str, Any]:
    """What ``report.json`` says of an evaluation; arguments as for `write_evaluation`."""
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
    journal: Sequence[Mapping[str, Any]] = (),
    extra: Mapping[str, Evaluation] | None = None,
) -> Path:
    """Write all that an evaluation found.

    Args:
        folder: where to; made if it is not there.
        evaluation: of the test set.
        references: of the test set.
        gold: of the test set, if known.
        translator: what was evaluated, for its facts.
        title: the page's heading.
        subtitle: a sentence under it.
        command: what to type to have it again.
        facts: more for ``report.json``, such as ``train_seconds``; single figures stand on the page too.
        journal: the training's rows, for the curves.
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
        folder / "links.txt", "".join(f"{format_pharaoh(t.links)}\n" for t in evaluation.references_read)
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
            journal=journal,
            by_length={band.name: band.scores() for band in evaluation.bands},
            shown=_shown(evaluation, references, gold),
            details={**_model_facts(translator), **figures},
            extra_scores={name: _compared(other) for name, other in (extra or {}).items()},
        ),
    )
    return page


def _compared(evaluation: Evaluation) -> dict[str, float]:
    """The scores that are set side by side with those of other test sets."""
    return {name: value for name, value in evaluation.scores().items() if name in _COMPARED}


def _shown(
    evaluation: Evaluation, references: Sequence[str], gold: Sequence[GoldLinks] | None
) -> list[ShownTranslation]:
    """Some sentences of every length, errors among them: every so-manyth of those in order of length.

    Gold links hold for the reference, so they are drawn only where the translation is the reference.
    """
    order = sorted(
        (k for k, t in enumerate(evaluation.translations) if t.tokens),
        key=lambda k: (len(evaluation.translations[k].source_tokens), k),
    )
    stride = max(1, len(order) // _MOST_SHOWN)
    shown = []
    for k in order[stride - 1 :: stride][:_MOST_SHOWN]:
        translation = evaluation.translations[k]
        right = translation.text == references[k]
        links = gold[k] if gold is not None and right else None
        shown.append(ShownTranslation(translation.source, references[k], translation, links))
    return shown


def _model_facts(translator: Translator) -> dict[str, float | int | str]:
    config = translator.model.config
    decoder = config.decoder
    encoder = config.encoder
    ways = "both ways" if encoder.bidirectional else "one way"
    return {
        "encoder": f"{encoder.num_layers} × {encoder.cell} of {encoder.state_size}, {ways}",
        "decoder": f"{decoder.kind}, {decoder.num_layers} × {decoder.cell} of {decoder.state_size}",
        "attention": _attention(decoder),
        "parameters": translator.model.num_parameters,
        "source vocabulary": f"{translator.source_tokenizer.size:,} ({translator.source_tokenizer.kind})",
        "target vocabulary": f"{translator.target_tokenizer.size:,} ({translator.target_tokenizer.kind})",
    }


def _attention(decoder: DecoderConfig) -> str:
    """A decoder's attention in a few words."""
    config: AttentionConfig | None = getattr(decoder, "attention", None)
    if config is None:
        return "none"
    heads = f", {config.heads} heads" if config.heads > 1 else ""
    window = f", {config.window} within {config.reach}" if config.window != "global" else ""
    coverage = ", coverage" if config.coverage else ""
    sparse = f", {config.normalizer}" if config.normalizer != "softmax" else ""
    return f"{config.energy}{heads}{window}{coverage}{sparse}"
