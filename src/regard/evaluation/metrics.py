"""The table of metrics: each one's name, format, direction, and how it is computed.

Everything that shows, compares or selects by a score reads `METRICS`: printed tables, validation lines,
``report.json``, the report page, ``training.select``. A new metric is a function in a file of this folder and one line
in the table.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from regard.evaluation import text
from regard.evaluation.classes import ClassScores

_TOO_LONG = 1e9  # perplexities of models that diverge
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def per_cent(value: float) -> str:
    """A fraction as "93.4 %"."""
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def tenths(value: float) -> str:
    """One decimal."""
    return f"{value:.1f}"


def hundredths(value: float, minus: str = "\N{MINUS SIGN}") -> str:
    """Two decimals; a value that rounds to 0 has no sign, and one of ten digits is a power of ten.

    Args:
        value: the number.
        minus: the sign of a negative one.
    """
    if _TOO_LONG <= abs(value) < math.inf:
        return power_of_ten(value, 2)
    return f"{value:z,.2f}".replace("-", minus)


def thousandths(value: float) -> str:
    """Three decimals."""
    return f"{value:.3f}"


def bits(value: float) -> str:
    """Two decimals and the unit."""
    return f"{value:.2f}\N{NO-BREAK SPACE}bits"


def count(value: float) -> str:
    """A whole number with separators."""
    return f"{value:,.0f}"


def duration(seconds: float) -> str:
    """Seconds as "12.3 s", "2 min 14 s" or "1 h 02 min"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"


def power_of_ten(value: float, digits: int = 0) -> str:
    """A number in scientific notation, such as 2 × 10⁻¹⁶; 0 and what is not finite as it is.

    Args:
        value: the number.
        digits: how many decimals the factor has.
    """
    if not value or not math.isfinite(value):
        return f"{value:g}"
    factor, power = f"{value:.{digits}e}".split("e")
    return f"{factor} × 10{str(int(power)).translate(_SUPERSCRIPT)}".replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class Metric:
    """How a score is shown and compared.

    Attributes:
        name: in words, for people; the key is used in JSON, configs and printed tables.
        format: value → text.
        better: which direction is better; None for what is not a matter of quality.
    """

    name: str
    format: Callable[[float], str]
    better: Literal["higher", "lower"] | None

    @property
    def is_fraction(self) -> bool:
        """Whether values are fractions, shown in per cent."""
        return self.format is per_cent


def _always(options: text.TextOptions) -> bool:
    return True


def _in_running_text(options: text.TextOptions) -> bool:
    return options.unit == "words"


def _in_strings(options: text.TextOptions) -> bool:
    """A line is a word, written in phones or characters."""
    return options.unit != "words"


def _of_several_tokens(options: text.TextOptions) -> bool:
    """BLEU's n-grams are of tokens, and a word in characters is a single one unless BLEU cuts it up."""
    return options.unit != "characters" or options.tokenize in ("char", "zh")


@dataclass(frozen=True)
class TextMetric(Metric):
    """A metric of generated text, computed from hypotheses and references.

    Attributes:
        function: (hypotheses, references, options) → value of the corpus.
        signature: options → a description of how it counts, where one is published with the score.
        applies_to: options → whether it is reported: not where it means nothing, or repeats another.
        in_validation: whether each validation computes it, so that ``training.select`` can name it.
        by_length: "chart" for a curve and a column of the table by source length, see `charted_metrics`; "table" for
            the column alone.
    """

    function: Callable[[text.Lines, text.Lines, text.TextOptions], float]
    signature: Callable[[text.TextOptions], str] | None = None
    applies_to: Callable[[text.TextOptions], bool] = _always
    in_validation: bool = False
    by_length: Literal["chart", "table"] | None = "table"


@dataclass(frozen=True)
class LabelMetric(Metric):
    """A metric of predicted labels, computed from the confusion matrix.

    Attributes:
        function: scores by class → value, or None where it does not apply.
        tags_only: whether it applies to tags of words and not to labels of texts.
    """

    function: Callable[[ClassScores], float | None]
    tags_only: bool = False


