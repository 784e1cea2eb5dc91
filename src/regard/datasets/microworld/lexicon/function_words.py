"""Function words and fixed expressions: pronouns, vocatives, negations, adverbs, prepositions, times, determiners.

Every entry has English and French side by side; where several words render several, the links are given. A `Person`
is one row of the pronouns; ``you`` has several rows, one per form of address, chosen by the vocative of the sentence
(sir, madam, my friends …), and tu without one. Each line of a determiner table: English | French masculine | French
feminine | links | weight. The links have, for each French word, the English word (counted from 0) that it renders,
then after ``?`` one it may be linked to; either may be missing. ``~`` is no word.
"""

from typing import NamedTuple


class Agreement(NamedTuple):
    """What a verb, an adjective or a participle agrees with.

    Attributes:
        person: French person: je, tu, il, nous, vous, ils, counted from 0.
        feminine: gender.
        plural: number as an adjective sees it; vous said to one person is singular.
        english: 0 for I, 1 for you and plurals, 2 for the third person singular.
    """

    person: int
    feminine: bool
    plural: bool
    english: int


class Person(NamedTuple):
    """One row of the pronouns: English subject, object, possessive; then French."""

    subject: str
    object: str
    possessive: str
    sujet: str
    direct: str
    indirect: str
    stressed: str
    mon: tuple[str, str, str]
    """Possessive before a masculine, a feminine, a plural noun."""
    agreement: Agreement


def _row(english: str, french: str, agreement: Agreement) -> Person:
    subject, object_, possessive = english.split()
    sujet, direct, indirect, stressed, masculine, feminine, plural = french.split()
    mon = (masculine, feminine, plural)
    return Person(subject, object_, possessive, sujet, direct, indirect, stressed, mon, agreement)


_TU = "tu te te toi ton ta tes"
_VOUS = "vous vous vous vous votre votre vos"

I = _row("I me my", "je me me moi mon ma mes", Agreement(0, False, False, 0))
HE = _row("he him his", "il le lui lui son sa ses", Agreement(2, False, False, 2))
SHE = _row("she her her", "elle la lui elle son sa ses", Agreement(2, True, False, 2))
WE = _row("we us our", "nous nous nous nous notre notre nos", Agreement(3, False, True, 1))
THEY = {
    False: _row("they them their", "ils les leur eux leur leur leurs", Agreement(5, False, True, 1)),
    True: _row("they them their", "elles les leur elles leur leur leurs", Agreement(5, True, True, 1)),
}
"""By gender."""
IT = {
    False: _row("it it its", "il le lui lui son sa ses", Agreement(2, False, False, 2)),
    True: _row("it it its", "elle la lui elle son sa ses", Agreement(2, True, False, 2)),
}
"""By the gender of its antecedent."""


class Vocative(NamedTuple):
    """A vocative and the ``you`` that goes with it."""

    en: tuple[tuple[str, str], ...]
    fr: tuple[str, ...]
    you: Person


def _you(french: str, feminine: bool, plural: bool) -> Person:
    return _row("you you your", french, Agreement(1 if french is _TU else 4, feminine, plural, 1))


NO_VOCATIVE = Vocative((), (), _you(_TU, False, False))
"""No vocative: tu, to a man."""

VOCATIVES = (
    Vocative((("sir", "NOUN"),), ("monsieur",), _you(_VOUS, False, False)),
    Vocative((("madam", "NOUN"),), ("madame",), _you(_VOUS, True, False)),
    Vocative((("my", "PRON"), ("friends", "NOUN")), ("mes", "amis"), _you(_VOUS, False, True)),
    Vocative((("my", "PRON"), ("daughter", "NOUN")), ("ma", "fille"), _you(_TU, True, False)),
    Vocative((("my", "PRON"), ("son", "NOUN")), ("mon", "fils"), _you(_TU, False, False)),
)


Tagged = tuple[tuple[str, str], ...]


class Negation(NamedTuple):
    """English words before the verb, French words after it, sure links; the first is linked to ``ne``."""

    en: Tagged
    fr: tuple[str, ...]
    links: tuple[int, ...]


NOT = Negation((("not", "PART"),), ("pas",), (0,))
NEVER = Negation((("never", "ADV"),), ("jamais",), (0,))
NO_LONGER = Negation((("no", "ADV"), ("longer", "ADV")), ("plus",), (1,))
NOT_YET = Negation((("not", "PART"), ("yet", "ADV")), ("pas", "encore"), (0, 1))


class FixedExpression(NamedTuple):
    """An expression that does not inflect: words of both languages, sure links (−1: a possible link to the last)."""

    en: Tagged
    fr: tuple[str, ...]
    links: tuple[int, ...]


