"""Whether a French word opens with a vowel sound, which decides elision and forms such as bel, cet, mon."""

from functools import cache

_VOWELS = frozenset("aàâeéèêëiîïoôœuùûyAEÉIOU")
_NO_ELISION = frozenset(("héros", "haricot", "haricots", "hibou", "hiboux", "onze", "huit"))
"""Words with an aspirated h, and numerals that behave alike."""


@cache
def opens_with_vowel(word: str) -> bool:
    """Say whether ``le`` before this word becomes ``l'`` (mute h counts as a vowel, aspirated h does not)."""
    if word in _NO_ELISION:
        return False
    return word[0] in _VOWELS or word[0] in "hH"
