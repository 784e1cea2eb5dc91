"""Personal pronouns and possessives of both languages.

A `Person` is one row of the paradigm. ``you`` has several rows, one for each way of addressing someone;
which one holds is said by the sentence's own vocative (sir, madam, my friends …), and is tu where there is
none.
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
    """One row of the pronouns: English subject, object, possessive, reflexive; then French."""

    subject: str
    object: str
    possessive: str
    oneself: str
    sujet: str
    direct: str
    indirect: str
    stressed: str
    se: str
    mon: tuple[str, str, str]
    """Possessive before a masculine, a feminine, a plural noun."""
    agreement: Agreement


def _row(english: str, french: str, agreement: Agreement) -> Person:
    subject, object_, possessive, oneself = english.split()
    sujet, direct, indirect, stressed, se, masculine, feminine, plural = french.split()
    mon = (masculine, feminine, plural)
    return Person(
        subject, object_, possessive, oneself, sujet, direct, indirect, stressed, se, mon, agreement
    )


_TU = "tu te te toi te ton ta tes"
_VOUS = "vous vous vous vous vous votre votre vos"

I = _row("I me my myself", "je me me moi me mon ma mes", Agreement(0, False, False, 0))
HE = _row("he him his himself", "il le lui lui se son sa ses", Agreement(2, False, False, 2))
SHE = _row("she her her herself", "elle la lui elle se son sa ses", Agreement(2, True, False, 2))
WE = _row("we us our ourselves", "nous nous nous nous nous notre notre nos", Agreement(3, False, True, 1))
THEY = {
    False: _row(
        "they them their themselves", "ils les leur eux se leur leur leurs", Agreement(5, False, True, 1)
    ),
    True: _row(
        "they them their themselves", "elles les leur elles se leur leur leurs", Agreement(5, True, True, 1)
    ),
}
"""By gender."""
IT = {
    False: _row("it it its itself", "il le lui lui se son sa ses", Agreement(2, False, False, 2)),
    True: _row("it it its itself", "elle la lui elle se son sa ses", Agreement(2, True, False, 2)),
}
"""By the gender of the noun it stands for."""


class Address(NamedTuple):
    """A vocative and the ``you`` that goes with it."""

    en: tuple[tuple[str, str], ...]
    fr: tuple[str, ...]
    you: Person


def _you(french: str, feminine: bool, plural: bool) -> Person:
    person = 1 if french is _TU else 4
    oneself = "yourselves" if plural else "yourself"
    return _row(f"you you your {oneself}", french, Agreement(person, feminine, plural, 1))


PLAIN = Address((), (), _you(_TU, False, False))
"""No vocative: tu, to a man."""

ADDRESSES = (
    Address((("sir", "NOUN"),), ("monsieur",), _you(_VOUS, False, False)),
    Address((("madam", "NOUN"),), ("madame",), _you(_VOUS, True, False)),
    Address((("my", "PRON"), ("friends", "NOUN")), ("mes", "amis"), _you(_VOUS, False, True)),
    Address((("my", "PRON"), ("daughter", "NOUN")), ("ma", "fille"), _you(_TU, True, False)),
    Address((("my", "PRON"), ("son", "NOUN")), ("mon", "fils"), _you(_TU, False, False)),
)
