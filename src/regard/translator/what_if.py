"""One line translated twice: as the model would, and as it does when something is told it."""

from typing import TYPE_CHECKING

from regard.errors import ConfigError, DataError
from regard.output.what_if import WhatIf
from regard.search import SearchOptions
from regard.translator.asked import Asked, swapped

if TYPE_CHECKING:
    from regard.translator.translator import Translator


def ask(translator: "Translator", line: str, asked: Asked, options: SearchOptions) -> WhatIf:
    """Translate a line before and after; see `Translator.what_if`.

    Args:
        translator: whose translations.
        line: what to translate.
        asked: what is to be different.
        options: how to search, both times.

    Raises:
        ConfigError: what is asked for cannot be done.
        DataError: the line is blank.
    """
    if not line.strip():
        raise DataError("what if: the line is blank; give it a word")
    if asked.attend and not translator.attends:
        raise ConfigError(
            "attend: this model has no attention that could be told where to look; ask for a prefix or a swap, or "
            "train one whose decoder is of kind bahdanau, luong or deep-fusion"
        )
    places = asked.places(line)
    told = swapped(line, places)
    ids, told_ids = translator.encode([line, told])
    request = asked.request(told, told_ids, translator.source_tokenizer, translator.target_tokenizer)
    (before,) = translator.find([ids], options)
    (after,) = translator.find([told_ids], options, [request])
    return WhatIf(
        translator.rendered(line, ids, before.hypotheses),
        translator.rendered(told, told_ids, after.hypotheses),
        request.attend,
        asked.wish.prefix,
        places,
        asked.wish.include,
        asked.wish.exclude,
    )
