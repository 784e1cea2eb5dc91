"""What every model of ours has in common, whatever its task."""

from torch import nn

from regard.config import Config


class Model(nn.Module):
    """A whole model: what it is made of, and how large it is.

    Attributes:
        config: from which an equal one can be built.
    """

    config: Config

    @property
    def num_parameters(self) -> int:
        """How many numbers are learnt."""
        return sum(parameter.numel() for parameter in self.parameters())
