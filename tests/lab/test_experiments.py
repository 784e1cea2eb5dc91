"""Every experiment is one file: named as the table names it, with two sizes of one type."""

from pkgutil import iter_modules

import pytest

from regard import lab
from regard.errors import ConfigError
from regard.lab import EXPERIMENTS, find_experiment


def test_the_files_are_the_experiments_and_what_they_share():
    assert {module.name for module in iter_modules(lab.__path__)} == {*EXPERIMENTS, "runner", "measures"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_is_named_as_its_file_and_has_two_sizes(name):
    experiment = find_experiment(name)
    assert experiment.name == name
    assert experiment.measure.__module__ == f"regard.lab.{name}"
    assert type(experiment.usual) is type(experiment.full)
    assert experiment.usual != experiment.full
    assert experiment.seconds > 0


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'length'"):
        find_experiment("lenght")
