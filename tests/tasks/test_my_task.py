"""The worked example of a task: trained, used and evaluated through the command line."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "my_task.py"


@pytest.mark.journey
def test_it_trains_rates_and_evaluates():
    run = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True)
    rating = re.search(r"^(\d+\.\d\d)$", run.stdout, flags=re.MULTILINE)
    assert rating
    assert float(rating[1]) == pytest.approx(9, abs=0.5)
    error = re.search(r"mean_absolute_error +([\d.]+)", run.stdout)
    assert error
    assert float(error[1]) < 0.5  # of ratings from 2 to 10
    assert re.search(r"num_sentences +500", run.stdout)
    assert "regard rate " in run.stderr + run.stdout
