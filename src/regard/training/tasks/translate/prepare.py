"""From pairs of lines to what the loop learns from: tokenizers learnt, pairs encoded and filtered.

In: `SentencePair`s. Out: `Prepared`. Nothing is dropped in silence: what the filters took out is in the account.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regard.errors import DataError
from regard.text import (
    EncodedPair,
    FilterReport,
    Filters,
    SentencePair,
    Tokenizer,
    encode_pairs,
    learn,
    read_pairs,
)
from regard.training.config import DataConfig, TokenizerConfig

_MOST_SET_ASIDE = 1000


@dataclass(frozen=True)
class Prepared:
    """Everything a run needs of its data.

    Attributes:
        source_tokenizer: learnt from the training sources.
        target_tokenizer: learnt from the training targets.
        train: the pairs to learn from.
        valid_pairs: the validation pairs as text.
        valid: the same as ids.
        notes: sentences for the user: what was set aside, what was taken out.
    """

    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    train: Sequence[EncodedPair]
    valid_pairs: Sequence[SentencePair]
    valid: Sequence[EncodedPair]
    notes: tuple[str, ...]


def read_corpus(files: Sequence[str], columns: Sequence[int]) -> list[SentencePair]:
    """Read the pairs of two parallel files or one tab-separated file.

    Args:
        files: two, or one.
        columns: of a tab-separated file, counted from 1; empty for the first two.

    Raises:
        ConfigError: columns are named for two parallel files.
        DataError: a file or a line cannot be used, or there is none.
    """
    chosen = (columns[0], columns[1]) if columns else None
    pairs = list(read_pairs(*files, columns=chosen))
    if not pairs:
        raise DataError(
            f"{' and '.join(files)}: an empty corpus, for there is no line in it; give one sentence pair a line"
        )
    return pairs


def prepare(
    train: Sequence[SentencePair],
    valid: Sequence[SentencePair] | None,
    data: DataConfig,
    tokenizer: TokenizerConfig,
    seed: int,
) -> Prepared:
    """Learn tokenizers, encode, filter.

    Args:
        train: the training pairs.
        valid: the validation pairs; None sets some training pairs aside.
        data: the filters.
        tokenizer: kinds and sizes.
        seed: of the choice of pairs set aside.

    Raises:
        DataError: nothing is left to learn from or to validate with.
    """
    notes: list[str] = []
    if valid is None:
        train, valid = _set_aside(train, seed)
        notes.append(f"no validation pairs given: {len(valid)} of the training pairs are set aside for it")
    source_tokenizer, target_tokenizer = _learn_tokenizers(train, tokenizer)
    filters = Filters(data.max_length, data.max_ratio or None, data.drop_duplicates)
    kept, report = filters.apply(encode_pairs(train, source_tokenizer, target_tokenizer))
    notes.extend(_account("training pairs", report))
    encoded = list(encode_pairs(valid, source_tokenizer, target_tokenizer))
    real = [k for k, pair in enumerate(encoded) if pair.source_ids and pair.target_ids]
    if not real:
        raise DataError("the validation pairs are all empty; give some with text on both sides")
    if len(real) < len(encoded):
        notes.append(f"validation pairs: took out {len(encoded) - len(real)} with an empty side")
    return Prepared(
        source_tokenizer,
        target_tokenizer,
        kept,
        [valid[k] for k in real],
        [encoded[k] for k in real],
        tuple(notes),
    )


def _account(what: str, report: FilterReport) -> list[str]:
    return [f"{what}: {report}"] if report.removed else []


def _set_aside(pairs: Sequence[SentencePair], seed: int) -> tuple[list[SentencePair], list[SentencePair]]:
    """Part some pairs from the others; a source stands on one side only, however often it occurs."""
    sources = list(dict.fromkeys(pair.source for pair in pairs))
    if len(sources) < 2:
        raise DataError(
            f"an empty corpus: {len(pairs)} pairs are too few to learn from and to validate with, "
            f"for they have {len(sources)} different sources; give more"
        )
    number = min(_MOST_SET_ASIDE, max(1, len(sources) // 20))
    chosen = set(random.Random(seed).sample(sources, number))
    aside = [pair for pair in pairs if pair.source in chosen]
    return [pair for pair in pairs if pair.source not in chosen], aside


def _learn_tokenizers(pairs: Iterable[SentencePair], config: TokenizerConfig) -> tuple[Tokenizer, Tokenizer]:
    sources = [pair.source for pair in pairs]
    targets = [pair.target for pair in pairs]

    def learnt(kind: str, lines: list[str], size: int) -> Tokenizer:
        return learn(kind, lines, size=size, min_frequency=config.min_frequency, lowercase=config.lowercase)

    if config.shared:
        both = learnt(config.source, sources + targets, config.source_size)
        return both, both
    return (
        learnt(config.source, sources, config.source_size),
        learnt(config.target, targets, config.target_size),
    )
