"""From pairs of lines to what the loop learns from: tokenizers learnt, pairs encoded and filtered.

In: `SentencePair`s. Out: `Prepared`. Nothing is dropped in silence: what the filters took out is in the account.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from regard.errors import DataError
from regard.tasks.train_valid_split import split_train_valid
from regard.tasks.translate.config import DataConfig, TokenizerConfig
from regard.text import (
    EncodedPair,
    FilterReport,
    Filters,
    SentencePair,
    Tokenizer,
    encode_pairs,
    read_gold_links,
    read_pairs,
    train_tokenizer,
)


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


def as_pairs(examples: Iterable[SentencePair | tuple[str, str]]) -> list[SentencePair]:
    """Pairs, and tuples of two lines, as pairs."""
    return [item if isinstance(item, SentencePair) else SentencePair(*item) for item in examples]


def prepare(
    train: Sequence[SentencePair],
    valid: Sequence[SentencePair] | None,
    data: DataConfig,
    tokenizer: TokenizerConfig,
    seed: int,
    given: Mapping[str, Tokenizer] | None = None,
) -> Prepared:
    """Learn tokenizers, encode, filter.

    Args:
        train: the training pairs.
        valid: the validation pairs; None sets some training pairs aside.
        data: the filters.
        tokenizer: kinds and sizes.
        seed: of the choice of pairs set aside.
        given: pre-trained models' tokenizers by half, encoder and decoder, which are taken over, for their weights
            know those ids.

    Raises:
        DataError: nothing is left to learn from or to validate with.
    """
    notes: list[str] = []
    if valid is None:
        train, valid, note = split_train_valid(train, [pair.source for pair in train], seed, what="pairs")
        notes.append(note)
    source_tokenizer, target_tokenizer = _tokenizers(train, tokenizer, given or {})
    filters = Filters(data.max_length, data.max_ratio or None, data.drop_duplicates)
    fit, report = filters.apply(encode_pairs(train, source_tokenizer, target_tokenizer))
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
        fit,
        [valid[k] for k in real],
        [encoded[k] for k in real],
        tuple(notes),
    )


def _account(what: str, report: FilterReport) -> list[str]:
    return [f"{what}: {report}"] if report.removed else []


def with_gold_links(pairs: Sequence[SentencePair], path: str) -> list[SentencePair]:
    """The pairs with the gold links of a file, a line for each.

    Raises:
        DataError: the file, or a line of it, does not fit the pairs; see `read_gold_links`.
    """
    gold = read_gold_links(path, [(pair.source, pair.target) for pair in pairs])
    return [replace(pair, gold=links) for pair, links in zip(pairs, gold, strict=True)]


def _tokenizers(
    pairs: Iterable[SentencePair], config: TokenizerConfig, given: Mapping[str, Tokenizer]
) -> tuple[Tokenizer, Tokenizer]:
    """The two tokenizers: a pre-trained model's where there is one, and else learnt."""
    source, target = given.get("encoder"), given.get("decoder")
    if source is not None and target is not None:
        return source, target
    learnt = _learn_tokenizers(pairs, config)
    return source or learnt[0], target or learnt[1]


def _learn_tokenizers(pairs: Iterable[SentencePair], config: TokenizerConfig) -> tuple[Tokenizer, Tokenizer]:
    sources = [pair.source for pair in pairs]
    targets = [pair.target for pair in pairs]

    def learnt(kind: str, lines: list[str], size: int) -> Tokenizer:
        return train_tokenizer(
            kind, lines, size=size, min_frequency=config.min_frequency, lowercase=config.lowercase
        )

    if config.shared:
        both = learnt(config.source, sources + targets, config.source_size)
        return both, both
    return (
        learnt(config.source, sources, config.source_size),
        learnt(config.target, targets, config.target_size),
    )
