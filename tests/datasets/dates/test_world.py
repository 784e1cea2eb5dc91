import datetime
import hashlib
import re
import subprocess
import sys
import time
import unicodedata
from collections import defaultdict
from itertools import chain

import pytest
from babel import Locale

from regard.datasets.dates import PATTERNS, Dates, all_forms
from regard.errors import ConfigError


@pytest.fixture(scope="module")
def splits():
    return Dates().splits(train=40_000, valid=1_000, test=2_000, seed=7)


@pytest.fixture(scope="module")
def examples(splits):
    return [*splits.train, *splits.valid, *splits.test, *splits.extra["unseen"]]


def orders_by_separators():
    """Which orders of y, M and d go with which marks between them, straight from the patterns."""
    orders = defaultdict(set)
    patterns = [form.pattern for form in chain.from_iterable(all_forms().values())]
    for locale in PATTERNS:
        patterns += [Locale.parse(locale).date_formats[n].pattern for n in ("short", "medium")]
    for pattern in patterns:
        marks = re.sub("[yMd]+", "#", pattern)
        if not re.search("[^\\W\\d_]", marks) and "MMM" not in pattern:
            orders[re.sub("\u200f", "", marks)].add("".join(re.findall("([yMd])\\1*", pattern)))
    return orders


def test_no_figures_are_read_as_two_dates_by_two_locales(examples):
    orders = orders_by_separators()
    assert {"dMy", "Mdy", "yMd"} <= orders["#/#/#"]
    figures = 0
    for example in examples:
        numbers = re.findall(r"\d+", example.source)
        if len(numbers) < 3 or re.search(r"[^\W\d_]", example.source):
            continue
        figures += 1
        marks = re.sub("\u200f", "", re.sub(r"\d+", "#", example.source))
        read = set()
        for order in orders[marks]:
            parts = dict(zip(order, numbers, strict=True))
            if len(parts["y"]) == 4:
                try:
                    read.add(datetime.date(int(parts["y"]), int(parts["M"]), int(parts["d"])).isoformat())
                except ValueError:
                    continue
        assert read == {example.target}, example.source
    assert figures > 5_000


def test_both_orders_of_figures_occur(examples):
    slashed = [e for e in examples if re.fullmatch(r"\d\d?/\d\d?/\d{4}", e.source)]
    assert any(int(e.source.split("/")[0]) > 12 for e in slashed)
    assert any(int(e.source.split("/")[1]) > 12 for e in slashed)


def test_no_month_name_means_two_months(examples):
    """Whatever the digits, one wording has one month; case and blanks make no difference."""
    months = defaultdict(set)
    for example in examples:
        numbers = re.findall(r"\d+", example.source)
        if len(numbers) == 2:
            wording = re.sub(r"\d+", "#", example.source).casefold()
            months[wording].add(example.target[5:7])
            assert sorted(map(int, numbers)) == [int(example.target[8:]), int(example.target[:4])]
    assert len(months) > 2_000
    assert all(len(found) == 1 for found in months.values())


def test_targets_are_iso_dates_of_the_two_centuries(examples):
    for example in examples:
        date = datetime.date.fromisoformat(example.target)
        assert date.isoformat() == example.target
        assert 1900 <= date.year <= 2099
        assert example.gold is None
        assert unicodedata.is_normalized("NFC", example.source)
        assert example.source == " ".join(example.source.split())


def test_sizes_and_no_text_twice(splits, examples):
    assert [len(splits.train), len(splits.valid), len(splits.test)] == [40_000, 1_000, 2_000]
    assert {name: len(part) for name, part in splits.extra.items()} == {"unseen": 2_000}
    assert len({example.source for example in examples}) == len(examples)
    assert len({example.source.casefold() for example in examples}) > 0.99 * len(examples)


def test_unseen_days_are_nowhere_else(splits):
    unseen = {example.target for example in splits.extra["unseen"]}
    others = {example.target for example in [*splits.train, *splits.valid, *splits.test]}
    assert len(unseen) > 1_000
    assert not unseen & others


def test_all_locales_and_casings_take_part(splits):
    by_text = {}
    for form in chain.from_iterable(all_forms().values()):
        for example in splits.train[:3_000]:
            date = datetime.date.fromisoformat(example.target)
            if form.write(date).casefold() == example.source.casefold():
                by_text.setdefault(example.source, set()).add(form.locale)
    # nearly all are found: a few casings do not fold back
    assert len(by_text) > 0.99 * 3_000
    shares = defaultdict(int)
    for locales in by_text.values():
        for locale in locales:
            shares[locale] += 1
    assert set(shares) == set(PATTERNS)
    assert min(shares.values()) > 3_000 / len(PATTERNS) / 2
    upper = sum(e.source.isupper() for e in splits.train)
    assert 0.05 < upper / len(splits.train) < 0.15


def test_tests_do_not_depend_on_the_amount_to_train_on(splits):
    small = Dates().splits(train=300, valid=1_000, test=2_000, seed=7)
    assert small.test == splits.test
    assert small.valid == splits.valid
    assert small.extra == splits.extra
    assert small.train == splits.train[:300]


def digest(seed):
    splits = Dates().splits(train=500, valid=50, test=50, seed=seed)
    parts = [splits.train, splits.valid, splits.test, splits.extra["unseen"]]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


PROGRAM = """
import hashlib
from regard.datasets.dates import Dates
splits = Dates().splits(train=500, valid=50, test=50, seed=3)
parts = [splits.train, splits.valid, splits.test, splits.extra["unseen"]]
print(hashlib.sha256(repr(parts).encode()).hexdigest())
"""


def test_equal_seeds_give_equal_splits_in_every_process(monkeypatch):
    assert digest(3) == digest(3) != digest(4)
    monkeypatch.setenv("PYTHONHASHSEED", "11")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(3)


def test_forty_thousand_examples_take_seconds():
    Dates().splits(train=0, valid=0, test=1, seed=1)
    started = time.process_time()
    Dates().splits(train=40_000, valid=0, test=0, seed=1)
    assert time.process_time() - started < 6


@pytest.mark.parametrize("sizes", [(-1, 0, 0), (0, -1, 0), (0, 0, -1), (999_999, 0, 1)])
def test_impossible_sizes(sizes):
    train, valid, test = sizes
    with pytest.raises(ConfigError, match=rf"cannot give {train} examples .* 1,000,000 at most"):
        Dates().splits(train=train, valid=valid, test=test, seed=0)
