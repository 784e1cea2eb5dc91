"""Matrices packed once for the C kernels, in float32, bfloat16 or int8: the weights that decoding uses at every step.

`PackedWeights` are the layouts of some tensors, and belong to their caller; what multiplies by such a tensor and
needs no gradient is given them. int8 has one scale per row of W; the rows of the other factor are rounded on the fly,
each by its largest absolute value, and the integer sums are exact.
"""

import ctypes
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from regard.ops.native.call import at, empty, kernels, plain, zeros
from regard.ops.native.structs import Matrix
from regard.ops.shapes import Float

Precision = Literal["float32", "bfloat16", "int8"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

_PANEL = 32
"""Columns that a panel has at most; see ``source/product.h``."""
_ALONE = 1 << 19
"""Multiplications below which one thread is faster than two."""


class Packed:
    """A matrix W (n, m) as the kernels read it; only if `native_applies`.

    Args:
        W: float32, its rows without gaps.
        precision: one of `PRECISIONS`; bfloat16 on a processor without such products rounds W and no more.

    Attributes:
        place: the address that a kernel takes.
        precision: as given.
        shape: (n, m).
    """

    __slots__ = ("_kept", "_matrix", "place", "precision", "shape")

    def __init__(self, W: Tensor, precision: Precision) -> None:
        library = kernels()
        W, self.precision = plain(W), precision
        if precision == "bfloat16" and not library.regard_narrow():
            W, precision = W.bfloat16().float(), "float32"
        columns, inner = W.shape
        kind = PRECISIONS.index(precision)
        panels = torch.empty(
            library.regard_packed_bytes(inner, columns, kind), dtype=torch.uint8, device="cpu"
        )
        padded = -(-columns // _PANEL) * _PANEL
        unit, offset = zeros(padded), torch.zeros(padded, dtype=torch.int32, device="cpu")
        self.shape = (columns, inner)
        self._kept = (panels, unit, offset)
        self._matrix = Matrix(inner, columns, kind, at(panels), at(unit), at(offset))
        self.place: int = ctypes.addressof(self._matrix)
        library.regard_pack(at(W), inner, self.place)

    def product(
        self, x: Float[Tensor, "*rows m"], bias: Float[Tensor, "n"] | None = None
    ) -> Float[Tensor, "*rows n"]:
        """W x + b for every row, without a gradient."""
        columns, inner = self.shape
        rows = x.numel() // inner
        x, out = plain(x), empty(*x.shape[:-1], columns)
        threads = threads_for_work(rows * columns * inner)
        kernels().regard_packed_product(
            self.place, at(x), inner, at(bias), 0, at(out), columns, rows, threads
        )
        return out


def threads_for_work(products: int) -> int:
    """The number of threads for `products` multiplications: one if the work is too small to share."""
    return 1 if products < _ALONE else torch.get_num_threads()


class PackedWeights:
    """The packed layouts of some tensors, which must not change afterwards; the owner hands them to the ops."""

    def __init__(self) -> None:
        self._layouts: dict[int, tuple[Tensor, Packed]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "PackedWeights":
        """Return itself: the tensors of a copy are others, and not packed."""
        return self

    def pack(self, W: Tensor, precision: Precision) -> Packed:
        """Lay a tensor out, and keep that."""
        packed = Packed(W, precision)
        self._layouts[id(W)] = (W, packed)  # with the tensor, so that no other one gets its id
        return packed

    def of(self, W: Tensor) -> Packed | None:
        """The layout of a tensor; None if it has none."""
        found = self._layouts.get(id(W))
        return None if found is None else found[1]
