"""The two kinds of word a phrase is made of: English words, and French words that know where they come from.

Every French word is made together with the English word it renders, so the gold alignment is a by-product
of building the sentence and is never guessed afterwards. A French word has at most one sure source. Knows
nothing of grammar; spelling in context (elision, contraction, a/an) is `surface`.
"""


class Word:
    """An English word.

    Attributes:
        text: the word as written; the article stays ``a`` until the sentence is spelt.
        tag: its part of speech, named as in Universal Dependencies.
        place: its position in the sentence, known once the sentence is spelt.
    """

    __slots__ = ("place", "tag", "text")

    def __init__(self, text: str, tag: str) -> None:
        self.text = text
        self.tag = tag
        self.place = -1


class Mot:
    """A French word and its English sources.

    Attributes:
        text: the word as written before elision and contraction.
        sure: the English word it renders, if there is one.
        possible: English words it may fairly be linked to besides.
        article: True for a definite article, which contracts with ``de`` and ``à`` (a pronoun does not).
    """

    __slots__ = ("article", "possible", "sure", "text")

    def __init__(
        self, text: str, sure: Word | None = None, possible: tuple[Word, ...] = (), article: bool = False
    ) -> None:
        self.text = text
        self.sure = sure
        self.possible = possible
        self.article = article


class Phrase:
    """The same stretch of meaning in both languages."""

    __slots__ = ("en", "fr")

    def __init__(self, en: list[Word], fr: list[Mot]) -> None:
        self.en = en
        self.fr = fr
