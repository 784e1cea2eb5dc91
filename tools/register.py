"""Registers the settings of the lab's experiments as they are now: `python tools/register.py`.

Writes src/regard/lab/REGISTERED, which is committed together with the settings, before the run that they decide.
"""

from pathlib import Path

from regard.lab.runner.registration import write_hashes

if __name__ == "__main__":
    write_hashes(Path(__file__).parents[1] / "src" / "regard" / "lab")
