"""Tokenizers: lines ↔ ids, which word of a line each id belongs to, and how a vocabulary is trained.

In: lines of text, with features where the tokenizer has some, or ids. Out: ids without special symbols, or text; a
tokenizer whose rules and ids depend only on the lines and options it was trained on, not on hash seeds, threads or
earlier calls. Features have ids of their own after those of the text, so that no text can be taken for a feature.
Normalising, splitting, looking up and the training algorithms of `bpe` and `unigram` are those of Hugging Face's
`tokenizers`, saved as one JSON file; counting and the order of ids are ours. Knows nothing of batches or models.
"""

import copy
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers.models import Model
from tokenizers.normalizers import Normalizer
from tokenizers.pre_tokenizers import PreTokenizer
from tokenizers.trainers import Trainer

from regard.errors import ConfigError, DataError, FolderError, nearest
from regard.io import parse_json, read_whole, write_whole_text
from regard.text.sources import FeaturedText, Source
from regard.text.specials import CONTROLS, EOS, SPECIAL_PIECES, SPECIALS, UNK

MARK = "▁"
"""Stands for a blank at the start of a word in the pieces of `bpe` and `unigram`."""

MAX_SIZE = 4_000_000
"""The largest vocabulary."""

MAX_TOKENIZER_BYTES = 1 << 26
"""The largest file of a tokenizer that is read; a vocabulary of 500,000 pieces is within it."""

_SHOWN_BLANK = "␣"
_MARK_BASE = "◌"

NORMALIZATIONS: dict[str, Callable[[], Normalizer] | None] = {
    "nfc": normalizers.NFC,
    "nfd": normalizers.NFD,
    "nfkc": normalizers.NFKC,
    "none": None,
}
"""The Unicode normalisation forms of text (Unicode Standard Annex 15), the default first; none leaves text as it is."""

# What a piece adds to the text, by kind: a blank in it parts words.
_SURFACES: dict[str, Callable[[str], str]] = {
    "char": lambda piece: piece,
    "word": lambda piece: f" {piece}",
    "bpe": lambda piece: piece.replace(MARK, " "),
    "unigram": lambda piece: piece.replace(MARK, " "),
}


