"""For each source word the target words that it becomes, and the words that any sentence may need.

In: a sentence's source ids. Out: the ids its translation is chosen from, a few hundred of many thousand; the output
layer then has that many rows. A shortlist lies in the model's folder and belongs to its vocabularies.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from regard.errors import FolderError
from regard.text.specials import EOS, UNK
from regard.whole_file import write_whole

Ids = npt.NDArray[np.int64]

FILE = "shortlist.safetensors"
_NAMES = ("offsets", "words", "frequent")


@dataclass(frozen=True, eq=False)
class Shortlist:
    """What source words become.

    Attributes:
        offsets: (Vx + 1,), where each source word's own words begin in `words`.
        words: target ids, source word after source word.
        frequent: target ids that every sentence gets.
        target_size: Vy, of the vocabulary it belongs to.
        facts: what it was learnt from, for people.
    """

    offsets: Ids
    words: Ids
    frequent: Ids
    target_size: int
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def source_size(self) -> int:
        """Vx, of the vocabulary it belongs to."""
        return len(self.offsets) - 1

    def of(self, source_ids: Iterable[int], asked: Sequence[Iterable[int]] = ()) -> Ids:
        """The target words of one sentence, in rising order; the end mark and the unknown word always among them.

        Args:
            source_ids: of the sentence.
            asked: phrases that are asked of its translation, which must be possible.
        """
        own = [self.words[self.offsets[i] : self.offsets[i + 1]] for i in {*source_ids, EOS}]
        phrases = [np.array(list(phrase), dtype=np.int64) for phrase in asked]
        return np.unique(np.concatenate([*own, *phrases, self.frequent, np.array([UNK, EOS])]))

    def save(self, folder: str | Path) -> Path:
        """Write it into a model folder, whole or not at all.

        Raises:
            DataError: the folder cannot be written.
        """
        arrays = {name: getattr(self, name) for name in _NAMES}
        about = {"target_size": str(self.target_size), "facts": json.dumps(self.facts)}
        content = safetensors.numpy.save(arrays, about)
        path = Path(folder) / FILE
        write_whole(path, lambda file: file.write(content))
        return path

    @classmethod
    def load(cls, folder: str | Path, source_size: int, target_size: int) -> "Shortlist":
        """Read what `save` wrote.

        Args:
            folder: the model's.
            source_size: Vx, of the model.
            target_size: Vy, of the model.

        Raises:
            FolderError: there is none, it is damaged, or it belongs to other vocabularies.
        """
        path = Path(folder) / FILE
        try:
            with safetensors.safe_open(path, framework="np") as file:
                about = file.metadata() or {}
                arrays = {name: file.get_tensor(name).astype(np.int64) for name in _NAMES}
            made = cls(**arrays, target_size=int(about["target_size"]), facts=json.loads(about["facts"]))
        except FileNotFoundError:
            raise FolderError(f"{folder}: it has no shortlist yet; `regard shortlist` learns one") from None
        except (safetensors.SafetensorError, OSError, KeyError, ValueError) as error:
            raise FolderError(f"{path}: damaged: {error}; learn it again with `regard shortlist`") from error
        if (made.source_size, made.target_size) != (source_size, target_size):
            raise FolderError(
                f"{path}: made for vocabularies of {made.source_size:,} and {made.target_size:,} words, and the model "
                f"has {source_size:,} and {target_size:,}; learn it again with `regard shortlist`"
            )
        return made
