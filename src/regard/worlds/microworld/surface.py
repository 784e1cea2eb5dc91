"""From the words of a finished sentence to its two lines and its gold links.

In: English words and French words in order. Out: an `Example`. Here English chooses a or an, and French
elides (le oiseau → l' oiseau), softens (sa école → son école, ce arbre → cet arbre) and contracts (de le →
du). Knows nothing of how the sentence was built.
"""

from regard.text.links import GoldLinks
from regard.worlds.microworld.english import takes_an
from regard.worlds.microworld.french import opens_with_vowel
from regard.worlds.microworld.tokens import Mot, Word
from regard.worlds.world import Example

_BEFORE_VOWEL = {
    "je": "j'",
    "me": "m'",
    "te": "t'",
    "se": "s'",
    "le": "l'",
    "la": "l'",
    "ne": "n'",
    "de": "d'",
    "que": "qu'",
    "ma": "mon",
    "ta": "ton",
    "sa": "son",
    "ce": "cet",
}
_CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def spell(words: list[Word], mots: list[Mot]) -> Example:
    """Write both lines of a sentence and the links between them."""
    source = _spell_english(words)
    settled = _settle_french(mots)
    sure = []
    possible = []
    for i, mot in enumerate(settled):
        if mot.sure is not None:
            sure.append((mot.sure.place, i))
        for word in mot.possible:
            possible.append((word.place, i))
    target = " ".join([mot.text for mot in settled])
    return Example(source, target, GoldLinks(frozenset(sure), frozenset(possible)))


def _spell_english(words: list[Word]) -> str:
    """Number the words and choose between a and an."""
    article: Word | None = None
    for place, word in enumerate(words):
        word.place = place
        if article is not None:
            if takes_an(word.text):
                article.text = "an"
            article = None
        if word.text == "a":
            article = word
    return " ".join([word.text for word in words])


def _settle_french(mots: list[Mot]) -> list[Mot]:
    """Elide and contract, from right to left, since each word's form hangs on the one after it."""
    settled: list[Mot] = []
    following = ""
    article: Mot | None = None
    for mot in reversed(mots):
        text = mot.text
        if article is not None and (contracted := _CONTRACTED.get((text, following))):
            settled.pop()
            if article.sure is not None:
                mot.possible = (*mot.possible, article.sure, *article.possible)
            else:
                mot.possible = mot.possible + article.possible
            mot.text = following = contracted
            settled.append(mot)
            article = None
            continue
        if text in _BEFORE_VOWEL and following and opens_with_vowel(following):
            mot.text = text = _BEFORE_VOWEL[text]
        elif text == "si" and (following == "il" or following == "ils"):
            mot.text = text = "s'"
        article = mot if mot.article else None
        following = text
        settled.append(mot)
    settled.reverse()
    return settled