class Tokenizer:
    """A vocabulary with its rules.

    An unknown stretch of text becomes `UNK`, which decodes to ``<unk>`` so that words keep their places; the
    other specials decode to nothing.
    """

    def __init__(self, kind: str, engine: tokenizers.Tokenizer, features: Sequence[str] = ()) -> None:
        """Wrap a Hugging Face tokenizer whose first pieces are the specials.

        Args:
            kind: ``char``, ``word``, ``bpe`` or ``unigram``.
            engine: normalises, splits and looks up.
            features: the names of the features that a source has beside its text, by id after the engine's.
        """
        self.kind = kind
        self.features = tuple(features)
        self._engine = engine
        self._decomposes = engine.normalizer is not None and engine.normalizer.normalize_str("é") == "e\u0301"
        size = engine.get_vocab_size(with_added_tokens=False)
        pieces = [str(engine.id_to_token(i)) for i in range(len(SPECIALS), size)]
        self._ids = {piece: i for i, piece in enumerate(pieces, start=len(SPECIALS))}
        self._ids.update({name: i for i, name in enumerate(SPECIALS)})
        shown = map(_shown_character, pieces) if kind == "char" else pieces
        self._shown = [*SPECIALS, *shown, *self.features]
        surface = _SURFACES[kind]
        specials = ["" if i in CONTROLS else surface(name) for i, name in enumerate(SPECIALS)]
        named = (f" {name}" for name in self.features)
        self._surfaces = [*specials, *(surface(piece) for piece in pieces), *named]
        self._feature_ids = {name: i for i, name in enumerate(self.features, start=size)}

    @property
    def size(self) -> int:
        """How many ids there are, the specials and the features among them."""
        return len(self._shown)

    def with_features(self, features: Iterable[str]) -> "Tokenizer":
        """The same tokenizer for sources that have features.

        Args:
            features: all that occur, with repetitions; the most frequent get the lowest ids.
        """
        return Tokenizer(self.kind, self._engine, _most_frequent(Counter(features), None, 1))

    def extended(self, lines: Iterable[str]) -> "Tokenizer":
        """The same tokenizer with the words or characters of some lines that it does not know, after all others.

        Args:
            lines: text; the most frequent new words get the lowest ids.

        Raises:
            ConfigError: it has pieces of words, whose segmentation new ones would change, or features.
        """
        if self.kind not in ("char", "word") or self.features:
            what = "features" if self.features else f"pieces of words ({self.kind})"
            raise ConfigError(
                f"a vocabulary of {what} cannot be extended; keep it as it is, or train a new model"
            )
        normalize = self._engine.normalizer.normalize_str
        counts: Pieces = Counter()
        for line in lines:
            counts.update(normalize(line).split() if self.kind == "word" else normalize(line))
        new = _most_frequent(Counter({p: n for p, n in counts.items() if p not in self._ids}), None, 1)
        content = json.loads(self._engine.to_str())
        vocabulary = content["model"]["vocab"]
        vocabulary.update({piece: i for i, piece in enumerate(new, start=len(vocabulary))})
        return Tokenizer(self.kind, tokenizers.Tokenizer.from_str(json.dumps(content)))

    def encode(self, line: Source) -> list[int]:
        """Return the ids of a line; no special but `UNK` is ever among them.

        Features follow the text; an unknown one is `UNK`. A blank text has none.
        """
        (ids,) = self.encode_batch([line])
        return ids

    def encode_batch(self, lines: Sequence[Source]) -> list[list[int]]:
        """Return the ids of each line, as `encode` does, on all cores."""
        if not self.features:
            return self._encode_texts(lines)
        texts = [line.text if isinstance(line, FeaturedText) else line for line in lines]
        encoded = self._encode_texts(texts)
        for line, ids in zip(lines, encoded, strict=True):
            if ids and isinstance(line, FeaturedText):
                ids += [self._feature_ids.get(name, UNK) for name in line.features]
        return encoded

    def encode_unknowns(
        self, line: Source, symbols: Sequence[str] | None = None
    ) -> tuple[list[int], tuple[str, ...]]:
        """Return the ids of a line, as `encode` does, but with ids from `size` on for unknown stretches of its text.

        So a model that copies can tell them apart (the extended vocabulary of See et al. 2017, §2.2); `extend` reads
        such ids. An unknown feature stays `UNK`.

        Args:
            line: a text, perhaps with features.
            symbols: the unknown stretches that have ids, in this order; None gives ids to all of the line's.

        Returns:
            The ids and the symbols.
        """
        ids = self.encode(line)
        found = {symbol: k for k, symbol in enumerate(symbols or ())}
        if UNK in ids:
            text = line.text if isinstance(line, FeaturedText) else line
            if self._engine.normalizer is not None:
                text = self._engine.normalizer.normalize_str(text)
            encoding = self._engine.encode(text, add_special_tokens=False)
            for position, (i, (start, end)) in enumerate(zip(encoding.ids, encoding.offsets, strict=True)):
                symbol = text[start:end].strip()
                if i == UNK and symbols is None:
                    found.setdefault(symbol, len(found))
                if i == UNK and symbol in found:
                    ids[position] = self.size + found[symbol]
        return ids, tuple(found)

    def extend(self, symbols: Sequence[str]) -> "Tokenizer":
        """The same tokenizer, whose ids from `size` on stand for symbols outside its vocabulary; to decode with."""
        extended = copy.copy(self)
        extended._shown = [*self._shown, *symbols]
        extended._surfaces = [*self._surfaces, *map(_SURFACES[self.kind], symbols)]
        return extended

    def _encode_texts(self, texts: Sequence[Any]) -> list[list[int]]:
        encodings = self._engine.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids, wherever they came from; a feature is a word with its name.

        Words are parted by one blank, except that `char` gives back every blank. Padding, BOS and
        EOS are passed over, not stopped at. What NFD decomposed is composed again.
        """
        text = "".join(self._surfaces[i] for i in ids)
        if self._decomposes:
            text = unicodedata.normalize("NFC", text)
        return text if self.kind == "char" else " ".join(text.split())

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return a form of each id for people to read: specials and features by name, a character as it stands alone.

        A `char` blank is ␣, a combining mark is on a dotted circle, and a letter of a decomposed Hangul syllable is the
        letter by itself (ㄱ), whichever its place in the syllable.
        """
        return [self._shown[i] for i in ids]

    def words(self, ids: Sequence[int]) -> list[int | None]:
        """Return, for each id, the blank-separated word of ``decode(ids)`` it is part of, counted from 0.

        None stands at specials without text and at blanks. A bare ▁ is part of the word it opens, as it is
        where the vocabulary holds the two in one piece. A feature is a word of its own.
        """
        places: list[int | None] = []
        word, opening = -1, True
        mark: int | None = None
        for position, i in enumerate(ids):
            surface = self._surfaces[i]
            places.append(None)
            if surface.startswith(" "):
                opening, mark = True, None
            if surface == " " and self.kind != "char":
                mark = position
            elif surface.strip(" "):
                word += opening
                places[position] = word
                if mark is not None:
                    places[mark] = word
                opening = False
        return places

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a piece or of a special's name (the special, where a piece is called alike)."""
        return self._ids.get(token)

    def merges(self) -> list[tuple[str, str]]:
        """The pairs of pieces that `bpe` merges, in order of priority; none of another kind."""
        return [
            (first, second) for first, second in json.loads(self._engine.to_str())["model"].get("merges", ())
        ]

    def difference(self, other: "Tokenizer") -> str:
        """Say how another tokenizer differs, empty where the two give every line the same ids."""
        if self.kind != other.kind:
            return f"{self.kind} and {other.kind}"
        if self.features != other.features:
            return "other features"
        if self.size != other.size:
            return f"{self.size:,} and {other.size:,} tokens"
        for i, (mine, theirs) in enumerate(zip(self._shown, other._shown, strict=True)):
            if mine != theirs:
                return f"token {i} is {mine!r} and {theirs!r}"
        return (
            ""
            if self._engine.to_str() == other._engine.to_str()
            else "they normalise or split lines differently"
        )

    def save(self, path: str | Path) -> None:
        """Write everything as JSON text; a write that is broken off leaves what stood there before.

        Raises:
            DataError: the file cannot be written.
        """
        content = {"kind": self.kind, "tokenizer": json.loads(self._engine.to_str())}
        if self.features:
            content["features"] = list(self.features)
        text = json.dumps(content, ensure_ascii=False, indent=1)
        write_whole_text(path, text + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Tokenizer":
        """Read what `save` wrote.

        Raises:
            FolderError: the file is missing, damaged or not a tokenizer of ours.
        """
        content = _read_json(Path(path))
        kind = content.get("kind")
        if not isinstance(kind, str) or "tokenizer" not in content:
            raise FolderError(f"{path}: not a tokenizer saved by this package; save one with Tokenizer.save")
        if kind not in _SURFACES:
            raise FolderError(f"{path}: {kind!r} is not a kind of tokenizer; {nearest(kind, _SURFACES)}")
        try:
            engine = tokenizers.Tokenizer.from_str(json.dumps(content["tokenizer"]))
            fault = _fault(kind, engine, content["tokenizer"])
        except Exception as error:  # the library raises no narrower class
            raise FolderError(
                f"{path}: the tokenizer in it is damaged ({error}); train or copy it again"
            ) from error
        if fault:
            raise FolderError(f"{path}: {fault}; train or copy it again")
        features = content.get("features", [])
        if (
            not isinstance(features, list)
            or not all(isinstance(name, str) for name in features)
            or len(set(features)) < len(features)
        ):
            raise FolderError(f"{path}: its features are not a list of names; train or copy it again")
        return cls(kind, engine, features)


def _fault(kind: str, engine: tokenizers.Tokenizer, content: dict[str, Any]) -> str:
    """What a tokenizer from a file has that none of this package has; empty where there is nothing.

    Rules of others could give ids that the model does not have, drop text, or make a line longer without bound.
    """
    size = engine.get_vocab_size(with_added_tokens=False)
    if [engine.id_to_token(i) for i in range(len(SPECIAL_PIECES))] != list(SPECIAL_PIECES):
        return "its vocabulary does not begin with the specials"
    if any(engine.id_to_token(i) is None for i in range(size)):
        return f"the ids of its {size:,} pieces are not those from 0 to {size - 1:,}"
    ours = []
    for form, lowercase in product(NORMALIZATIONS, (False, True)):
        empty = tokenizers.Tokenizer(_EMPTY_MODELS[kind]())
        empty.normalizer = _normalizer(form, fold=kind != "char", lowercase=lowercase)
        empty.pre_tokenizer = SPLITTERS[kind]()
        ours.append(json.loads(empty.to_str()))
    # the same rules over an empty vocabulary, as the installed version of the library writes them
    vocabulary = {name: ours[0]["model"][name] for name in ("vocab", "merges") if name in content["model"]}
    bare = tokenizers.Tokenizer.from_str(
        json.dumps({**content, "model": {**content["model"], **vocabulary}, "added_tokens": []})
    )
    sections = {**json.loads(bare.to_str()), "added_tokens": content.get("added_tokens")}
    for name, rules in sections.items():
        if rules not in [each.get(name) for each in ours]:
            return f"its {name} is {rules!r:.60}…, which no tokenizer of this package has"
    return ""


def _shown_character(character: str) -> str:
    """A character as it can be read by itself, without the characters around it."""
    if character == " ":
        return _SHOWN_BLANK
    if unicodedata.category(character).startswith("M"):
        return _MARK_BASE + character
    name = unicodedata.name(character, "").split()
    if name[:1] == ["HANGUL"] and name[1:2] in (["CHOSEONG"], ["JUNGSEONG"], ["JONGSEONG"]):
        try:
            return unicodedata.lookup(f"HANGUL LETTER {name[-1]}")
        except KeyError:  # an old letter that has no form by itself
            return character
    return character


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_whole(path, MAX_TOKENIZER_BYTES).decode("utf-8"))
    except OSError as error:
        raise FolderError(
            f"{path}: no tokenizer can be read there ({error.strerror or error}); copy it again"
        ) from error
    except ValueError as error:
        raise FolderError(f"{path}: damaged, for it is not JSON ({error}); train or copy it again") from error
    if not isinstance(content, dict):
        raise FolderError(f"{path}: not a tokenizer saved by this package; save one with Tokenizer.save")
    return content


