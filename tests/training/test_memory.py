"""Freed memory that is kept need not be cleared by the system again."""

import platform
import subprocess
import sys

import pytest

from regard.training.fabric import keep_freed_memory

FAULTS = """
import resource, torch
from regard.training.fabric import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(10_000_000)  # 40 MB, above what glibc keeps by itself
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
given_back = faults()
assert keep_freed_memory()
faults()
print(given_back, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked")
def test_a_block_that_is_kept_costs_no_page_faults():
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    given_back, kept = map(int, done.stdout.split())
    assert given_back > 1000
    assert kept < given_back / 10


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    assert not keep_freed_memory()
