"""Lines ↔ ids, and which word of the line each id belongs to.

In: lines of text, or ids. Out: ids without specials, or text. Normalising, splitting and looking up are
Hugging Face's `tokenizers`, with all their rules in one JSON file. How a vocabulary comes to be is `learn`;
knows nothing of batches or models.

Whether models share their vocabularies: what an ensemble and a mean of checkpoints need.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tokenizers

from regard.errors import ConfigError, FolderError, nearest
from regard.io import write_whole_text
from regard.text.specials import CONTROLS, SPECIAL_PIECES, SPECIALS

MARK = "▁"
"""Stands for a blank at the start of a word in the pieces of `bpe` and `unigram`."""

_SHOWN_BLANK = "␣"

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

    def __init__(self, kind: str, engine: tokenizers.Tokenizer) -> None:
        """Wrap a Hugging Face tokenizer whose first pieces are the specials.

        Args:
            kind: ``char``, ``word``, ``bpe`` or ``unigram``.
            engine: normalises, splits and looks up.
        """
        self.kind = kind
        self._engine = engine
        size = engine.get_vocab_size(with_added_tokens=False)
        pieces = [str(engine.id_to_token(i)) for i in range(len(SPECIALS), size)]
        self._ids = {piece: i for i, piece in enumerate(pieces, start=len(SPECIALS))}
        self._ids.update({name: i for i, name in enumerate(SPECIALS)})
        blank = {" ": _SHOWN_BLANK} if kind == "char" else {}
        self._shown = [*SPECIALS, *(blank.get(piece, piece) for piece in pieces)]
        surface = _SURFACES[kind]
        specials = ["" if i in CONTROLS else surface(name) for i, name in enumerate(SPECIALS)]
        self._surfaces = [*specials, *(surface(piece) for piece in pieces)]

    @property
    def size(self) -> int:
        """How many ids there are, the specials among them."""
        return len(self._shown)

    def encode(self, line: str) -> list[int]:
        """Return the ids of a line; no special but `UNK` is ever among them."""
        ids: list[int] = self._engine.encode(line, add_special_tokens=False).ids
        return ids

    def encode_batch(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of each line, as `encode` does, on all cores."""
        encodings = self._engine.encode_batch_fast(list(lines), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids, wherever they came from.

        Words are parted by one blank, except that `char` gives back every blank. Padding and the marks of a
        sentence's ends are passed over, not stopped at.
        """
        text = "".join(self._surfaces[i] for i in ids)
        return text if self.kind == "char" else " ".join(text.split())

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return a form of each id for people to read: specials by name, a `char` blank as ␣."""
        return [self._shown[i] for i in ids]

    def words(self, ids: Sequence[int]) -> list[int | None]:
        """Return, for each id, the blank-separated word of ``decode(ids)`` it is part of, counted from 0.

        None stands at specials without text and at blanks. A bare ▁ is part of the word it opens, as it is
        where the vocabulary holds the two in one piece.
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

    def difference(self, other: "Tokenizer") -> str:
        """Say how another tokenizer differs, empty where the two give every line the same ids."""
        if self.kind != other.kind:
            return f"{self.kind} and {other.kind}"
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
            raise FolderError(f"{path}: {kind!r} is no kind of tokenizer; {nearest(kind, _SURFACES)}")
        try:
            engine = tokenizers.Tokenizer.from_str(json.dumps(content["tokenizer"]))
        except Exception as error:  # the library raises no narrower class
            raise FolderError(
                f"{path}: the tokenizer in it is damaged ({error}); train or copy it again"
            ) from error
        if [engine.id_to_token(i) for i in range(len(SPECIAL_PIECES))] != list(SPECIAL_PIECES):
            raise FolderError(
                f"{path}: its vocabulary does not begin with the specials; train or copy it again"
            )
        return cls(kind, engine)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FolderError(f"{path}: no tokenizer can be read there ({error.strerror})") from error
    except ValueError as error:
        raise FolderError(f"{path}: damaged, for it is not JSON ({error}); train or copy it again") from error
    if not isinstance(content, dict):
        raise FolderError(f"{path}: not a tokenizer saved by this package; save one with Tokenizer.save")
    return content


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