def match_tokens(source: Tokenizer, target: Tokenizer) -> list[int]:
    """The target id with the text of each source id, −1 where there is none: what a model can copy.

    EOS matches EOS and UNK matches UNK, except where sources have features, of which some may be unknown. A feature
    matches nothing: it is not text. Between tokenizers of different kinds, a token that begins a word also matches the
    same letters without the blank: the character k the phone k.
    """
    texts = range(len(SPECIALS), target.size - len(target.features))
    exact = {target._surfaces[i]: i for i in texts}
    bare: dict[str, int] = {}
    if source.kind != target.kind:
        for surface, i in exact.items():
            bare.setdefault(surface.strip(" "), i)
    copied = (EOS,) if source.features else (UNK, EOS)
    ids = [i if i in copied else -1 for i in range(len(SPECIALS))]
    for surface in source._surfaces[len(SPECIALS) : source.size - len(source.features)]:
        ids.append(exact.get(surface, bare.get(surface.strip(" "), -1)))
    return ids + [-1] * len(source.features)


def refuse_other_vocabularies(
    one: Mapping[str, Tokenizer], other: Mapping[str, Tokenizer], first: str, second: str
) -> None:
    """Raise where two models' tokenizers differ.

    Args:
        one: the first model's tokenizers, by name.
        other: the second's, of the same names.
        first: what the first is called in messages.
        second: what the second is called.

    Raises:
        ConfigError: they differ; the message says in what.
    """
    for name, tokenizer in one.items():
        if difference := tokenizer.difference(other[name]):
            raise ConfigError(
                f"{first} and {second}: their {name} tokenizers differ ({difference}); only models that share their "
                "vocabularies go together"
            )