def _expression(english: str, french: str, links: str) -> FixedExpression:
    words = tuple((word, tag) for word, tag in (piece.split("/") for piece in english.split()))
    return FixedExpression(words, tuple(french.split()), tuple(int(link) for link in links.split()))


def _read(table: str) -> tuple[FixedExpression, ...]:
    return tuple(
        _expression(*(cell.strip() for cell in line.split("|"))) for line in table.strip().splitlines()
    )


MIDDLE = _read("""
often/ADV     | souvent  | 0
always/ADV    | toujours | 0
sometimes/ADV | parfois  | 0
also/ADV      | aussi    | 0
really/ADV    | vraiment | 0
""")
"""Adverbs before the English verb and after the French one."""

MIDDLE_NEGATED = MIDDLE[:2] + MIDDLE[4:]
"""Those that go with not."""

ALREADY = _expression("already/ADV", "déjà", "0")

MANNER = _read("""
slowly/ADV    | lentement     | 0
quickly/ADV   | rapidement    | 0
carefully/ADV | prudemment    | 0
gently/ADV    | doucement     | 0
patiently/ADV | patiemment    | 0
calmly/ADV    | calmement     | 0
well/ADV      | bien          | 0
badly/ADV     | mal           | 0
""")

TIMES = {
    "present": _read("""
today/NOUN                | aujourd'hui        | 0
every/DET day/NOUN        | chaque jour        | 0 1
every/DET morning/NOUN    | chaque matin       | 0 1
every/DET evening/NOUN    | chaque soir        | 0 1
in/ADP winter/NOUN        | en hiver           | 0 1
in/ADP summer/NOUN        | en été             | 0 1
"""),
    "now": _read("""
now/ADV                   | maintenant         | 0
today/NOUN                | aujourd'hui        | 0
"""),
    "past": _read("""
yesterday/NOUN            | hier               | 0
yesterday/NOUN evening/NOUN | hier soir        | 0 1
this/DET morning/NOUN     | ce matin           | 0 1
last/ADJ week/NOUN        | la semaine dernière | -1 1 0
last/ADJ year/NOUN        | la année dernière  | -1 1 0
last/ADJ summer/NOUN      | le été dernier     | -1 1 0
on/ADP Monday/PROPN       | lundi              | 1
on/ADP Saturday/PROPN     | samedi             | 1
two/NUM days/NOUN ago/ADV | il y a deux jours  | 2 2 2 0 1
"""),
    "future": _read("""
tomorrow/NOUN             | demain             | 0
tonight/NOUN              | ce soir            | 0 0
next/ADJ week/NOUN        | la semaine prochaine | -1 1 0
next/ADJ year/NOUN        | la année prochaine | -1 1 0
on/ADP Sunday/PROPN       | dimanche           | 1
on/ADP Friday/PROPN       | vendredi           | 1
in/ADP three/NUM days/NOUN | dans trois jours  | 0 1 2
"""),
}
"""Time expressions by the tense they go with."""

TOWNS = ("Paris Paris", "Lyon Lyon", "London Londres", "Rome Rome", "Brussels Bruxelles")
COUNTRIES = ("France France f", "Italy Italie f", "Spain Espagne f", "Japan Japon m", "Canada Canada m")
"""English, French; a masculine country takes au and du, a feminine one en and de."""

PREPOSITIONS = {
    "in": (("in",), ("dans",)),
    "on": (("on",), ("sur",)),
    "under": (("under",), ("sous",)),
    "behind": (("behind",), ("derrière",)),
    "in_front_of": (("in", "front", "of"), ("devant",)),
    "near": (("near",), ("près", "de")),
    "at": (("at",), ("à",)),
    "to": (("to",), ("à",)),
    "with": (("with",), ("avec",)),
    "for": (("for",), ("pour",)),
    "of": (("of",), ("de",)),
    "from": (("from",), ("de",)),
}
"""English and French words of each; where English has several, the second to last carries the meaning."""

PROFESSIONS = (
    ("teacher", "teachers", "professeur", "professeur"),
    ("doctor", "doctors", "médecin", "médecin"),
    ("student", "students", "étudiant", "étudiante"),
    ("baker", "bakers", "boulanger", "boulangère"),
    ("musician", "musicians", "musicien", "musicienne"),
    ("lawyer", "lawyers", "avocat", "avocate"),
    ("farmer", "farmers", "fermier", "fermière"),
    ("nurse", "nurses", "infirmier", "infirmière"),
    ("singer", "singers", "chanteur", "chanteuse"),
    ("dancer", "dancers", "danseur", "danseuse"),
)
"""English singular and plural, French masculine and feminine; after be they take no French article."""

