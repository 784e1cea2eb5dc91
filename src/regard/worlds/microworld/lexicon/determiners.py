"""Determiners other than possessives: English words, French words, and which renders which.

Each line: English | French masculine | French feminine | links | weight. For each French word stands the
English word (counted from 0) that it renders, then after ``?`` one it may be linked to; either may be missing.
``~`` stands for no word.
"""

from typing import NamedTuple


class Determiner(NamedTuple):
    """A determiner with its French forms.

    Attributes:
        en: English words with their tags; none before a bare noun.
        fr: French words, masculine then feminine.
        links: for every French word its sure English word and its possible one, None where there is none.
        definite: True where the last French word is le, la or les, which contract.
    """

    en: tuple[tuple[str, str], ...]
    fr: tuple[tuple[str, ...], tuple[str, ...]]
    links: tuple[tuple[int | None, int | None], ...]
    definite: bool


_TAGS = {
    "all": "DET", "many": "ADJ", "several": "ADJ", "few": "ADJ", "too": "ADV",
    "two": "NUM", "three": "NUM", "four": "NUM", "five": "NUM", "six": "NUM", "seven": "NUM",
    "eight": "NUM", "ten": "NUM", "twelve": "NUM", "twenty": "NUM",
}  # fmt: skip

_TABLES = {
    # after a preposition, or before a noun the verb does not make or use up
    "one": """
the     | le      | la       | 0 | 12
a       | un      | une      | 0 | 5
this    | ce      | cette    | 0 | 2
that    | ce      | cette    | 0 | 1
every   | chaque  | chaque   | 0 | 1
""",
    "several": """
the       | les         | les         | 0   | 8
these     | ces         | ces         | 0   | 2
those     | ces         | ces         | 0   | 1
two       | deux        | deux        | 0   | 1
three     | trois       | trois       | 0   | 1
all the   | tous les    | toutes les  | 0 1?0 | 1
several   | plusieurs   | plusieurs   | 0   | 1
a few     | quelques    | quelques    | 1?0 | 1
""",
    # what a free noun phrase may have besides
    "more": """
some      | des         | des         | 0   | 4
~         | des         | des         | ~   | 3
many      | beaucoup de | beaucoup de | 0 ?0 | 2
too many  | trop de     | trop de     | 0?1 ?1 | 1
four      | quatre      | quatre      | 0   | 1
five      | cinq        | cinq        | 0   | 1
six       | six         | six         | 0   | 1
seven     | sept        | sept        | 0   | 1
eight     | huit        | huit        | 0   | 1
ten       | dix         | dix         | 0   | 1
twelve    | douze       | douze       | 0   | 1
twenty    | vingt       | vingt       | 0   | 1
""",
    "stuff": """
the     | le      | la       | 0 | 3
this    | ce      | cette    | 0 | 1
""",
    "more_stuff": """
some    | du      | de la    | 0 ?0 | 2
~       | du      | de la    | ~ ~ | 2
""",
    "whole_kind": """
the       | les   | les   | 0 | 1
these     | ces   | ces   | 0 | 1
~         | les   | les   | ~ | 3
""",
    "whole_stuff": """
the       | le    | la    | 0 | 1
~         | le    | la    | ~ | 2
""",
    "one_known": """
the     | le      | la       | 0 | 6
this    | ce      | cette    | 0 | 2
that    | ce      | cette    | 0 | 1
""",
    "one_or_known": """
the     | le      | la       | 0 | 6
a       | un      | une      | 0 | 2
this    | ce      | cette    | 0 | 2
""",
    "known_several": """
the       | les   | les   | 0 | 3
these     | ces   | ces   | 0 | 1
""",
    "more_subjects": """
many      | beaucoup de | beaucoup de | 0 ?0 | 1
four      | quatre      | quatre      | 0   | 1
""",
    "new_one": """
a       | un      | une      | 0 | 1
""",
    "no_new_one": """
a       | de      | de       | 0 | 1
""",
    "no_new_several": """
any     | de      | de       | 0 | 1
""",
    "no_new_stuff": """
any     | de      | de       | 0 | 1
""",
    "none_of_one": """
the     | le      | la       | 0 | 5
a       | de      | de       | 0 | 4
this    | ce      | cette    | 0 | 2
""",
    "none_of_several": """
the     | les     | les      | 0 | 4
any     | de      | de       | 0 | 4
these   | ces     | ces      | 0 | 2
""",
    "none_of_stuff": """
the     | le      | la       | 0 | 1
any     | de      | de       | 0 | 2
""",
}


def _link(text: str) -> tuple[int | None, int | None]:
    sure, _, possible = text.strip("~").partition("?")
    return int(sure) if sure else None, int(possible) if possible else None


def _read(table: str) -> tuple[Determiner, ...]:
    """Return the table's determiners, each as often as its weight says, so that picking one is one draw."""
    found: list[Determiner] = []
    for line in table.strip().splitlines():
        english, masculine, feminine, links, weight = (cell.strip() for cell in line.split("|"))
        words = () if english == "~" else tuple((word, _TAGS.get(word, "DET")) for word in english.split())
        forms = (tuple(masculine.split()), tuple(feminine.split()))
        definite = forms[0][-1] in ("le", "les")
        determiner = Determiner(words, forms, tuple(map(_link, links.split())), definite)
        found.extend([determiner] * int(weight))
    return tuple(found)


_READ = {name: _read(table) for name, table in _TABLES.items()}

SINGULAR = {
    "bound": _READ["one"],
    "subject": _READ["one"],
    "paired": _READ["one_or_known"],
    "free": _READ["one"],
    "known": _READ["one_known"],
    "new": _READ["new_one"],
    "none": _READ["no_new_one"],
    "generic": _READ["one_known"],
    "negated": _READ["none_of_one"],
}
PLURAL = {
    "bound": _READ["several"],
    "subject": _READ["several"] + _READ["more_subjects"],
    "paired": _READ["several"],
    "known": _READ["known_several"],
    "new": _READ["more"],
    "none": _READ["no_new_several"],
    "free": _READ["several"] + _READ["more"],
    "generic": _READ["whole_kind"],
    "negated": _READ["none_of_several"],
}
MASS = {
    "bound": _READ["stuff"],
    "subject": _READ["stuff"],
    "paired": _READ["stuff"],
    "known": _READ["stuff"],
    "new": _READ["more_stuff"],
    "none": _READ["no_new_stuff"],
    "free": _READ["stuff"] + _READ["more_stuff"],
    "generic": _READ["whole_stuff"],
    "negated": _READ["none_of_stuff"],
}
"""Determiners by style: ``bound`` after a preposition, ``free`` as an object, ``generic`` after like, ``negated``
as the object of a negated verb, ``known`` for what is definite, ``new`` after there is, ``none`` after there is
not, ``subject`` and ``paired`` (joined by and) before a verb."""