BLANKS = "\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""A regular expression's class of everything that `str.split` treats as a blank."""

Pieces = Counter[str]
_UNK_PIECE = SPECIAL_PIECES[UNK]
# far above the noise that a changing order of summation leaves in a score, far below the distance of two pieces
_SCORE_DIGITS = 6
# the step by which the library's trainer separates, in arbitrary order, characters its model had dropped
_SCORE_STEP = 1e-4


def train_tokenizer(
    kind: str,
    lines: Iterable[str],
    *,
    size: int,
    min_frequency: int = 1,
    lowercase: bool = False,
    normalize: str = "nfc",
) -> Tokenizer:
    """Train a tokenizer.

    Args:
        kind: a key of `KINDS`. ``char`` has a token for each code point, ``word`` for each stretch between
            blanks; ``bpe`` and ``unigram`` build pieces of words.
        lines: the training text, read once.
        size: the maximum number of ids, the four special symbols included.
        min_frequency: how often something must occur to be in the vocabulary: a word for ``word``, a character for the
            others, and a merge for ``bpe``.
        lowercase: whether text is lowercased first.
        normalize: a key of `NORMALIZATIONS`. ``nfd`` decomposes what Unicode has composed, a Hangul syllable into its
            letters or é into e and an accent, so that ``char`` has a token for each; `Tokenizer.decode` composes.

    Raises:
        ConfigError: an unknown kind or normalisation, or a size or frequency out of range.
        DataError: there is no text in the lines.
    """
    if kind not in KINDS:
        raise ConfigError(f"{kind!r} is not a kind of tokenizer; {nearest(kind, KINDS)}")
    if normalize not in NORMALIZATIONS:
        raise ConfigError(f"normalize: no {normalize!r}; {nearest(normalize, NORMALIZATIONS)}")
    if size <= len(SPECIAL_PIECES):
        raise ConfigError(
            f"a vocabulary of {size} is too small: the special symbols alone are {len(SPECIAL_PIECES)}"
        )
    if min_frequency < 1:
        raise ConfigError(f"min_frequency is {min_frequency}; it must be 1 or more")
    normalizer = _normalizer(normalize, fold=kind != "char", lowercase=lowercase)
    engine = tokenizers.Tokenizer(KINDS[kind](map(normalizer.normalize_str, lines), size, min_frequency))
    engine.normalizer = normalizer
    engine.pre_tokenizer = SPLITTERS[kind]()
    return Tokenizer(kind, engine)


