"""How long a thread of OpenMP's pool spins while it waits; set before torch loads the runtime.

In: the environment. Out: ``GOMP_SPINCOUNT`` in it, for libgomp, the OpenMP runtime of torch on Linux and of the kernels
in C. By default its threads spin for milliseconds before they sleep. Alone on a machine that costs nothing; where two
trainings share the cores, the threads that spin keep those they wait for from running.
"""

import os
import sys

SPIN_COUNT = 1000
"""About ten microseconds. Two trainings of a small model at once, two threads each on two cores, took 2.2 times as long
as one alone; with a count of 3,000 it was 3.9 times, and with 300 one alone took 1.4 times as long."""
_CHOICES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def shorten_spin() -> None:
    """Make waiting threads sleep after a short spin, unless the user chose how they wait.

    The runtime reads the environment once, when torch is imported: later, nothing is changed.
    """
    if "torch" not in sys.modules and spins_long():
        os.environ["GOMP_SPINCOUNT"] = str(SPIN_COUNT)


def spins_long() -> bool:
    """Whether threads wait as libgomp does by default; where torch was imported before this package, they still do."""
    return sys.platform == "linux" and not any(os.environ.get(name) for name in _CHOICES)
