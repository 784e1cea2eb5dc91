"""Hypotheses → `Translation`s: ids become tokens, words and text."""

from collections.abc import Sequence
from dataclasses import replace

from regard.output.translation import Translation
from regard.search import Hypothesis
from regard.text import Tokenizer
from regard.text.specials import EOS


def rendered(
    source: str,
    source_ids: Sequence[int],
    hypotheses: Sequence[Hypothesis],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
) -> Translation:
    """The first hypothesis as a translation, the others as its alternatives.

    Args:
        source: the line.
        source_ids: its ids, without the end mark.
        hypotheses: at least one, best first.
        source_tokenizer: of the line.
        target_tokenizer: of the hypotheses.
    """
    whole_source = [*source_ids, EOS]
    source_tokens = tuple(source_tokenizer.tokens(whole_source))
    source_words = tuple(source_tokenizer.words(whole_source))
    best, *others = [
        Translation(
            source=source,
            text=target_tokenizer.decode(h.ids),
            source_tokens=source_tokens,
            tokens=tuple(target_tokenizer.tokens(h.ids)),
            score=h.score,
            log_prob=h.log_prob,
            token_log_probs=h.token_log_probs,
            alpha=h.alpha,
            source_words=source_words,
            target_words=tuple(target_tokenizer.words(h.ids)),
        )
        for h in hypotheses
    ]
    return replace(best, alternatives=tuple(others))