def _normalizer(form: str, *, fold: bool, lowercase: bool) -> Normalizer:
    """A Unicode form, every blank a space; folded, runs of them are one, the line's ends have none, and ▁ is one."""
    steps: list[Normalizer] = [normalizers.Lowercase()] if lowercase else []
    if (build := NORMALIZATIONS[form]) is not None:
        steps.append(build())
    if fold:
        steps += [normalizers.Replace(Regex(f"[{BLANKS}{MARK}]+"), " "), normalizers.Strip()]
    else:
        steps.append(normalizers.Replace(Regex(f"[{BLANKS}]"), " "))
    return normalizers.Sequence(steps)


def _train_char(lines: Iterator[str], size: int, min_frequency: int) -> Model:
    # the blank is in the vocabulary even if it did not occur, so that words are always separated
    counts = _count(lines, lambda line: list(line.replace(" ", "")))
    known = _most_frequent(counts, size - len(SPECIAL_PIECES) - 1, min_frequency)
    return _lookup([" ", *known])


def _train_word(lines: Iterator[str], size: int, min_frequency: int) -> Model:
    return _lookup(_most_frequent(_count(lines, str.split), size - len(SPECIAL_PIECES), min_frequency))


def _train_bpe(lines: Iterator[str], size: int, min_frequency: int) -> Model:
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(SPECIAL_PIECES), min_frequency=min_frequency, show_progress=False
    )
    trained = _train_pieces(models.BPE(), trainer, lines, size, min_frequency)
    ordered = sorted(trained["vocab"], key=trained["vocab"].__getitem__)
    return _merging(ordered, [(first, second) for first, second in trained["merges"]])


def _train_unigram(lines: Iterator[str], size: int, min_frequency: int) -> Model:
    # the trainer needs one more id, for an unknown symbol of its own
    trainer = trainers.UnigramTrainer(
        vocab_size=size - len(SPECIAL_PIECES) + 1,
        unk_token=_UNK_PIECE,
        special_tokens=[_UNK_PIECE],
        show_progress=False,
    )
    trained = _train_pieces(models.Unigram(), trainer, lines, size, min_frequency)
    scores = {piece: score for piece, score in trained["vocab"] if piece != _UNK_PIECE}
    floor = min(scores.values()) + _SCORE_STEP * (1 + sum(len(piece) == 1 for piece in scores))
    rounded = {piece: round(max(score, floor), _SCORE_DIGITS) for piece, score in scores.items()}
    # the trainer exceeds its size where there is hardly space for more than the characters, which must all stay
    ranked = sorted(rounded, key=lambda piece: (len(piece) > 1, -rounded[piece], piece))
    kept = ranked[: size - len(SPECIAL_PIECES)]
    ordered = [(piece, rounded[piece]) for piece in sorted(kept, key=lambda piece: (-rounded[piece], piece))]
    return _scoring(ordered)


