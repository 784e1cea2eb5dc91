"""The model that search steps: a frozen copy, made when it is first needed and again when the weights have changed."""

from typing import Any

from torch import nn

from regard.configuration import one_of
from regard.models.ensemble import Ensemble
from regard.models.frozen import freeze
from regard.ops.native import PRECISIONS, Precision


class FrozenCopy:
    """A copy of a model, or of each member of an ensemble, that is never older than its weights.

    Args:
        model: what to freeze.
        precision: of its matrices; see `freeze`.

    Raises:
        ConfigError: no such precision.
    """

    def __init__(self, model: Any, precision: Precision) -> None:
        one_of("precision", precision, PRECISIONS)
        self._model, self._precision = model, precision
        self._members: tuple[nn.Module, ...] = model.models if isinstance(model, Ensemble) else (model,)
        self._copy: Any = None
        self._made_of: list[tuple[int, int]] = []

    def model(self) -> Any:
        """The copy, with `encode` and `decoder` as the model has them."""
        now = [_stamp(parameter) for member in self._members for parameter in member.parameters()]
        if self._copy is None or now != self._made_of:
            frozen = [freeze(member, self._precision) for member in self._members]
            ensemble = isinstance(self._model, Ensemble)
            self._copy = Ensemble(frozen, self._model.combination) if ensemble else frozen[0]
            self._made_of = now
        return self._copy


def _stamp(parameter: nn.Parameter) -> tuple[int, int]:
    """Where a parameter's numbers are, and how often they were changed in place."""
    return parameter.data_ptr(), 0 if parameter.is_inference() else parameter._version
