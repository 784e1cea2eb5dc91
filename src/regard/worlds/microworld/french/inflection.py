"""Endings of French nouns and adjectives: plural, feminine.

In: a masculine singular form, with the feminine where no rule gives it. Out: the other forms. Knows no
meanings and no place in the noun phrase.
"""

_PLURAL_IN_X = ("eau", "eu", "hibou")
_FEMININE = (
    ("eux", "euse"),
    ("er", "ère"),
    ("ien", "ienne"),
    ("et", "ette"),
    ("if", "ive"),
    ("c", "che"),
)


def plural(singular: str) -> str:
    """Return the plural of a noun or of an adjective's form."""
    if singular[-1] in "sxz":
        return singular
    if singular.endswith("al"):
        return singular[:-1] + "ux"
    if singular.endswith(_PLURAL_IN_X) and singular != "bleu":
        return singular + "x"
    return singular + "s"


def adjective_forms(entry: str) -> tuple[str, str, str, str]:
    """Return masculine and feminine singular, then masculine and feminine plural.

    Args:
        entry: the masculine singular, with ``/feminine`` where the rules do not give it.
    """
    masculine, _, feminine = entry.partition("/")
    if not feminine:
        feminine = _feminine(masculine)
    return masculine, feminine, plural(masculine), plural(feminine)


def _feminine(masculine: str) -> str:
    if masculine.endswith("e"):
        return masculine
    for ending, replacement in _FEMININE:
        if masculine.endswith(ending):
            return masculine[: -len(ending)] + replacement
    return masculine + "e"
