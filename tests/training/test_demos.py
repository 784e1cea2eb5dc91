import pytest

from regard.datasets import DATASETS
from regard.errors import ConfigError
from regard.training.configure import configure
from regard.training.demos import DEMOS, find_demo


def test_every_dataset_has_a_demo():
    assert DEMOS.keys() == DATASETS.keys()


@pytest.mark.parametrize("name", DEMOS)
def test_every_demo_configures(name):
    demo = find_demo(name)
    assert configure(demo.config).training.max_updates > 0
    assert demo.train > demo.test > 0 < demo.valid


def test_a_smaller_demo():
    demo = find_demo("microworld")
    small = demo.limited_to(70)
    assert (small.train, small.valid, small.test, small.config) == (70, 70, 70, demo.config)
    assert demo.limited_to(5000).test == demo.test
    assert demo.limited_to(None) == demo
    with pytest.raises(ConfigError, match="--train-size: 0 is out of range"):
        demo.limited_to(0)


def test_no_such_demo():
    with pytest.raises(ConfigError, match="no 'microwrld'; did you mean 'microworld'"):
        find_demo("microwrld")
