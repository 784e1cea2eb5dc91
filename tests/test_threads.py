import os

import pytest
import torch

from regard import device as threads
from regard.device import allowed_processors, use_threads
from regard.errors import ConfigError


@pytest.fixture(autouse=True)
def restored():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def container(tmp_path, monkeypatch):
    """A container of eight processors with a share of them."""

    def share(text, name="cpu.max"):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(threads, "_QUOTAS", (tmp_path / "cpu.max", tmp_path / "quota"))
        monkeypatch.setattr(threads, "_PERIOD", tmp_path / "period")
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(8))

    return share


def test_as_many_as_asked_for():
    assert use_threads(3) == torch.get_num_threads() == 3


def test_no_more_than_the_container_has(container):
    container("150000 100000\n")
    torch.set_num_threads(6)
    assert use_threads() == torch.get_num_threads() == 2


def test_fewer_stay_fewer(container):
    """Somebody said so, by OMP_NUM_THREADS for instance."""
    container("max 100000\n")
    torch.set_num_threads(1)
    assert use_threads() == 1


@pytest.mark.parametrize(("text", "allowed"), [("max 100000", 8), ("50000 100000", 1), ("rubbish", 8)])
def test_shares(container, text, allowed):
    container(text)
    assert allowed_processors() == allowed


def test_an_older_kernel(container, tmp_path):
    container("300000", "quota")
    (tmp_path / "period").write_text("100000")
    assert allowed_processors() == 3
    (tmp_path / "quota").write_text("-1")
    assert allowed_processors() == 8


def test_none_at_all():
    with pytest.raises(ConfigError, match="threads: 0 is out of range; it must be from 1 to 1024"):
        use_threads(0)
    with pytest.raises(ConfigError, match="threads: 100000 is out of range"):
        use_threads(100_000)
