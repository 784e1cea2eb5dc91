"""Named starting points: the papers' models with the papers' numbers, and small ones for a CPU."""

from collections.abc import Callable

from regard.tasks.caption.presets import captioner
from regard.tasks.classify.presets import classifier, classifier_pretrained, lstmn_classifier, tagger
from regard.tasks.language_model.presets import (
    characters_lm,
    lstm_lm,
    lstmn_cheng,
    lstmn_lm,
    rnn_read_lm,
    rnn_sum_keep_lm,
    rnn_sum_lm,
    zaremba_medium,
)
from regard.tasks.translate.presets import (
    Preset,
    characters,
    coverage_small,
    heads_small,
    lstmn_deep_small,
    lstmn_shallow_small,
    luong_general,
    luong_local,
    luong_monotonic,
    luong_small,
    rnnencdec_50,
    rnnencdec_small,
    rnnsearch_50,
    rnnsearch_small,
    sparsemax_small,
    sutskever,
    sutskever_small,
)

PRESETS: dict[str, Callable[[], Preset]] = {
    "rnnsearch-small": rnnsearch_small,
    "luong-small": luong_small,
    "rnnencdec-small": rnnencdec_small,
    "sutskever-small": sutskever_small,
    "characters": characters,
    "heads-small": heads_small,
    "sparsemax-small": sparsemax_small,
    "coverage-small": coverage_small,
    "lstmn-shallow-small": lstmn_shallow_small,
    "lstmn-deep-small": lstmn_deep_small,
    "captioner": captioner,
    "rnnsearch-50": rnnsearch_50,
    "rnnencdec-50": rnnencdec_50,
    "sutskever": sutskever,
    "luong-general": luong_general,
    "luong-local": luong_local,
    "luong-monotonic": luong_monotonic,
    "lstm-lm": lstm_lm,
    "lstmn-lm": lstmn_lm,
    "rnn-read-lm": rnn_read_lm,
    "rnn-sum-lm": rnn_sum_lm,
    "rnn-sum-keep-lm": rnn_sum_keep_lm,
    "characters-lm": characters_lm,
    "lstmn-cheng": lstmn_cheng,
    "zaremba-medium": zaremba_medium,
    "classifier": classifier,
    "classifier-pretrained": classifier_pretrained,
    "lstmn-classifier": lstmn_classifier,
    "tagger": tagger,
}

DEFAULTS: dict[str, str] = {
    "translate": "rnnsearch-small",
    "language_model": "lstm-lm",
    "classify": "classifier",
    "tag": "tagger",
    "caption": "captioner",
}
"""Each task's preset where none is named."""

__all__ = ["DEFAULTS", "PRESETS", "Preset"]
