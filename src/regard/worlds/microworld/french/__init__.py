"""French word forms: sounds that matter for spelling, noun and adjective endings, conjugation."""

from regard.worlds.microworld.french.conjugation import Conjugation, conjugate
from regard.worlds.microworld.french.inflection import adjective_forms, plural
from regard.worlds.microworld.french.sound import opens_with_vowel

__all__ = ["Conjugation", "adjective_forms", "conjugate", "opens_with_vowel", "plural"]
