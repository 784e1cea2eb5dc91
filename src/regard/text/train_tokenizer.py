"""How vocabularies come to be: from lines to a `Tokenizer`.

In: lines and a size. Out: a tokenizer whose rules and ids depend on nothing but those: not on hash seeds,
threads or earlier calls. The algorithms of `bpe` and `unigram` are Hugging Face's; counting and order are
ours.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers.models import Model
from tokenizers.normalizers import Normalizer
from tokenizers.pre_tokenizers import PreTokenizer
from tokenizers.trainers import Trainer

from regard.errors import ConfigError, DataError, nearest
from regard.text.specials import SPECIAL_PIECES, UNK
from regard.text.tokenizer import MARK, Tokenizer

BLANKS = "\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""A regular expression's class of all that `str.split` takes for a blank."""

Pieces = Counter[str]
_UNK_PIECE = SPECIAL_PIECES[UNK]
# far above the noise that a changing order of summation leaves in a score, far below what tells pieces apart
_SCORE_DIGITS = 6
# the step by which the library's trainer parts, in arbitrary order, characters its model had dropped
_SCORE_STEP = 1e-4


def learn(
    kind: str, lines: Iterable[str], *, size: int, min_frequency: int = 1, lowercase: bool = False
) -> Tokenizer:
    """Learn a vocabulary.

    Args:
        kind: a key of `KINDS`. ``char`` has a token for each code point, ``word`` for each stretch between
            blanks; ``bpe`` and ``unigram`` build pieces of words.
        lines: the text to learn from, read once.
        size: the most ids there may be, the four specials among them.
        min_frequency: how often something must be seen to be known: a word for ``word``, a character for the
            others, and a merge for ``bpe``.
        lowercase: whether text is lowered before all else.

    Raises:
        ConfigError: an unknown kind, or a size or frequency that cannot be.
        DataError: there is no text in the lines.
    """
    if kind not in KINDS:
        raise ConfigError(f"{kind!r} is no kind of tokenizer; {nearest(kind, KINDS)}")
    if size <= len(SPECIAL_PIECES):
        raise ConfigError(
            f"a vocabulary of {size} leaves no room: the specials alone are {len(SPECIAL_PIECES)}"
        )
    if min_frequency < 1:
        raise ConfigError(f"min_frequency is {min_frequency}; it must be 1 or more")
    normalizer = _normalizer(fold=kind != "char", lowercase=lowercase)
    model, splitter = KINDS[kind](map(normalizer.normalize_str, lines), size, min_frequency)
    engine = tokenizers.Tokenizer(model)
    engine.normalizer = normalizer
    engine.pre_tokenizer = splitter
    return Tokenizer(kind, engine)


def _normalizer(*, fold: bool, lowercase: bool) -> Normalizer:
    """NFC, and every blank a space; folded, runs of them are one, the line's ends have none, and ▁ is one."""
    steps: list[Normalizer] = [normalizers.Lowercase()] if lowercase else []
    steps.append(normalizers.NFC())
    if fold:
        steps += [normalizers.Replace(Regex(f"[{BLANKS}{MARK}]+"), " "), normalizers.Strip()]
    else:
        steps.append(normalizers.Replace(Regex(f"[{BLANKS}]"), " "))
    return normalizers.Sequence(steps)


def _learn_char(lines: Iterator[str], size: int, min_frequency: int) -> tuple[Model, PreTokenizer]:
    # the blank is known whether or not it was seen, so that words are always told apart
    counts = _counted(lines, lambda line: list(line.replace(" ", "")))
    known = _most_frequent(counts, size - len(SPECIAL_PIECES) - 1, min_frequency)
    return _lookup([" ", *known]), pre_tokenizers.Split(Regex("."), "isolated")


def _learn_word(lines: Iterator[str], size: int, min_frequency: int) -> tuple[Model, PreTokenizer]:
    known = _most_frequent(_counted(lines, str.split), size - len(SPECIAL_PIECES), min_frequency)
    return _lookup(known), pre_tokenizers.Split(" ", "removed")