METRICS: dict[str, Metric] = {
    # generated text against references: of words in phones or characters, and then of running text
    "wer": TextMetric(
        "WER",
        per_cent,
        "lower",
        text.word_error_rate,
        applies_to=_in_strings,
        in_validation=True,
        by_length="chart",
    ),
    "per": TextMetric(
        "PER",
        per_cent,
        "lower",
        text.phone_error_rate,
        applies_to=_in_strings,
        in_validation=True,
        by_length="chart",
    ),
    "bleu": TextMetric(
        "BLEU",
        tenths,
        "higher",
        text.bleu,
        text.bleu.signature,
        applies_to=_of_several_tokens,
        in_validation=True,
        by_length="chart",
    ),
    "chrf": TextMetric("chrF", tenths, "higher", text.chrf, text.chrf.signature, in_validation=True),
    "ter": TextMetric("TER", tenths, "lower", text.ter, text.ter.signature, applies_to=_in_running_text),
    "exact_match": TextMetric(
        "exact match", per_cent, "higher", text.exact_match, in_validation=True, by_length="chart"
    ),
    "token_error_rate": TextMetric(
        "token error rate", per_cent, "lower", text.token_error_rate, applies_to=_in_running_text
    ),
    "character_error_rate": TextMetric(
        "character error rate",
        per_cent,
        "lower",
        text.character_error_rate,
        applies_to=_in_running_text,
        by_length=None,
    ),
    # predicted labels against gold ones
    "accuracy": LabelMetric("accuracy", per_cent, "higher", lambda classes: classes.accuracy),
    "macro_f1": LabelMetric("macro F1", per_cent, "higher", lambda classes: classes.macro_f1),
    "sentence_accuracy": LabelMetric(
        "sentence accuracy", per_cent, "higher", lambda classes: classes.sentence_accuracy, tags_only=True
    ),
    "precision": Metric("precision", per_cent, "higher"),
    "recall": Metric("recall", per_cent, "higher"),
    "f1": Metric("F1", per_cent, "higher"),
    # teacher-forced and free-running prediction of tokens
    "loss": Metric("loss", thousandths, "lower"),
    "perplexity": Metric("perplexity", hundredths, "lower"),
    "word_perplexity": Metric("perplexity per word", hundredths, "lower"),
    "bits_per_character": Metric("bits per character", thousandths, "lower"),
    "token_accuracy": Metric("token accuracy", per_cent, "higher"),
    "free_running_accuracy": Metric("free-running accuracy", per_cent, "higher"),
    "exposure_gap": Metric("exposure gap (teacher-forced minus free-running accuracy)", per_cent, "lower"),
    # attention against gold links, and by itself
    "aer": Metric("alignment error rate", per_cent, "lower"),
    "alignment_precision": Metric("alignment precision", per_cent, "higher"),
    "alignment_recall": Metric("alignment recall", per_cent, "higher"),
    "alignment_f1": Metric("alignment F1", per_cent, "higher"),
    "attention_entropy": Metric("attention entropy", bits, None),
    "attention_coverage": Metric("attention coverage", per_cent, None),
    "attention_monotonicity": Metric("attention monotonicity", hundredths, None),
    # sizes and speed
    "num_labels_scored": Metric("labels scored", count, None),
    "num_sentences": Metric("sentences", count, None),
    "num_links": Metric("links", count, None),
    "num_predicted": Metric("predicted", count, None),
    "support": Metric("support", count, None),
    "sentences_per_second": Metric("sentences per second", count, "higher"),
    "tokens_per_second": Metric("tokens per second", count, "higher"),
    "train_seconds": Metric("training time", duration, None),
}
"""By key, in the order in which scores are listed."""


def text_metrics(options: text.TextOptions | None = None) -> dict[str, TextMetric]:
    """The metrics of generated text, the first to look at first.

    Args:
        options: for those that are reported of such text; None for all. Of words in phones or characters, rates of
            wrong and right ones precede BLEU and chrF.
    """
    metrics = {key: metric for key, metric in METRICS.items() if isinstance(metric, TextMetric)}
    if options is None:
        return metrics
    chosen = {key: metric for key, metric in metrics.items() if metric.applies_to(options)}
    if options.unit == "words":
        return chosen
    return dict(sorted(chosen.items(), key=lambda item: not item[1].is_fraction))


def charted_metrics(scores: Iterable[str]) -> list[str]:
    """Of some scores of text, those that are drawn by source length and named in a comparison of test sets.

    A chart has one direction, that of the first of them: error rates are not drawn with BLEU.
    """
    metrics = text_metrics()
    charted = [key for key in scores if key in metrics and metrics[key].by_length == "chart"]
    return [key for key in charted if metrics[key].better == metrics[charted[0]].better]


def validation_metrics() -> list[str]:
    """The keys of the metrics of text that each validation computes."""
    return [key for key, metric in text_metrics().items() if metric.in_validation]


def selectable(keys: Iterable[str]) -> tuple[str, ...]:
    """What ``training.select`` can name: the loss, and those of these metrics that have a direction."""
    return ("loss", *(key for key in keys if METRICS[key].better is not None))


def label_metrics() -> Iterator[tuple[str, LabelMetric]]:
    """The metrics of predicted labels."""
    for key, metric in METRICS.items():
        if isinstance(metric, LabelMetric):
            yield key, metric


def label_scores(classes: ClassScores) -> dict[str, float]:
    """Every metric of labels that applies."""
    scores = {key: metric.function(classes) for key, metric in label_metrics()}
    return {key: value for key, value in scores.items() if value is not None}


def is_better(key: str, value: float, than: float) -> bool:
    """Whether a score improves on another, by the metric's direction.

    Args:
        key: of a metric that has a direction.
        value: the new score.
        than: the one to improve on.
    """
    return value < than if METRICS[key].better == "lower" else value > than


def display_name(key: str) -> str:
    """Name a score in words: ``exact_match`` is "exact match"."""
    return METRICS[key].name if key in METRICS else key.replace("_", " ")


def format_score(key: str, value: float | int | str | None) -> str:
    """Format a score as its metric says; other numbers with four digits, text as it is.

    Args:
        key: as in ``report.json``.
        value: None gives a dash.
    """
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if key in METRICS:
        return METRICS[key].format(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def format_with_margin(key: str, value: float, margin: float | None) -> str:
    """A score and its margin or deviation, the unit once: 80.0 ± 1.2 %.

    Args:
        key: as in ``report.json``.
        value: of the score.
        margin: None gives a dash.
    """
    shown = format_score(key, margin)
    _, blank, unit = shown.partition("\N{NO-BREAK SPACE}")
    return f"{format_score(key, value).removesuffix(blank + unit)} ± {shown}"