GAMES = (
    ("football", "le", "football"),
    ("tennis", "le", "tennis"),
    ("chess", "les", "échecs"),
    ("cards", "les", "cartes"),
)
"""English, French article, French noun: jouer au football, jouer aux échecs."""


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

_TABLES = """
[one]
the     | le      | la       | 0 | 12
a       | un      | une      | 0 | 5
this    | ce      | cette    | 0 | 2
that    | ce      | cette    | 0 | 1
every   | chaque  | chaque   | 0 | 1
[several]
the       | les         | les         | 0   | 8
these     | ces         | ces         | 0   | 2
those     | ces         | ces         | 0   | 1
two       | deux        | deux        | 0   | 1
three     | trois       | trois       | 0   | 1
all the   | tous les    | toutes les  | 0 1?0 | 1
several   | plusieurs   | plusieurs   | 0   | 1
a few     | quelques    | quelques    | 1?0 | 1
[more]
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
[stuff]
the     | le      | la       | 0 | 3
this    | ce      | cette    | 0 | 1
[more_stuff]
some    | du      | de la    | 0 ?0 | 2
~       | du      | de la    | ~ ~ | 2
[whole_kind]
the       | les   | les   | 0 | 1
these     | ces   | ces   | 0 | 1
~         | les   | les   | ~ | 3
[whole_stuff]
the       | le    | la    | 0 | 1
~         | le    | la    | ~ | 2
[one_known]
the     | le      | la       | 0 | 6
this    | ce      | cette    | 0 | 2
that    | ce      | cette    | 0 | 1
[one_or_known]
the     | le      | la       | 0 | 6
a       | un      | une      | 0 | 2
this    | ce      | cette    | 0 | 2
[known_several]
the       | les   | les   | 0 | 3
these     | ces   | ces   | 0 | 1
[more_subjects]
many      | beaucoup de | beaucoup de | 0 ?0 | 1
four      | quatre      | quatre      | 0   | 1
[new_one]
a       | un      | une      | 0 | 1
[no_new_one]
a       | de      | de       | 0 | 1
[no_new_any]
any     | de      | de       | 0 | 1
[none_of_one]
the     | le      | la       | 0 | 5
a       | de      | de       | 0 | 4
this    | ce      | cette    | 0 | 2
[none_of_several]
the     | les     | les      | 0 | 4
any     | de      | de       | 0 | 4
these   | ces     | ces      | 0 | 2
[none_of_stuff]
the     | le      | la       | 0 | 1
any     | de      | de       | 0 | 2
"""
"""Determiners in named tables; ``one`` and ``several`` are for any position, and the others add to or replace them."""


def _link(text: str) -> tuple[int | None, int | None]:
    sure, _, possible = text.strip("~").partition("?")
    return int(sure) if sure else None, int(possible) if possible else None


def _read_determiners() -> dict[str, tuple[Determiner, ...]]:
    """The determiners of each table, each as often as its weight."""
    tables: dict[str, list[Determiner]] = {}
    for line in _TABLES.strip().splitlines():
        if line.startswith("["):
            table = tables.setdefault(line.strip("[]"), [])
            continue
        english, masculine, feminine, links, weight = (cell.strip() for cell in line.split("|"))
        words = () if english == "~" else tuple((word, _TAGS.get(word, "DET")) for word in english.split())
        forms = (tuple(masculine.split()), tuple(feminine.split()))
        definite = forms[0][-1] in ("le", "les")
        determiner = Determiner(words, forms, tuple(map(_link, links.split())), definite)
        table.extend([determiner] * int(weight))
    return {name: tuple(determiners) for name, determiners in tables.items()}


_READ = _read_determiners()

_STYLES = """
bound    | one          | several               | stuff
subject  | one          | several more_subjects | stuff
paired   | one_or_known | several               | stuff
free     | one          | several more          | stuff more_stuff
known    | one_known    | known_several         | stuff
new      | new_one      | more                  | more_stuff
none     | no_new_one   | no_new_any            | no_new_any
generic  | one_known    | whole_kind            | whole_stuff
negated  | none_of_one  | none_of_several       | none_of_stuff
"""


def _by_style(column: int) -> dict[str, tuple[Determiner, ...]]:
    rows = [[cell.split() for cell in line.split("|")] for line in _STYLES.strip().splitlines()]
    return {
        row[0][0]: tuple(determiner for table in row[column] for determiner in _READ[table]) for row in rows
    }


SINGULAR, PLURAL, MASS = _by_style(1), _by_style(2), _by_style(3)
"""Determiners by style: ``bound`` after a preposition, ``free`` as an object, ``generic`` after like, ``negated``
as the object of a negated verb, ``known`` for what is definite, ``new`` after there is, ``none`` after there is
not, ``subject`` and ``paired`` (joined by and) before a verb."""
