"""Which device a name means, or why it cannot be used here."""

import torch

from regard.configuration import one_of
from regard.errors import ConfigError

DEVICES = ("auto", "cpu", "cuda")
"""What may be asked for; ``auto`` is a GPU where there is one."""


def find_device(name: str) -> str:
    """The device to compute on.

    Args:
        name: one of `DEVICES`.

    Raises:
        ConfigError: there is no such device, or none on this machine.
    """
    one_of("device", name, DEVICES)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device: no GPU that torch can use is on this machine; choose cpu, or auto")
    return name
