import datetime
from dataclasses import replace
from itertools import chain

import pytest

from regard.datasets.dates import CASINGS, Readings, all_forms, shape

FORMS = list(chain.from_iterable(all_forms().values()))
READINGS = Readings(FORMS)


def date(text):
    return datetime.date.fromisoformat(text)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("03/05/1997", {"1997-05-03", "1997-03-05"}),
        ("3-5-1997", {"1997-05-03", "1997-03-05"}),
        ("13/05/1997", {"1997-05-13"}),
        ("05/13/1997", {"1997-05-13"}),
        ("5/5/1997", {"1997-05-05"}),
        ("31/31/1997", set()),
        ("1997/03/05", {"1997-03-05"}),
        ("03.05.1997", {"1997-05-03"}),
        ("1997.03.05", {"1997-03-05"}),
        ("3.5.97", set()),
        ("30 February 1997", set()),
        ("MERCREDI 5 MARS 1997", {"1997-03-05"}),
        ("12 NİSAN 1997 CUMARTESİ", {"1997-04-12"}),
        ("12 ΑΠΡΙΛΙΟΥ 1997", {"1997-04-12"}),
        ("5 listopada 1997", {"1997-11-05"}),
        ("3\u200f/5\u200f/1997", {"1997-05-03", "1997-03-05"}),
        ("no date at all", set()),
        ("", set()),
    ],
)
def test_all_that_a_text_could_mean(text, dates):
    assert READINGS.read(text) == {date(iso) for iso in dates}


def test_every_form_in_every_casing_can_be_read():
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(days=29 * n) for n in range(40)]
    for form in FORMS:
        for day in days:
            for casing in CASINGS:
                assert day in READINGS.read(casing(form.write(day), form.locale))


def test_a_month_name_two_locales_read_differently_has_two_meanings():
    """Croatian lip. is June and Polish lip is July, so both would be found out."""
    polish = next(form for form in all_forms()["pl"] if form.pattern == "d MMM y")
    months = list(polish.months)
    months[6], months[7] = "lip", "srp"
    croatian = replace(polish, locale="hr", months=tuple(months))
    both = Readings([polish, croatian])
    assert both.read("5 lip 1997") == {date("1997-06-05"), date("1997-07-05")}
    assert both.read("5 maj 1997") == {date("1997-05-05")}


def test_shapes():
    assert shape("5. MÄRZ 1997") == shape("15. märz 2001") == "#. märz #"
    assert shape("5\u200f/3\u200f/1997") == "#/#/#"
    assert shape("12 NİSAN 1997") == shape("12 NISAN 1997") == shape("12 nisan 1997") == "# nisan #"