def _learn_bpe(lines: Iterator[str], size: int, min_frequency: int) -> tuple[Model, PreTokenizer]:
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(SPECIAL_PIECES), min_frequency=min_frequency, show_progress=False
    )
    trained, splitter = _trained(models.BPE(), trainer, lines, size, min_frequency)
    ordered = sorted(trained["vocab"], key=trained["vocab"].__getitem__)
    vocabulary = {piece: i for i, piece in enumerate([*SPECIAL_PIECES, *ordered])}
    merges = [tuple(merge) for merge in trained["merges"]]
    return models.BPE(vocabulary, merges, unk_token=_UNK_PIECE, fuse_unk=True), splitter


def _learn_unigram(lines: Iterator[str], size: int, min_frequency: int) -> tuple[Model, PreTokenizer]:
    # the trainer needs room for an unknown of its own
    trainer = trainers.UnigramTrainer(
        vocab_size=size - len(SPECIAL_PIECES) + 1,
        unk_token=_UNK_PIECE,
        special_tokens=[_UNK_PIECE],
        show_progress=False,
    )
    trained, splitter = _trained(models.Unigram(), trainer, lines, size, min_frequency)
    scores = {piece: score for piece, score in trained["vocab"] if piece != _UNK_PIECE}
    floor = min(scores.values()) + _SCORE_STEP * (1 + sum(len(piece) == 1 for piece in scores))
    steady = {piece: round(max(score, floor), _SCORE_DIGITS) for piece, score in scores.items()}
    # the trainer passes its size where there is hardly room for more than the characters, which must all stay
    ranked = sorted(steady, key=lambda piece: (len(piece) > 1, -steady[piece], piece))
    kept = ranked[: size - len(SPECIAL_PIECES)]
    ordered = [(piece, steady[piece]) for piece in sorted(kept, key=lambda piece: (-steady[piece], piece))]
    return models.Unigram([*((piece, 0.0) for piece in SPECIAL_PIECES), *ordered], UNK, False), splitter


Learner = Callable[[Iterator[str], int, int], tuple[Model, PreTokenizer]]

KINDS: dict[str, Learner] = {
    "char": _learn_char,
    "word": _learn_word,
    "bpe": _learn_bpe,
    "unigram": _learn_unigram,
}
"""The kinds of tokenizer: each makes a model and a splitter from normalised lines, a size and a frequency."""


def _counted(lines: Iterable[str], split: Callable[[str], list[str]]) -> Pieces:
    counts: Pieces = Counter()
    for line in lines:
        counts.update(split(line))
    if not counts:
        raise DataError("an empty corpus: there is no text to learn a vocabulary from")
    return counts


def _most_frequent(counts: Pieces, room: int, min_frequency: int) -> list[str]:
    """Return the most frequent pieces first, those of equal count by code point."""
    frequent = [piece for piece, count in counts.items() if count >= min_frequency]
    return sorted(frequent, key=lambda piece: (-counts[piece], piece))[:room]


def _lookup(known: list[str]) -> Model:
    vocabulary = {piece: i for i, piece in enumerate([*SPECIAL_PIECES, *known])}
    return models.WordLevel(vocabulary, _UNK_PIECE)


def _trained(
    model: Model, trainer: Trainer, lines: Iterable[str], size: int, min_frequency: int
) -> tuple[dict[str, Any], PreTokenizer]:
    """Train on the words of which every character is frequent enough; return the model as data.

    Raises:
        ConfigError: the characters alone overfill the vocabulary, or none is frequent enough.
    """
    words = _counted(lines, str.split)
    characters: Pieces = Counter()
    for word, count in words.items():
        characters.update({character: count * times for character, times in Counter(word).items()})
    rare = {character for character, count in characters.items() if count < min_frequency}
    usable = {word: count for word, count in words.items() if rare.isdisjoint(word)}
    alphabet = set(MARK).union(*usable)
    if not usable:
        raise ConfigError(
            f"min_frequency is {min_frequency}, and no word is of characters seen so often; lower it"
        )
    if len(alphabet) + len(SPECIAL_PIECES) > size:
        raise ConfigError(
            f"a vocabulary of {size} is too small for {len(alphabet)} different characters and "
            f"{len(SPECIAL_PIECES)} specials; make it {len(alphabet) + len(SPECIAL_PIECES)} or more, "
            "or raise min_frequency to leave out rare characters"
        )
    engine = tokenizers.Tokenizer(model)
    engine.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme="always", split=True)
    repeated = (" ".join([word] * count) for word, count in sorted(usable.items()))
    engine.train_from_iterator(repeated, trainer)
    return json.loads(engine.to_str())["model"], engine.pre_tokenizer
