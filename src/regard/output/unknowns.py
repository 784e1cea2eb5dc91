"""Unknown words of a translation, replaced through attention (Jean et al. 2015; Luong et al. 2015b).

In: a `Translation` with ``<unk>`` in it, and a dictionary where there is one. Out: the same translation whose text
has, in the place of each target word with an unknown piece, what the dictionary says of the source word it looked at
most, or else that very source word: names and numbers are mostly written alike. Words, not pieces: attention is
added up over a source word's pieces. Tokens, scores and attention stay as the model gave them.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from regard.errors import DataError
from regard.output.alignment.merge import count_words
from regard.output.translation import Translation
from regard.text.formats import read_file, shown
from regard.text.specials import SPECIALS, UNK

_UNKNOWN = SPECIALS[UNK]


def replace_unknowns(translation: Translation, dictionary: Mapping[str, str] | None = None) -> Translation:
    """Replace each target word that has an unknown piece, in the translation and in its alternatives.

    A word that looked at nothing but the source's end mark, and any word of a model without attention, stays
    unknown.

    Args:
        translation: what was found.
        dictionary: what source words become; a word not in it is looked up in lower case, then copied.
    """
    others = tuple(replace_unknowns(other, dictionary) for other in translation.alternatives)
    return replace(translation, text=_text(translation, dictionary or {}), alternatives=others)


def _text(translation: Translation, dictionary: Mapping[str, str]) -> str:
    unknown = {
        word
        for token, word in zip(translation.tokens, translation.target_words, strict=True)
        if token == _UNKNOWN and word is not None
    }
    attention = translation.word_alpha
    if not unknown or attention is None:
        return translation.text
    parts = re.findall(r"\s+|\S+", translation.text)  # blanks too: a character model's are kept
    places = [k for k, part in enumerate(parts) if not part.isspace()]
    if len(places) != count_words(translation.target_words):
        return translation.text  # a text that was changed before: which word is which cannot be told
    for word in unknown:
        row = attention.alpha[word, :-1]  # (J,), without the end mark
        if row.size and row.max() > 0:
            parts[places[word]] = _entry(attention.source_labels[int(row.argmax())], dictionary)
    return "".join(parts)


def _entry(source: str, dictionary: Mapping[str, str]) -> str:
    return dictionary.get(source, dictionary.get(source.lower(), source))


def read_dictionary(path: str | Path) -> dict[str, str]:
    """Read a dictionary: on each line a source word, a tab, and what it becomes, one word or several.

    Of several entries for a word the first holds; blank lines are passed over.

    Raises:
        DataError: the file cannot be read, or a line has no tab, no word before it or nothing after it.
    """
    entries: dict[str, str] = {}
    for number, line in enumerate(read_file(path), start=1):
        if not line.strip():
            continue
        source, tab, target = line.partition("\t")
        if not tab or not source.strip() or not target.strip():
            raise DataError(
                f"{shown(path)}:{number}: {line[:60]!r} is no entry of a dictionary; write a source word, a tab, "
                "and what it becomes"
            )
        entries.setdefault(source.strip(), target.strip())
    return entries
