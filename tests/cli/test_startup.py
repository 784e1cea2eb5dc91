import gc

import pytest

from regard.cli.translate import without_collecting


def test_only_for_the_while():
    assert gc.isenabled()
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_whatever_goes_wrong():
    with pytest.raises(KeyError), without_collecting():
        raise KeyError
    assert gc.isenabled()


def test_who_has_none_gets_none():
    gc.disable()
    try:
        with without_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
