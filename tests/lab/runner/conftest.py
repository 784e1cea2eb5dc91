"""What the bench's tests share: experiments that other processes can import by name."""

import importlib
from pathlib import Path

import pytest

_NAME = "made_up_experiments"


@pytest.fixture(scope="module")
def made():
    """The module beside this one, under a name that spawned processes find too: they inherit the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        yield importlib.import_module(_NAME)
