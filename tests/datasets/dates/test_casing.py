import datetime
import unicodedata
from itertools import chain

import pytest

from regard.datasets.dates import CASINGS, all_forms, as_written, capitalised, capitals, small


@pytest.mark.parametrize(
    ("locale", "text", "large"),
    [
        ("tr", "12 Nisan 1997 Cumartesi", "12 NİSAN 1997 CUMARTESİ"),
        ("tr", "4 Kasım 1997 Salı", "4 KASIM 1997 SALI"),
        ("en_GB", "Friday 1st April 1997", "FRIDAY 1ST APRIL 1997"),
        ("el", "12 Απριλίου 1997", "12 ΑΠΡΙΛΙΟΥ 1997"),
        ("el", "Δευτέρα, 5 Μαΐου 1997", "ΔΕΥΤΕΡΑ, 5 ΜΑΪΟΥ 1997"),
        ("el", "Μάιος", "ΜΑΪΟΣ"),
        ("fr", "5 février 1997", "5 FÉVRIER 1997"),
        ("uk", "понеділок", "ПОНЕДІЛОК"),
        ("ja", "1997年3月5日", "1997年3月5日"),
    ],
)
def test_capitals_are_those_of_the_language(locale, text, large):
    assert capitals(text, locale) == large


def test_small_letters_are_those_of_the_language():
    assert small("12 NİSAN 1997 SALI", "tr") == "12 nisan 1997 salı"
    assert small("FRIDAY 12 APRIL 1997", "en_GB") == "friday 12 april 1997"


def test_the_first_letter_alone():
    assert capitalised("le mercredi 5 mars, 5th 1997", "fr") == "Le Mercredi 5 Mars, 5th 1997"
    assert capitalised("ilk ışık", "tr") == "İlk Işık"
    assert capitalised("άνοιξη", "el") == "Άνοιξη"


def test_every_casing_keeps_nfc_and_applied_twice_changes_nothing():
    assert sum(CASINGS.values()) == 100
    for form in chain.from_iterable(all_forms().values()):
        for month in range(1, 13):
            text = form.write(datetime.date(1997, month, month))
            assert as_written(text, form.locale) == text
            for casing in CASINGS:
                once = casing(text, form.locale)
                assert unicodedata.is_normalized("NFC", once)
                assert casing(once, form.locale) == once
