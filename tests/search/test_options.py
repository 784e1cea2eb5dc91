"""Options and constraints refuse what cannot be meant."""

from dataclasses import fields
from inspect import signature

import pytest

from regard.errors import ConfigError
from regard.search.constraints import TokenConstraints
from regard.search.options import SamplingOptions, SearchOptions, takes_options
from regard.text.specials import EOS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam: 0 is out of range; it must be from 1 to 1000"),
        ({"n_best": 6}, "n_best: 6 is more than the beam, 5; raise beam, or lower n_best"),
        ({"length_penalty": "avarage"}, "did you mean 'average'"),
        ({"length_power": -1}, "length_power: -1"),
        ({"length_power": 500.0}, "length_power: 500"),
        ({"length_power": float("nan")}, "length_power: nan"),
        ({"coverage": -0.1}, "coverage: -0.1"),
        ({"min_length": -1}, "min_length: -1"),
        ({"min_ratio": float("inf")}, "min_ratio: inf"),
        ({"block_ngrams": -2}, "block_ngrams: -2"),
        ({"max_ratio": -1}, "max_ratio: -1"),
        ({"max_ratio": float("nan")}, "max_ratio: nan"),
        ({"max_ratio": float("inf")}, "max_ratio: inf"),
        ({"beam": 1001}, "beam: 1001 is out of range; it must be from 1 to 1000"),
        ({"max_ratio": 1e9}, r"max_ratio: 1000000000 is out of range; it must be from 0 to 100"),
        ({"min_ratio": 101}, "min_ratio: 101"),
        ({"min_length": 10**9}, r"min_length: 1000000000"),
        ({"coverage": float("inf")}, "coverage: inf"),
        ({"max_extra": 0}, "max_extra: 0 is out of range; it must be from 1 to 10000"),
    ],
)
def test_options(options, message):
    with pytest.raises(ConfigError, match=message):
        SearchOptions(**options)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"include": ((4,), ())}, "include: a phrase without words"),
        ({"exclude": ((),)}, "exclude: a phrase without words"),
        ({"prefix": (4, EOS)}, "prefix: .* contains the id 3, which stands for no word"),
        ({"include": ((4, 0),)}, "include: .* contains the id 0"),
        (
            {"include": ((4, 5, 6),), "exclude": ((5, 6),)},
            r"\(5, 6\) is part of \(4, 5, 6\), which is required",
        ),
        ({"prefix": (4, 5), "exclude": ((5,),)}, r"\(5,\) is part of \(4, 5\)"),
        ({"attend": {0: -1}}, "attend: step 0 at position -1"),
        ({"attend": {-2: 0}}, "attend: step -2"),
    ],
)
def test_constraints(constraints, message):
    with pytest.raises(ConfigError, match=message):
        TokenConstraints(**constraints)


def test_whether_words_are_constrained():
    assert not TokenConstraints(attend={0: 1}).constrains_words
    assert TokenConstraints(prefix=(4,)).constrains_words
    assert TokenConstraints(include=((4,),)).constrains_words
    assert TokenConstraints(exclude=((4,),)).constrains_words


def test_a_copy_with_some_options_changed():
    assert SearchOptions(beam=3).change(n_best=2) == SearchOptions(beam=3, n_best=2)
    with pytest.raises(ConfigError, match=r"no option 'lenght_power'; did you mean 'length_power'\?"):
        SearchOptions().change(lenght_power=0.5)
    with pytest.raises(ConfigError, match=r"top_p: 2 is out of range; it must be from 0 to 1"):
        SamplingOptions().change(top_p=2)


def test_every_option_has_a_sentence():
    for kind in (SearchOptions, SamplingOptions):
        for field in fields(kind):
            assert field.metadata["help"].endswith(".")


def test_a_signature_shows_the_options_it_takes():
    @takes_options(SearchOptions)
    def translate(lines, *, seed=1, **changes):
        return changes

    parameters = signature(translate).parameters
    assert list(parameters) == ["lines", "seed", *SearchOptions.names()]
    assert parameters["beam"].default == 5
    assert translate([], beam=2) == {"beam": 2}
