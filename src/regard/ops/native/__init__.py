"""C kernels for the CPU: whether they apply, and the product of matrices they are made of."""

from regard.ops.native.choose import narrow_wanted, native_applies, native_off
from regard.ops.native.fastest import large_product
from regard.ops.native.library import Loaded, load
from regard.ops.native.packed import PRECISIONS, Packed, PackedWeights, Precision
from regard.ops.native.product import product

__all__ = [
    "PRECISIONS",
    "Loaded",
    "Packed",
    "PackedWeights",
    "Precision",
    "large_product",
    "load",
    "narrow_wanted",
    "native_applies",
    "native_off",
    "product",
]
