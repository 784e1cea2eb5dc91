"""English and French words with their alignment.

Every French word is made together with the English word it renders, so that the gold alignment is known by
construction. A French word has at most one sure link. Knows nothing of grammar; spelling in context (elision,
contraction, a/an) is done by `dataset.spell`.
"""


class Word:
    """An English word.

    Attributes:
        text: the word as written; the article is ``a`` until the sentence is spelled.
        tag: its part of speech, named as in Universal Dependencies.
        position: in the sentence; −1 until the sentence is spelled.
    """

    __slots__ = ("position", "tag", "text")

    def __init__(self, text: str, tag: str) -> None:
        self.text = text
        self.tag = tag
        self.position = -1


class Mot:
    """A French word and its English sources.

    Attributes:
        text: the word as written before elision and contraction.
        sure: the English word it renders, if there is one.
        possible: further English words it may be linked to.
        article: whether it is a definite article, which contracts with ``de`` and ``à`` (a pronoun does not).
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
    """A phrase in both languages."""

    __slots__ = ("en", "fr")

    def __init__(self, en: list[Word], fr: list[Mot]) -> None:
        self.en = en
        self.fr = fr

    def __add__(self, other: "Phrase") -> "Phrase":
        return Phrase(self.en + other.en, self.fr + other.fr)
