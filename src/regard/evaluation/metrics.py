"""How figures are named and written for people.

In: a key and a number, as in ``report.json``. Out: "exact match", "93.4 %".
"""

import math
from collections.abc import Callable

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _per_cent(value: float) -> str:
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"


def _bits(value: float) -> str:
    return f"{value:.2f}\N{NO-BREAK SPACE}bits"


def hundredths(value: float, minus: str = "\N{MINUS SIGN}") -> str:
    """Write a number to two decimals; what rounds to nothing has no sign.

    Args:
        value: the number.
        minus: what stands before one below 0.
    """
    return f"{value:z.2f}".replace("-", minus)


def _tenths(value: float) -> str:
    return f"{value:.1f}"


_KNOWN: dict[str, tuple[str, Callable[[float], str]]] = {
    "bleu": ("BLEU", _tenths),
    "chrf": ("chrF", _tenths),
    "ter": ("TER", _tenths),
    "exact_match": ("exact match", _per_cent),
    "token_error_rate": ("token error rate", _per_cent),
    "character_error_rate": ("character error rate", _per_cent),
    "accuracy": ("accuracy", _per_cent),
    "macro_f1": ("macro F1", _per_cent),
    "sentence_accuracy": ("sentence accuracy", _per_cent),
    "token_accuracy": ("token accuracy", _per_cent),
    "free_running_accuracy": ("free-running accuracy", _per_cent),
    "aer": ("alignment error rate", _per_cent),
    "exposure_gap": ("exposure_gap", _per_cent),
    "alignment_precision": ("alignment precision", _per_cent),
    "alignment_recall": ("alignment recall", _per_cent),
    "attention_entropy": ("attention entropy", _bits),
    "attention_coverage": ("attention coverage", _per_cent),
    "attention_monotonicity": ("attention monotonicity", hundredths),
    "tokens_per_second": ("tokens per second", lambda value: f"{value:,.0f}"),
    "sentences_per_second": ("sentences per second", lambda value: f"{value:,.0f}"),
    "perplexity": ("perplexity", hundredths),
    "word_perplexity": ("perplexity per word", hundredths),
    "bits_per_character": ("bits per character", lambda value: f"{value:.3f}"),
    "train_seconds": ("training time", _duration),
    "num_sentences": ("sentences", lambda value: f"{value:,.0f}"),
    "num_labels_scored": ("labels scored", lambda value: f"{value:,.0f}"),
}


def name_of(key: str) -> str:
    """Name a figure: ``exact_match`` is "exact match"."""
    return _KNOWN[key][0] if key in _KNOWN else key.replace("_", " ")


def written(key: str, value: float | int | str | None) -> str:
    """Write a figure in the manner of its key; others as they are, numbers to four digits.

    Args:
        key: as in ``report.json``.
        value: the figure; None is written as a dash.
    """
    if value is None:
        return "–"
    if isinstance(value, (str, bool)):
        return str(value)
    if key in _KNOWN:
        return _KNOWN[key][1](value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def power_of_ten(value: float, digits: int = 0) -> str:
    """Write a number by its size, such as 2 × 10⁻¹⁶; what has none, 0 and what is not finite, as it is.

    Args:
        value: the number.
        digits: how many stand behind the first one's point.
    """
    if not value or not math.isfinite(value):
        return f"{value:g}"
    factor, power = f"{value:.{digits}e}".split("e")
    return f"{factor} × 10{str(int(power)).translate(_RAISED)}".replace("-", "\N{MINUS SIGN}")