Training = Callable[[Iterator[str], int, int], Model]

KINDS: dict[str, Training] = {
    "char": _train_char,
    "word": _train_word,
    "bpe": _train_bpe,
    "unigram": _train_unigram,
}
"""The kinds of tokenizer: each trains a model on normalised lines, given a size and a frequency."""


def _split_words() -> PreTokenizer:
    return pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme="always", split=True)


SPLITTERS: dict[str, Callable[[], PreTokenizer]] = {
    "char": lambda: pre_tokenizers.Split(Regex("."), "isolated"),
    "word": lambda: pre_tokenizers.Split(" ", "removed"),
    "bpe": _split_words,
    "unigram": _split_words,
}
"""How each kind splits a normalised line before its model looks up the parts."""


def _count(lines: Iterable[str], split: Callable[[str], list[str]]) -> Pieces:
    counts: Pieces = Counter()
    for line in lines:
        counts.update(split(line))
    if not counts:
        raise DataError("an empty corpus: there is no text to train a tokenizer on")
    return counts


def _most_frequent(counts: Pieces, limit: int | None, min_frequency: int) -> list[str]:
    """The most frequent pieces first, those of equal count by code point."""
    frequent = [piece for piece, count in counts.items() if count >= min_frequency]
    return sorted(frequent, key=lambda piece: (-counts[piece], piece))[:limit]


def _with_ids(known: Iterable[str]) -> dict[str, int]:
    return {piece: i for i, piece in enumerate([*SPECIAL_PIECES, *known])}


def _lookup(known: list[str]) -> Model:
    return models.WordLevel(_with_ids(known), _UNK_PIECE)


def _merging(known: list[str], merges: list[tuple[str, str]]) -> Model:
    return models.BPE(_with_ids(known), merges, unk_token=_UNK_PIECE, fuse_unk=True)


def _scoring(known: list[tuple[str, float]]) -> Model:
    return models.Unigram([*((piece, 0.0) for piece in SPECIAL_PIECES), *known], UNK, False)


_EMPTY_MODELS: dict[str, Callable[[], Model]] = {
    "char": lambda: _lookup([]),
    "word": lambda: _lookup([]),
    "bpe": lambda: _merging([], []),
    "unigram": lambda: _scoring([]),
}


def _train_pieces(
    model: Model, trainer: Trainer, lines: Iterable[str], size: int, min_frequency: int
) -> dict[str, Any]:
    """Train on the words of which every character is frequent enough; return the model as data.

    Raises:
        ConfigError: the characters alone overfill the vocabulary, or none is frequent enough.
    """
    words = _count(lines, str.split)
    characters: Pieces = Counter()
    for word, count in words.items():
        characters.update({character: count * times for character, times in Counter(word).items()})
    rare = {character for character, count in characters.items() if count < min_frequency}
    usable = {word: count for word, count in words.items() if rare.isdisjoint(word)}
    alphabet = set(MARK).union(*usable)
    if not usable:
        raise ConfigError(
            f"min_frequency is {min_frequency}, and every word has a character that is rarer; lower it"
        )
    if len(alphabet) + len(SPECIAL_PIECES) > size:
        raise ConfigError(
            f"a vocabulary of {size} is too small for {len(alphabet)} different characters and "
            f"{len(SPECIAL_PIECES)} special symbols; make it {len(alphabet) + len(SPECIAL_PIECES)} or more, "
            "or raise min_frequency to leave out rare characters"
        )
    engine = tokenizers.Tokenizer(model)
    engine.pre_tokenizer = _split_words()
    repeated = (" ".join([word] * count) for word, count in sorted(usable.items()))
    engine.train_from_iterator(repeated, trainer)
    trained: dict[str, Any] = json.loads(engine.to_str())["model"]
    return trained
